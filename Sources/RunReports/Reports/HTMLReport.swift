import Foundation
import Mustache
import OpenCoreData
package import Profiling

/// The result of a run as one self-contained page.
///
/// The page needs no network and no scripts, and its policy allows none but its own (`PagePolicy`); a
/// few lines of script let the reader switch between
/// the variants' tracks. Its first screen answers, in this order: did it hold, what is the lesson,
/// which way costs what, what happened, what is to be done.
package enum HTMLReport {
  /// The page as HTML text, under a megabyte however many events were recorded.
  ///
  /// - Throws: an error of the template's parser, which a test keeps from happening.
  package static func page(_ result: RunResult) throws -> String {
    MustacheContentTypes.register(HTMLEscaping(), named: HTMLEscaping.name)
    let text = String(decoding: PackageResources.report_html, as: UTF8.self)
    let template = try MustacheTemplate(string: text)
    return PagePolicy.applied(to: PrintableText.escaped(template.render(ReportPage(result))))
  }
}

/// Escapes scalar by scalar.
///
/// The library's own escaping compares whole characters and lets a quotation mark through that a
/// combining mark follows.
struct HTMLEscaping: MustacheContentType {
  /// The name by which the template asks for it.
  static let name = "REPORT"

  func escapeText(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": result.append(contentsOf: "&lt;".unicodeScalars)
      case ">": result.append(contentsOf: "&gt;".unicodeScalars)
      case "&": result.append(contentsOf: "&amp;".unicodeScalars)
      case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
      case "'": result.append(contentsOf: "&#39;".unicodeScalars)
      case "\n", "\t": result.append(scalar)
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: result.append("\u{FFFD}")
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

/// The content security policy of a page: only its own script and its own style sheet, each by its hash.
///
/// Whatever a name or a value in the page might turn out to be, a browser runs none of it and loads
/// nothing for it. The policy has no `unsafe-inline`: positions and widths, which the template writes as
/// `style` attributes, become rules of the style sheet.
enum PagePolicy {
  /// The template's placeholder for the policy.
  static let placeholder = "<!-- policy -->"

  /// Returns a rendered page with its policy.
  ///
  /// - Parameter page: has the placeholder, one `<style>`, and one `<script>`. Quotation marks in values
  ///   are escaped, so a value can't look like an attribute.
  static func applied(to page: String) -> String {
    var (page, rules) = withoutStyleAttributes(page)
    if let end = page.range(of: "</style>") {
      page.insert(contentsOf: rules, at: end.lowerBound)
    }
    let sources = ["script", "style"].map { tag in
      "\(tag)-src \(content(of: tag, in: page).map(source) ?? "'none'")"
    }
    // The icon is an empty image, which keeps browsers from asking for one.
    let policy =
      ["default-src 'none'"] + sources + ["img-src data:", "base-uri 'none'", "form-action 'none'"]
    return page.replacing(
      placeholder,
      with: "<meta http-equiv=\"Content-Security-Policy\" "
        + "content=\"\(policy.joined(separator: "; "))\">", maxReplacements: 1)
  }

  /// Replaces each `style` attribute by a number, under which the style sheet has its declarations.
  private static func withoutStyleAttributes(_ page: String) -> (page: String, rules: String) {
    let attribute = " style=\""
    var numbers: [Substring: Int] = [:]
    var rules = ""
    var result = ""
    var rest = page[...]
    while let start = rest.range(of: attribute),
      let end = rest[start.upperBound...].firstIndex(of: "\"")
    {
      let style = rest[start.upperBound..<end]
      let number = numbers[style] ?? numbers.count + 1
      if numbers.updateValue(number, forKey: style) == nil {
        let declarations = style.split(separator: ";").map { "\($0) !important" }
        rules += "[data-s=\"\(number)\"]{\(declarations.joined(separator: ";"))}\n"
      }
      result += rest[..<start.lowerBound]
      result += " data-s=\"\(number)\""
      rest = rest[rest.index(after: end)...]
    }
    return (result + rest, rules)
  }

  private static func content(of tag: String, in page: String) -> Substring? {
    guard let start = page.range(of: "<\(tag)>"),
      let end = page.range(of: "</\(tag)>", range: start.upperBound..<page.endIndex)
    else { return nil }
    return page[start.upperBound..<end.lowerBound]
  }

  /// `'sha256-…'`, as a policy refers to a text.
  private static func source(of text: Substring) -> String {
    "'sha256-\(Data(SHA256.hash(Array(text.utf8))).base64EncodedString())'"
  }
}
