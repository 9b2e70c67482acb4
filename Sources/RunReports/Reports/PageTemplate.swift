import CEmbeddedFiles
import ManagedModel
import Mustache
import Synchronization

/// Renders a page with the parts that pages share.
package enum PageTemplate {
  /// The shared parts by their placeholders: the beginning of the head, the style sheet, the title
  /// with the outcome of a page on one check, the questions with their script, the part of a lesson
  /// that a server sends, and the script that reloads a page.
  private static let parts: [(placeholder: String, text: String)] = [
    ("<!-- head.html -->\n", String(cString: embedded_head_html())),
    ("/* style.css */", String(cString: embedded_style_css())),
    ("<!-- outcome.html -->\n", String(cString: embedded_outcome_html())),
    ("<!-- predict.html -->\n", String(cString: embedded_predict_html())),
    ("/* predict.js */", String(cString: embedded_predict_js())),
    ("<!-- live.html -->\n", String(cString: embedded_live_html())),
    ("/* live.css */", String(cString: embedded_live_css())),
    ("/* live.js */", String(cString: embedded_live_js())),
    ("/* watch.js */", String(cString: embedded_watch_js())),
  ]

  /// Returns a page with its policy.
  ///
  /// - Parameters:
  ///   - template: A template with one `<style>`, and with placeholders for shared parts, which use
  ///     the value `version`.
  ///   - values: The values, as plain text.
  ///   - sources: Further directives of the page's policy.
  ///   - nonce: The nonce of a script that the page loads; `nil` if it loads none.
  /// - Throws: An error of the template's parser, which a test rules out.
  package static func render(
    _ template: String, _ values: Any, allowing sources: [String] = [], nonce: String? = nil
  ) throws -> String {
    let page = try parsed(template).render(values)
    return PagePolicy.applied(to: PrintableText.escaped(page), allowing: sources, nonce: nonce)
  }

  /// The maximum number of characters of SQL on a page of a log or a migration.
  private static let textLimit = 3_000

  /// Returns SQL for a page of a log or a migration: its beginning and `…` if it's too long.
  package static func truncated(_ text: String) -> String {
    text.count > textLimit ? text.prefix(textLimit) + "…" : text
  }

  /// The parsed templates, one for each kind of page that was rendered.
  private static let known = Mutex<[(text: String, template: MustacheTemplate)]>([])

  /// Returns a template with its shared parts; it's parsed only once.
  private static func parsed(_ template: String) throws -> MustacheTemplate {
    try known.withLock { known in
      if let found = known.first(where: { $0.text == template }) { return found.template }
      MustacheContentTypes.register(HTMLEscaping(), named: HTMLEscaping.name)
      let text = parts.reduce(template) { text, part in
        text.replacing(part.placeholder, with: part.text, maxReplacements: 1)
      }
      let parsed = try MustacheTemplate(string: text)
      known.append((template, parsed))
      return parsed
    }
  }
}

/// Escapes HTML one Unicode scalar at a time.
///
/// The library's own escaping compares characters, so it doesn't escape a quotation mark that's
/// followed by a combining mark.
struct HTMLEscaping: MustacheContentType {
  /// The name of the content type in the template.
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
