import OpenCoreData

/// Texts as JSON writes them.
package enum JSONText {
  /// Returns a text in quotation marks.
  ///
  /// Escaped are what JSON requires and what would act on a terminal.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where PrintableText.isUnsafe(scalar): result += PrintableText.jsonEscape(of: scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
