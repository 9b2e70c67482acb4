import Mustache

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
