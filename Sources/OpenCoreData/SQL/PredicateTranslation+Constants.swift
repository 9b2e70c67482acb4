import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// A constant by its own type.
  func plain(
    _ constant: PredicateValue, _ expression: NSExpression
  ) throws(TranslationError) -> (value: SQLiteValue, type: StoredType?) {
    switch constant {
    case .null: return (.null, nil)
    case .bool(let value): return (.integer(value ? 1 : 0), .integer)
    case .integer(let value): return (.integer(value), .integer)
    case .double(let value): return (.real(value), .real)
    case .decimal: return (Self.decimal(constant) ?? .null, .decimal)
    case .string(let value): return (.text(value), .text)
    case .date(let value): return (.real(value.timeIntervalSinceReferenceDate), .timestamp)
    case .data(let value): return (.blob([UInt8](value)), .binary)
    case .uuid(let value): return (.blob(Self.bytes(of: value)), .uuid)
    case .url(let value): return (.text(value.absoluteString), .text)
    case .collection, .dictionary, .object, .placeholder:
      throw TranslationError(expression.description, "This is no single value.")
    }
  }

  /// A constant in the type of the column it is compared with.
  ///
  /// Nil becomes null.
  func bind(
    _ constant: PredicateValue, as type: StoredType, _ attribute: NSAttributeDescription?,
    _ piece: String
  ) throws(TranslationError) -> SQLiteValue {
    if constant.isNull { return .null }
    let converted: SQLiteValue? =
      switch type {
      case .integer: Self.integer(constant)
      case .real: Self.real(constant)
      case .timestamp: Self.timestamp(constant)
      case .decimal: Self.decimal(constant)
      case .text: Self.text(constant)
      case .uuid: Self.uuid(constant)
      case .binary: Self.binary(constant)
      case .transformable: transformed(constant, attribute) ?? Self.binary(constant)
      }
    if let converted { return converted }
    let name = attribute.map { "\($0)" } ?? "a value of the type \(type.declaration)"
    throw TranslationError(piece, "\(constant.summary) cannot be compared with \(name).")
  }

  private func transformed(
    _ constant: PredicateValue, _ attribute: NSAttributeDescription?
  ) -> SQLiteValue? {
    guard let attribute, let original = constant.original else { return nil }
    return translator.transformed(attribute, original)
  }

  private static func integer(_ constant: PredicateValue) -> SQLiteValue? {
    if let value = constant.exactInteger { return .integer(value) }
    if case .string(let text) = constant {
      return Int64(text).map(SQLiteValue.integer) ?? Double(text).map(SQLiteValue.real)
    }
    return constant.nearestDouble.map(SQLiteValue.real)
  }

  private static func real(_ constant: PredicateValue) -> SQLiteValue? {
    if case .string(let text) = constant { return Double(text).map(SQLiteValue.real) }
    return constant.nearestDouble.map(SQLiteValue.real)
  }

  private static func timestamp(_ constant: PredicateValue) -> SQLiteValue? {
    if case .date(let date) = constant { return .real(date.timeIntervalSinceReferenceDate) }
    return constant.isNumber ? constant.nearestDouble.map(SQLiteValue.real) : nil
  }

  /// A decimal whose digits a column of numeric affinity keeps as it keeps the stored ones.
  private static func decimal(_ constant: PredicateValue) -> SQLiteValue? {
    if let value = constant.exactInteger { return .integer(value) }
    if case .string(let text) = constant { return Double(text) == nil ? nil : .text(text) }
    if case .decimal(let value) = constant { return .text("\(value)") }
    return constant.nearestDouble.map(SQLiteValue.real)
  }

  private static func text(_ constant: PredicateValue) -> SQLiteValue? {
    switch constant {
    case .string(let text): .text(text)
    case .url(let url): .text(url.absoluteString)
    case .uuid(let uuid): .text(uuid.uuidString)
    case .bool(let value): .text(value ? "1" : "0")
    case .integer(let value): .text("\(value)")
    case .double(let value): .text("\(value)")
    case .decimal(let value): .text("\(value)")
    default: nil
    }
  }

  private static func uuid(_ constant: PredicateValue) -> SQLiteValue? {
    switch constant {
    case .uuid(let uuid): .blob(bytes(of: uuid))
    case .string(let text): UUID(uuidString: text).map { .blob(bytes(of: $0)) }
    case .data(let data): .blob([UInt8](data))
    default: nil
    }
  }

  private static func binary(_ constant: PredicateValue) -> SQLiteValue? {
    switch constant {
    case .data(let data): .blob([UInt8](data))
    case .uuid(let uuid): .blob(bytes(of: uuid))
    default: nil
    }
  }

  private static func bytes(of uuid: UUID) -> [UInt8] {
    withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) }
  }
}

extension PredicateValue {
  /// The value in words, for a message.
  fileprivate var summary: String {
    switch self {
    case .string(let text): "The text \"\(text)\""
    case .bool(let value): value ? "YES" : "NO"
    case .integer(let value): "The number \(value)"
    case .double(let value): "The number \(value)"
    case .decimal(let value): "The number \(value)"
    case .date(let date): "The date \(date)"
    case .data: "Data"
    case .uuid(let uuid): "The UUID \(uuid)"
    case .url(let url): "The URL \(url)"
    case .collection: "A collection"
    case .dictionary: "A dictionary"
    case .object(let object): "A \(type(of: object.base))"
    case .null: "nil"
    case .placeholder(let text): "The placeholder \(text)"
    }
  }
}
