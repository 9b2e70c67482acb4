import OpenCoreData

/// Writes words so that YAML reads them back as they are.
enum YAMLText {
  /// A scalar for a flow map or list: plain where that is safe, in double quotes otherwise.
  static func scalar(_ text: String) -> String {
    let isPlain =
      text.first.map { $0.isLetter || $0 == "_" } == true
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_.-/ ".contains($0)) }
      && !text.hasSuffix(" ") && Flag.value(of: text) == nil && !["null", "y", "n"].contains(text)
    return isPlain ? text : quoted(text)
  }

  /// A flow list.
  static func list(_ texts: [String]) -> String {
    "[\(texts.map(scalar).joined(separator: ", "))]"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case _ where PrintableText.isUnsafe(scalar):
        let digits = String(scalar.value, radix: 16)
        result += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
