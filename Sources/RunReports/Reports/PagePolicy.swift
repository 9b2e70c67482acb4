import Foundation
import ManagedModel

/// The content security policy of a page: only its own script and style sheet, each by its hash.
///
/// With the policy, a browser doesn't run or load anything that a name or value in the page might
/// contain. The policy doesn't use `unsafe-inline`: positions and widths, which the template writes
/// as `style` attributes, are converted to rules of the style sheet.
enum PagePolicy {
  /// The template's placeholder for the policy.
  static let placeholder = "<!-- policy -->"

  /// Returns a rendered page with its policy.
  ///
  /// - Parameters:
  ///   - page: A page with the placeholder, one `<style>`, and one `<script>`. Quotation marks in
  ///     values must be escaped, so that a value can't look like an attribute.
  ///   - further: Further directives, such as `connect-src 'self'`.
  ///   - nonce: The nonce of a script that the page loads; `nil` if it loads none.
  static func applied(
    to page: String, allowing further: [String] = [], nonce: String? = nil
  ) -> String {
    var (page, rules) = withoutStyleAttributes(page)
    if let end = page.range(of: "</style>") {
      page.insert(contentsOf: rules, at: end.lowerBound)
    }
    var sources = ["script", "style"].map { tag in
      "\(tag)-src \(content(of: tag, in: page).map(source) ?? "'none'")"
    }
    if let nonce {
      sources[0] += " 'nonce-\(nonce)'"
    } else {
      // No script of these pages makes HTML, code, or the URL of a script from text.
      sources += ["require-trusted-types-for 'script'", "trusted-types 'none'"]
    }
    // The icon is an empty image, so that browsers don't request one.
    let policy =
      ["default-src 'none'"] + sources + further
      + ["img-src data:", "base-uri 'none'", "form-action 'none'"]
    return page.replacing(
      placeholder,
      with: "<meta http-equiv=\"Content-Security-Policy\" "
        + "content=\"\(policy.joined(separator: "; "))\">", maxReplacements: 1)
  }

  /// Replaces each `style` attribute with a `data-s` number, and returns a rule for each number.
  private static func withoutStyleAttributes(_ page: String) -> (page: String, rules: String) {
    var numbers: [Substring: Int] = [:]
    var rules = ""
    var result = ""
    var rest = page.startIndex
    // Searching the rest of the page for the next one would copy it each time.
    for start in page.ranges(of: " style=\"") where start.lowerBound >= rest {
      guard let end = page[start.upperBound...].firstIndex(of: "\"") else { break }
      let style = page[start.upperBound..<end]
      let number = numbers[style] ?? numbers.count + 1
      if numbers.updateValue(number, forKey: style) == nil {
        let declarations = style.split(separator: ";").map { "\($0) !important" }
        rules += "[data-s=\"\(number)\"]{\(declarations.joined(separator: ";"))}\n"
      }
      result += page[rest..<start.lowerBound]
      result += " data-s=\"\(number)\""
      rest = page.index(after: end)
    }
    return (result + page[rest...], rules)
  }

  private static func content(of tag: String, in page: String) -> Substring? {
    guard let start = page.range(of: "<\(tag)>"),
      let end = page.range(of: "</\(tag)>", range: start.upperBound..<page.endIndex)
    else { return nil }
    return page[start.upperBound..<end.lowerBound]
  }

  /// Returns the policy source for inline text, `'sha256-…'`.
  private static func source(of text: Substring) -> String {
    "'sha256-\(Data(SHA256.hash(Array(text.utf8))).base64EncodedString())'"
  }
}
