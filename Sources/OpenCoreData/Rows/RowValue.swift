import ManagedModel

/// A property's value in raw form: what a row holds, what SQLite binds.
enum RowValue {
  case null
  /// Integers of every width, and booleans.
  case int64(Int64)
  /// Doubles, floats, and dates in seconds since 2001-01-01 UTC.
  case double(Double)
  /// Strings, URIs, decimals.
  case text(String)
  /// Binary data, UUIDs, transformed values.
  case bytes(Data)
  case toOne(primaryKey: Int64, entityNumber: Int64)

  /// Takes a property's Swift value apart.
  ///
  /// A value that does not fit the kind becomes `null`, which `fits` lets a caller find out before.
  init(_ value: Any?, kind: RowSlot.Kind) {
    self = RowValue.convert(value, kind) ?? .null
  }

  /// Whether a value can be stored in a slot of that kind; nil always can.
  static func fits(_ value: Any?, kind: RowSlot.Kind) -> Bool {
    guard value != nil else { return true }
    return convert(value, kind) != nil
  }

  private static func convert(_ value: Any?, _ kind: RowSlot.Kind) -> RowValue? {
    guard let value, !(value is NSNull) else { return .null }
    switch kind {
    case .int16, .int32, .int64, .bool, .toOne, .toOnePolymorphic:
      return integer(value).map { .int64($0) }
    case .double, .float:
      return floating(value).map { .double($0) }
    case .date:
      return (value as? Date).map { .double($0.timeIntervalSinceReferenceDate) }
    case .string:
      return (value as? String).map { .text($0) }
    case .uri:
      return (value as? URL).map { .text($0.absoluteString) }
    case .decimal:
      return decimal(value).map { .text($0.description) }
    case .uuid:
      return (value as? UUID).map { uuid in withUnsafeBytes(of: uuid.uuid) { .bytes(Data($0)) } }
    case .data, .transformable:
      return (value as? Data).map { .bytes($0) }
    }
  }

  private static func integer(_ value: Any) -> Int64? {
    switch value {
    case let value as Bool: value ? 1 : 0
    case let value as any BinaryInteger: Int64(exactly: value)
    case let value as Double: Int64(exactly: value)
    case let value as NSNumber: value.int64Value
    default: nil
    }
  }

  private static func floating(_ value: Any) -> Double? {
    switch value {
    case let value as Double: value
    case let value as Float: Double(value)
    case let value as any BinaryInteger: Double(value)
    case let value as Decimal: NSDecimalNumber(decimal: value).doubleValue
    case let value as NSNumber: value.doubleValue
    default: nil
    }
  }

  private static func decimal(_ value: Any) -> Decimal? {
    switch value {
    case let value as Decimal: value
    case let value as NSNumber: value.decimalValue
    default: integer(value).map { Decimal($0) } ?? floating(value).map { Decimal($0) }
    }
  }
}

extension Row {
  /// The slot's value as its property type says it: `Int16`, `Bool`, `Date`, `String` …; a to-one
  /// gives the destination's primary key.
  ///
  /// Nil for nil.
  func value(_ slot: RowSlot) -> Any? {
    guard !isNull(slot) else { return nil }
    switch slot.kind {
    case .int16: return Int16(truncatingIfNeeded: int64(slot))
    case .int32: return Int32(truncatingIfNeeded: int64(slot))
    case .int64, .toOne, .toOnePolymorphic: return int64(slot)
    case .bool: return int64(slot) != 0
    case .double: return double(slot)
    case .float: return Float(double(slot))
    case .date: return Date(timeIntervalSinceReferenceDate: double(slot))
    case .string: return string(slot)
    case .uri: return URL(string: string(slot))
    case .decimal: return Decimal(string: string(slot), locale: Locale(identifier: "en_US_POSIX"))
    case .uuid: return uuid(slot)
    case .data, .transformable: return Data(bytes(slot))
    }
  }

  /// A text slot's characters; damaged UTF-8 is repaired.
  func string(_ slot: RowSlot) -> String {
    String(decoding: bytes(slot), as: UTF8.self)
  }

  /// The slot's value in raw form.
  func rawValue(_ slot: RowSlot) -> RowValue {
    guard !isNull(slot) else { return .null }
    switch slot.kind {
    case .int16, .int32, .int64, .bool: return .int64(int64(slot))
    case .double, .float, .date: return .double(double(slot))
    case .string, .uri, .decimal: return .text(string(slot))
    case .data, .uuid, .transformable: return .bytes(Data(bytes(slot)))
    case .toOne: return .toOne(primaryKey: int64(slot), entityNumber: 0)
    case .toOnePolymorphic:
      return .toOne(primaryKey: int64(slot), entityNumber: entityNumber(slot))
    }
  }

  private func uuid(_ slot: RowSlot) -> UUID? {
    let bytes = bytes(slot)
    guard bytes.count == 16 else { return nil }
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }
}
