import OpenCoreData
import PostgresDriver

/// The type of an attribute's column.
enum ColumnType: Hashable {
  case smallint
  case int
  case bigint
  case boolean
  case single
  case double
  /// Seconds since 2001 as a `double precision`: a `timestamptz` would round to microseconds.
  case date
  case numeric
  case text
  case uri
  case uuid
  case bytes
  case transformable

  /// Creates the type for an attribute; nil if it can't be stored.
  init?(_ type: NSAttributeType) {
    switch type {
    case .integer16AttributeType: self = .smallint
    case .integer32AttributeType: self = .int
    case .integer64AttributeType: self = .bigint
    case .booleanAttributeType: self = .boolean
    case .floatAttributeType: self = .single
    case .doubleAttributeType: self = .double
    case .dateAttributeType: self = .date
    case .decimalAttributeType: self = .numeric
    case .stringAttributeType: self = .text
    case .URIAttributeType: self = .uri
    case .UUIDAttributeType: self = .uuid
    case .binaryDataAttributeType: self = .bytes
    case .transformableAttributeType: self = .transformable
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return nil
    }
  }

  /// The type in a table's declaration; strings are ordered by their bytes, as in Core Data.
  var declaration: String {
    switch self {
    case .smallint: "smallint"
    case .int: "integer"
    case .bigint: "bigint"
    case .boolean: "boolean"
    case .single: "real"
    case .double, .date: "double precision"
    case .numeric: "numeric"
    case .text, .uri: "text COLLATE \"C\""
    case .uuid: "uuid"
    case .bytes, .transformable: "bytea"
    }
  }

  /// The type of its parameters.
  var parameterType: PostgresType {
    switch self {
    case .smallint, .int, .bigint: .integer
    case .boolean: .boolean
    case .single, .double, .date: .real
    case .numeric: .numeric
    case .text, .uri: .text
    case .uuid: .uuid
    case .bytes, .transformable: .bytes
    }
  }

  /// Whether an index may have the column.
  var isIndexable: Bool { self != .bytes && self != .transformable }

  /// Returns a parameter for an attribute's value; nil if it isn't of the type.
  func parameter(_ value: Any) -> PostgresValue? {
    switch self {
    case .smallint, .int, .bigint: ModelValue.integer(value).map { .integer($0) }
    case .boolean: ModelValue.integer(value).map { .boolean($0 != 0) }
    case .single, .double: ModelValue.real(value).map { .real($0) }
    case .date: (value as? Date).map { .real($0.timeIntervalSinceReferenceDate) }
    case .numeric: ModelValue.decimal(value).map { .numeric($0) }
    case .text: (value as? String).map { .text($0) }
    case .uri: (value as? URL).map { .text($0.absoluteString) }
    case .uuid: (value as? UUID).map { .uuid($0) }
    case .bytes, .transformable: (value as? Data).map { .bytes($0) }
    }
  }

  /// Returns an attribute's value; nil for NULL.
  func value(_ result: PostgresResult, _ row: Int, _ column: Int) -> Any? {
    switch self {
    case .smallint, .int, .bigint: result.integer(row, column)
    case .boolean: result.boolean(row, column)
    case .single: result.real(row, column).map { Float($0) }
    case .double: result.real(row, column)
    case .date: result.real(row, column).map { Date(timeIntervalSinceReferenceDate: $0) }
    case .numeric: result.decimal(row, column)
    case .text: result.text(row, column)
    case .uri: result.text(row, column).flatMap { URL(string: $0) }
    case .uuid: result.uuid(row, column)
    case .bytes, .transformable: result.data(row, column)
    }
  }
}

/// Numbers among the values of objects and predicates.
enum ModelValue {
  /// Returns an integer or a Boolean; nil for other values, and for a number with a fraction.
  static func integer(_ value: Any) -> Int64? {
    if let number = value as? any BinaryInteger { return Int64(exactly: number) }
    if let flag = value as? Bool { return flag ? 1 : 0 }
    if let number = value as? Decimal { return integer(of: number) }
    if let number = value as? any BinaryFloatingPoint { return Int64(exactly: Double(number)) }
    guard let number = value as? NSNumber else { return nil }
    if let decimal = number as? NSDecimalNumber { return integer(of: decimal.decimalValue) }
    return isFloating(number) ? Int64(exactly: number.doubleValue) : number.int64Value
  }

  private static func integer(of decimal: Decimal) -> Int64? {
    Int64(decimal.description)
  }

  /// Returns whether a number is a floating-point number.
  private static func isFloating(_ number: NSNumber) -> Bool {
    ["d", "f"].contains(String(cString: number.objCType))
  }

  /// Returns the nearest double of a number; nil for other values.
  static func real(_ value: Any) -> Double? {
    // Foundation's conversion of a decimal isn't exact.
    if isDecimal(value),
      let number = value as? Decimal ?? (value as? NSDecimalNumber)?.decimalValue
    {
      return Double(number.description)
    }
    if let number = value as? Double { return number }
    if let number = value as? any BinaryFloatingPoint { return Double(number) }
    if let number = value as? NSNumber { return number.doubleValue }
    return (value as? any BinaryInteger).map { Double($0) }
  }

  /// Returns a number as a decimal; nil for other values, and for a number out of its range.
  static func decimal(_ value: Any) -> Decimal? {
    if let number = value as? Decimal { return number }
    if let number = value as? NSDecimalNumber { return number.decimalValue }
    if let number = integer(value) { return Decimal(number) }
    // The shortest digits that stand for it: Foundation's conversion has others, and may trap.
    return real(value).flatMap { $0.isFinite ? Decimal(string: "\($0)") : nil }
  }

  /// Returns whether a value is a `Decimal` or an `NSDecimalNumber`.
  static func isDecimal(_ value: Any) -> Bool {
    value is Decimal || value is NSDecimalNumber
  }
}
