package import ManagedModel
package import WorkbenchText

/// Parses the literal values of an attribute's type in steps and in `one of [...]`.
package struct AttributeLiteral: Sendable {
  private let type: NSAttributeType

  package init(_ type: NSAttributeType) {
    self.type = type
  }

  /// The words for no value; in quotation marks, they're text.
  package static let nilWords: Set = ["nil", "null"]

  /// Returns whether a word stands for no value: `nil` or `null` without quotation marks.
  package static func isNil(_ word: Word) -> Bool {
    !word.isQuoted && nilWords.contains(word.text)
  }

  /// Returns whether a word is a valid value or `nil`.
  func accepts(_ word: Word) -> Bool {
    AttributeLiteral.isNil(word) || value(of: word.text) != nil
  }

  /// Returns whether a step can assign a value: a valid one or `nil`.
  func accepts(_ assignment: Assignment) -> Bool {
    assignment.isNil || value(of: assignment.value) != nil
  }

  /// Returns the value of a word, or `nil` if the word is invalid or stands for no value.
  package func value(of word: Word) -> Any? {
    AttributeLiteral.isNil(word) ? nil : value(of: word.text)
  }

  /// Returns the value that a step assigns, or `nil` if it's invalid or no value.
  package func value(of assignment: Assignment) -> Any? {
    assignment.isNil ? nil : value(of: assignment.value)
  }

  /// Returns the value of a literal, or `nil` if the literal is invalid.
  ///
  /// Numbers are written in decimal, Booleans as `yes` or `no`, dates as `2016-05-04` or
  /// `2016-05-04T12:30:00Z`, with or without a fraction of the seconds, and binary data as
  /// hexadecimal digits.
  package func value(of text: String) -> Any? {
    switch type {
    case .integer16AttributeType: Int16(text)
    case .integer32AttributeType: Int32(text)
    case .integer64AttributeType: Int64(text)
    case .decimalAttributeType: AttributeLiteral.decimal(text)
    case .doubleAttributeType: Double(text).flatMap { $0.isFinite ? $0 : nil }
    case .floatAttributeType: Float(text).flatMap { $0.isFinite ? $0 : nil }
    case .stringAttributeType: text
    case .booleanAttributeType: Flag.value(of: text)
    case .dateAttributeType: AttributeLiteral.date(text)
    case .binaryDataAttributeType, .transformableAttributeType: AttributeLiteral.data(text)
    case .UUIDAttributeType: UUID(uuidString: text)
    case .URIAttributeType: URL(string: text)
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
    }
  }

  /// The name of the type in parentheses, such as `(date)`.
  package var typeName: String {
    switch type {
    case .integer16AttributeType: "16-bit integer"
    case .integer32AttributeType: "32-bit integer"
    case .integer64AttributeType: "64-bit integer"
    case .decimalAttributeType: "decimal number"
    case .doubleAttributeType, .floatAttributeType: "number"
    case .stringAttributeType: "string"
    case .booleanAttributeType: "Boolean"
    case .dateAttributeType: "date"
    case .binaryDataAttributeType, .transformableAttributeType: "hexadecimal data"
    case .UUIDAttributeType: "UUID"
    case .URIAttributeType: "URI"
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: "only nil"
    }
  }

  /// The type as the complement of a sentence, such as `a date`.
  var typePhrase: String {
    switch type {
    case .binaryDataAttributeType: "binary data"
    case .transformableAttributeType: "a transformable attribute"
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType:
      "of a type without literals"
    default: "a \(typeName)"
    }
  }

  /// An example of a literal of the type.
  package var example: String {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: "710"
    case .decimalAttributeType, .doubleAttributeType, .floatAttributeType: "1.5"
    case .stringAttributeType: "\"some text\""
    case .booleanAttributeType: "yes"
    case .dateAttributeType: "2016-05-04T12:30:00Z"
    case .binaryDataAttributeType, .transformableAttributeType: "ff8800"
    case .UUIDAttributeType: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    case .URIAttributeType: "https://example.org/1"
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: "nil"
    }
  }

  private static func decimal(_ text: String) -> Decimal? {
    // Foundation's initializer ignores what follows a number.
    let form = /[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?/
    return text.wholeMatch(of: form) == nil ? nil : Decimal(string: text)
  }

  private static func date(_ text: String) -> Date? {
    // Foundation's parser ignores what follows a date, and accepts February 30.
    let form =
      /([0-9]{4}-[0-9]{2}-[0-9]{2})(T([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\.[0-9]+)?(Z|[-+][0-9:]+))?/
    let day = Date.ISO8601FormatStyle.iso8601.year().month().day()
    guard let match = text.wholeMatch(of: form),
      let start = try? Date(String(match.1), strategy: day),
      start.formatted(day) == match.1
    else { return nil }
    guard match.2 != nil else { return start }
    guard let fraction = match.5 else { return try? Date(text, strategy: .iso8601) }
    let seconds = try? Date(text.replacing(fraction, with: ""), strategy: .iso8601)
    return seconds.flatMap { date in Double("0\(fraction)").map(date.addingTimeInterval) }
  }

  private static func data(_ text: String) -> Data? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var data = Data(capacity: digits.count / 2)
    for start in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[start..<(start + 2)], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16), pair.first?.isHexDigit == true else { return nil }
      data.append(byte)
    }
    return data
  }
}
