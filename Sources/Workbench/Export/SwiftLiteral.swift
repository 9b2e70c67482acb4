import OpenCoreData

/// Values as Swift writes them.
enum SwiftLiteral {
  /// A text in quotation marks.
  static func text(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20: result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A list of texts.
  static func texts(_ texts: [String]) -> String {
    "[\(texts.map(text).joined(separator: ", "))]"
  }

  /// An attribute's value, in the Swift type of the attribute; `nil` for none.
  static func value(_ value: Any?, of type: NSAttributeType) -> String {
    switch (type, value) {
    case (.integer16AttributeType, let number?): "Int16(\(number))"
    case (.integer32AttributeType, let number?): "Int32(\(number))"
    case (.integer64AttributeType, let number?): "Int64(\(number))"
    case (.doubleAttributeType, let number?): "Double(\(number))"
    case (.floatAttributeType, let number?): "Float(\(number))"
    case (.decimalAttributeType, let number?): "NSDecimalNumber(string: \(text("\(number)")))"
    case (.booleanAttributeType, let number as NSNumber): String(number.boolValue)
    case (.booleanAttributeType, let flag as Bool): String(flag)
    case (_, let word as String): text(word)
    case (_, let date as Date):
      "Date(timeIntervalSinceReferenceDate: \(date.timeIntervalSinceReferenceDate))"
    case (_, let data as Data): "Data([\(data.map(String.init).joined(separator: ", "))])"
    case (_, let uuid as UUID): "UUID(uuidString: \(text(uuid.uuidString)))"
    case (_, let url as URL): "URL(string: \(text(url.absoluteString)))"
    default: "nil"
    }
  }
}
