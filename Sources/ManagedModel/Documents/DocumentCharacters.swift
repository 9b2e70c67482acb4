/// Texts as characters of an XML document.
package enum DocumentCharacters {
  /// Whether XML can hold every character of a text.
  ///
  /// It has no place for control characters other than tab and line ends, nor for two of Unicode's
  /// last ones.
  package static func canHold(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
        || ["\t", "\n", "\r"].contains(scalar)
    }
  }

  /// A text as it stands in quotes or between tags; what XML cannot hold is left out,
  /// and what would act on a terminal is a character reference.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      case _ where !canHold(String(scalar)): break
      case _ where PrintableText.isUnsafe(scalar): result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
