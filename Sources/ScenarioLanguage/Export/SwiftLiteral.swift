import ModelCode
import OpenCoreData

/// Values as Swift writes them.
enum SwiftLiteral {
  /// A list of texts.
  static func texts(_ texts: [String]) -> String {
    "[\(texts.map(SwiftNames.literal).joined(separator: ", "))]"
  }

  /// An attribute's value, in the Swift type of the attribute; `nil` for none.
  static func value(_ value: Any?, of type: NSAttributeType) -> String {
    switch (type, value) {
    case (.integer16AttributeType, let number?): "Int16(\(number))"
    case (.integer32AttributeType, let number?): "Int32(\(number))"
    case (.integer64AttributeType, let number?): "Int64(\(number))"
    case (.doubleAttributeType, let number?): "Double(\(number))"
    case (.floatAttributeType, let number?): "Float(\(number))"
    case (.decimalAttributeType, let number?):
      "NSDecimalNumber(string: \(SwiftNames.literal("\(number)")))"
    case (.booleanAttributeType, let number as NSNumber): String(number.boolValue)
    case (.booleanAttributeType, let flag as Bool): String(flag)
    case (_, let word as String): SwiftNames.literal(word)
    case (_, let date as Date):
      "Date(timeIntervalSinceReferenceDate: \(date.timeIntervalSinceReferenceDate))"
    case (_, let data as Data): "Data([\(data.map(String.init).joined(separator: ", "))])"
    case (_, let uuid as UUID): "UUID(uuidString: \(SwiftNames.literal(uuid.uuidString)))"
    case (_, let url as URL): "URL(string: \(SwiftNames.literal(url.absoluteString)))"
    default: "nil"
    }
  }
}
