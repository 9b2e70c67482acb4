import ManagedModel
import SQLiteDriver

extension PredicateValue {
  /// The value as a column of a type holds it, nil when it cannot.
  func stored(as type: StoredType) -> SQLiteValue? {
    switch type {
    case .integer: storedInteger
    case .real: storedReal
    case .timestamp: storedTimestamp
    case .decimal: storedDecimal
    case .text: storedText
    case .uuid: storedUUID
    case .binary, .transformable: storedBytes
    }
  }

  private var storedInteger: SQLiteValue? {
    if let value = exactInteger { return .integer(value) }
    if case .string(let text) = self { return PredicateValue.number(of: text)?.storedInteger }
    return nearestDouble.map(SQLiteValue.real)
  }

  private var storedReal: SQLiteValue? {
    if case .string(let text) = self { return PredicateValue.number(of: text)?.storedReal }
    return nearestDouble.map(SQLiteValue.real)
  }

  private var storedTimestamp: SQLiteValue? {
    if case .date(let date) = self { return .real(date.timeIntervalSinceReferenceDate) }
    return isNumber ? nearestDouble.map(SQLiteValue.real) : nil
  }

  /// A decimal whose digits a column of numeric affinity keeps as it keeps the stored ones.
  private var storedDecimal: SQLiteValue? {
    if let value = exactInteger { return .integer(value) }
    if case .string(let text) = self {
      return PredicateValue.number(of: text) == nil ? nil : .text(text)
    }
    if case .decimal(let value) = self { return .text("\(value)") }
    return nearestDouble.map(SQLiteValue.real)
  }

  private var storedText: SQLiteValue? { columnText.map(SQLiteValue.text) }

  private var storedUUID: SQLiteValue? {
    switch self {
    case .uuid(let uuid): .blob(Self.bytes(of: uuid))
    case .string(let text): UUID(uuidString: text).map { .blob(Self.bytes(of: $0)) }
    case .data(let data): .blob([UInt8](data))
    default: nil
    }
  }

  private var storedBytes: SQLiteValue? {
    switch self {
    case .data(let data): .blob([UInt8](data))
    case .uuid(let uuid): .blob(Self.bytes(of: uuid))
    default: nil
    }
  }

  private static func bytes(of uuid: UUID) -> [UInt8] {
    withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) }
  }
}

extension StoredType {
  /// The type of a single value, nil for nil and for what is no single value.
  init?(of value: PredicateValue) {
    switch value {
    case .bool, .integer: self = .integer
    case .double: self = .real
    case .decimal: self = .decimal
    case .string, .url: self = .text
    case .date: self = .timestamp
    case .data: self = .binary
    case .uuid: self = .uuid
    case .null, .collection, .dictionary, .object, .placeholder: return nil
    }
  }

  /// Whether SQL compares values of both types by what they are, not by their storage classes.
  func compares(with other: StoredType) -> Bool {
    summary == other.summary
  }

  /// What values of the type are, for a message.
  var summary: String {
    switch self {
    case .integer, .real, .decimal, .timestamp: "a number"
    case .text: "a string"
    case .uuid, .binary, .transformable: "data"
    }
  }

  /// Whether values of the type are numbers.
  var isNumber: Bool {
    switch self {
    case .integer, .real, .decimal, .timestamp: true
    default: false
    }
  }
}
