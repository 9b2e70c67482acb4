import OpenCoreData
import PostgresDriver

extension PredicateTranslator {
  /// Returns both sides of a comparison as SQL, a constant as the type of the other side.
  func sides(
    _ left: PredicateOperand, _ right: PredicateOperand, _ piece: String
  ) throws -> (SQLText, SQLText) {
    switch (left, right) {
    case (.value(let first, let kind), .value(let second, let other)):
      guard kind.family == other.family else {
        throw TranslationError(
          piece,
          "One side is \(kind.family.rawValue), the other \(other.family.rawValue), which the store doesn't "
            + "compare.")
      }
      return (comparable(first, kind, with: other), comparable(second, other, with: kind))
    case (.value, .constant(let value?)):
      let (column, bound) = try bound(value, beside: left, piece)
      return (column, "\(bind: bound)")
    case (.constant(let value?), .value):
      let (column, bound) = try bound(value, beside: right, piece)
      return ("\(bind: bound)", column)
    case (.constant(let first?), .constant(let second?)):
      let kind = try Self.kind(of: first, piece)
      let other = try Self.kind(of: second, piece)
      guard kind.family == other.family else {
        throw TranslationError(piece, "The two constants are of different kinds.")
      }
      let common = kind.family == .number ? Self.common(kind, other) : kind
      // Two constants have no column, whose order they would have.
      let order: SQLText = common.isText ? " COLLATE \"C\"" : ""
      return (
        "\(bind: try Self.parameter(first, common, piece))\(order)",
        "\(bind: try Self.parameter(second, common, piece))"
      )
    case (.object, _), (_, .object):
      throw TranslationError(
        piece, "An object can be compared for equality with an object or an object ID only.")
    case (.toMany(let path), _), (_, .toMany(let path)):
      throw TranslationError(piece, "\(path.text) is to-many, so it needs ANY, ALL, or @count.")
    default:
      throw TranslationError(piece, "The store can't compare these two sides.")
    }
  }

  /// Returns the kind in which the server compares two numbers without rounding integers.
  private static func common(_ kind: ValueKind, _ other: ValueKind) -> ValueKind {
    switch (kind, other) {
    case (.integer, .integer): .integer
    case (.real, _), (_, .real): .real
    default: .decimal
    }
  }

  /// Returns a value in a form that the server compares with another kind.
  private func comparable(_ text: SQLText, _ kind: ValueKind, with other: ValueKind) -> SQLText {
    switch (kind, other) {
    case (.boolean, .boolean), (.uuid, .uuid): text
    case (.boolean, _): "(\(text))::integer"
    case (.uuid, _): "uuid_send(\(text))"
    default: text
    }
  }

  /// Returns the operand as SQL, and a parameter of a type that it's compared with.
  func bound(
    _ value: Any, beside operand: PredicateOperand, _ piece: String
  ) throws -> (SQLText, PostgresValue) {
    guard case .value(let text, let kind) = operand else {
      throw TranslationError(piece, "The store can't compare these two sides.")
    }
    if case .boolean = kind, let number = Self.number(value), ModelValue.real(number) != 0,
      ModelValue.real(number) != 1
    {
      return ("(\(text))::integer", try Self.parameter(value, .integer, piece))
    }
    return (text, try Self.parameter(value, kind, piece))
  }

  /// Returns a parameter for a constant that is compared with a kind.
  static func parameter(_ value: Any, _ kind: ValueKind, _ piece: String) throws -> PostgresValue {
    let parameter: PostgresValue? =
      switch kind {
      case .boolean: number(value).flatMap(ModelValue.integer).map { .boolean($0 != 0) }
      case .integer: number(value).flatMap(whole)
      case .real: number(value).flatMap(ModelValue.real).map { .real($0) }
      case .decimal: number(value).flatMap(exact)
      case .date:
        (value as? Date).map { .real($0.timeIntervalSinceReferenceDate) }
          ?? (value is String ? nil : ModelValue.real(value).map { .real($0) })
      case .text: text(value).map { .text($0) }
      case .uuid: uuid(value).map { .uuid($0) }
      case .bytes(let coder):
        if let data = value as? Data, coder == nil {
          .bytes(data)
        } else {
          coder?.data(value).map { .bytes($0) }
        }
      }
    guard let parameter else {
      throw TranslationError(
        piece, "A constant of the type \(type(of: value)) can't be compared with the other side.")
    }
    return parameter
  }

  /// Returns a number, also that of a string with one; `nil` for other values.
  private static func number(_ value: Any) -> Any? {
    if let text = value as? String {
      if let number = Int64(text) { return number }
      guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
      return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
    return ModelValue.real(value) == nil ? nil : value
  }

  private static func whole(_ value: Any) -> PostgresValue? {
    if let number = ModelValue.integer(value) { return .integer(number) }
    return ModelValue.isDecimal(value)
      ? ModelValue.decimal(value).map { .numeric($0) } : ModelValue.real(value).map { .real($0) }
  }

  private static func exact(_ value: Any) -> PostgresValue? {
    if ModelValue.isDecimal(value) || ModelValue.integer(value) != nil {
      return ModelValue.decimal(value).map { .numeric($0) }
    }
    return ModelValue.real(value).map { .real($0) }
  }

  private static func text(_ value: Any) -> String? {
    switch value {
    case let text as String: text
    case let url as URL: url.absoluteString
    case let uuid as UUID: uuid.uuidString
    case let number as NSNumber: number.stringValue
    default: nil
    }
  }

  private static func uuid(_ value: Any) -> UUID? {
    switch value {
    case let uuid as UUID: uuid
    case let text as String: UUID(uuidString: text)
    case let data as Data where data.count == MemoryLayout<uuid_t>.size:
      data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    default: nil
    }
  }

  /// Returns the kind of a constant.
  static func kind(of value: Any, _ piece: String) throws -> ValueKind {
    switch value {
    case is String, is URL: return .text
    case is Date: return .date
    case is Data: return .bytes(nil)
    case is UUID: return .uuid
    default:
      if ModelValue.isDecimal(value) { return .decimal }
      if ModelValue.integer(value) != nil { return .integer }
      if ModelValue.real(value) != nil { return .real }
      throw TranslationError(
        piece, "A constant of the type \(type(of: value)) can't be translated to SQL.")
    }
  }

  /// Returns the key of a constant object: 0, which no row has, for one without a row in the
  /// entity's table.
  func objectKey(_ value: Any?, _ mapping: EntityMapping, _ piece: String) throws -> Int64 {
    guard let objectID = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID
    else {
      throw TranslationError(
        piece, "An object or an object ID is needed to compare with \(mapping.name).")
    }
    guard objectID.persistentStore === store,
      schema.entities[objectID.entity.name ?? ""]?.table === mapping.table
    else { return 0 }
    return store.key(of: objectID) ?? 0
  }
}
