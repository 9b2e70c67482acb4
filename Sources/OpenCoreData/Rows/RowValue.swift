import ManagedModel

/// A property's value in raw form, as a row stores it and SQLite binds it.
enum RowValue {
  case null
  /// Integers of every width, and Booleans.
  case int64(Int64)
  /// Doubles, floats, and dates in seconds since 2001-01-01 UTC.
  case double(Double)
  /// Strings, URIs, decimals.
  case text(String)
  /// Binary data, UUIDs, transformed values.
  case bytes(Data)
  case toOne(primaryKey: Int64, entityNumber: Int64)

  /// Creates a raw value from a property's Swift value; `nil` if it doesn't fit the kind.
  ///
  /// Numbers of any width are accepted if they fit; an integer is the whole part of a number, which
  /// must be in the range of 64 bits. A float is rounded to its precision. A Boolean is
  /// whether a number isn't 0. `NSNull` is `nil`.
  init?(_ value: Any?, kind: RowSlot.Kind) {
    guard let value else {
      self = .null
      return
    }
    if let made = RowValue.make(value, kind) {
      self = made
    } else if value is NSNull {
      self = .null
    } else {
      return nil
    }
  }

  /// Creates a raw value from an attribute's Swift value, which is encoded if it's transformable;
  /// `nil` if it doesn't fit the slot.
  init?(_ value: Any?, _ slot: RowSlot, of layout: EntityLayout) {
    if let value, !(value is NSNull), let transformer = layout.transformer(slot) {
      self = transformer.rawValue(of: value, isExternal: slot.kind == .external)
    } else {
      self.init(value, kind: slot.kind)
    }
  }

  private static func make(_ value: Any, _ kind: RowSlot.Kind) -> RowValue? {
    switch kind {
    case .int16, .int32, .int64, .toOne, .toOnePolymorphic:
      return integer(value).map { .int64($0) }
    case .bool:
      return truth(value).map { .int64($0) }
    case .double:
      return floating(value).map { .double($0) }
    case .float:
      return floating(value).map { .double(Double(Float($0))) }
    case .date:
      return (value as? Date).map { .double($0.timeIntervalSinceReferenceDate) }
    case .string:
      return (value as? String).map { .text($0) }
    case .uri:
      return (value as? URL).map { .text($0.absoluteString) }
    case .decimal:
      // Like a double that isn't a number, which SQLite saves as NULL; text would be greater than
      // every number.
      return decimal(value).map { $0.isNaN ? .null : .text($0.description) }
    case .uuid:
      return (value as? UUID).map { uuid in withUnsafeBytes(of: uuid.uuid) { .bytes(Data($0)) } }
    case .data, .transformable:
      return Data(value: value).map { .bytes($0) }
    case .external:
      return Data(value: value).map { .bytes(ExternalStorage.inRow($0)) }
    }
  }

  /// The value of a Boolean as the framework stores it: a number other than 0 is 1.
  var truth: RowValue {
    if case .int64(let number) = self, number != 0 { return .int64(1) }
    return self
  }

  /// Returns the value as read from a slot of a kind.
  func value(_ kind: RowSlot.Kind) -> Any? {
    switch self {
    case .null: return nil
    case .int64(let number):
      switch kind {
      // A number that is too wide is returned unchanged until validation rejects it.
      case .int16: return Int16(exactly: number) ?? number
      case .int32: return Int32(exactly: number) ?? number
      case .bool: return number != 0
      default: return number
      }
    case .double(let number):
      switch kind {
      case .float: return Float(number)
      case .date: return Date(timeIntervalSinceReferenceDate: number)
      default: return number
      }
    case .text(let text):
      switch kind {
      case .uri: return URL(string: text)
      case .decimal: return Decimal(string: text, locale: RowValue.posix)
      default: return text
      }
    case .bytes(let data):
      if kind == .external { return ExternalStorage.contents(data) }
      guard kind == .uuid else { return data }
      return data.count == 16
        ? data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } : nil
    case .toOne(let primaryKey, _): return primaryKey
    }
  }

  static let posix = Locale(identifier: "en_US_POSIX")

  // Types are compared before a value is cast: a cast that fails is slow.

  private static func integer(_ value: Any) -> Int64? {
    let type = type(of: value)
    if type == Int16.self { return (value as? Int16).map(Int64.init) }
    if type == Int.self { return (value as? Int).map(Int64.init) }
    if type == Int64.self { return value as? Int64 }
    if type == Int32.self { return (value as? Int32).map(Int64.init) }
    if type == Bool.self { return (value as? Bool).map { $0 ? 1 : 0 } }
    if type is AnyClass { return (value as? NSNumber).flatMap(whole) }
    if let number = value as? any BinaryInteger { return Int64(exactly: number) }
    if let number = value as? any BinaryFloatingPoint {
      return Int64(exactly: Double(number).rounded(.towardZero))
    }
    return (value as? NSNumber).flatMap(whole)
  }

  /// Returns 1 for a number that isn't 0, such as 5 or 0.5, and 0 for 0; `nil` for any other value.
  private static func truth(_ value: Any) -> Int64? {
    if type(of: value) == Bool.self { return (value as? Bool).map { $0 ? 1 : 0 } }
    if let whole = integer(value), whole != 0 { return 1 }
    // Of a fraction, the whole part can be 0.
    let number = PredicateValue(value)
    guard number.isNumber, !number.isNotANumber else { return nil }
    return number.nearestDouble == 0 ? 0 : 1
  }

  private static func whole(_ number: NSNumber) -> Int64? {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"), UInt8(ascii: "Q"):
      // `int64Value` doesn't report a number out of its range.
      return PredicateValue(number).truncatedInteger
    default: return number.int64Value
    }
  }

  private static func floating(_ value: Any) -> Double? {
    let type = type(of: value)
    if type == Double.self { return value as? Double }
    if type == Float.self { return (value as? Float).map(Double.init) }
    if type is AnyClass, !(value is NSDecimalNumber) { return (value as? NSNumber)?.doubleValue }
    if let number = value as? any BinaryInteger { return Double(number) }
    // Foundation on Linux doesn't convert a decimal to the nearest double.
    return PredicateValue(value).nearestDouble
  }

  private static func decimal(_ value: Any) -> Decimal? {
    // Integers may have more digits than a double, to which Foundation on Linux converts them.
    let number = PredicateValue(value)
    // Out of range, it isn't a number.
    if case .double = number { return number.decimal ?? .nan }
    return number.decimal
  }
}

extension NSPropertyDescription {
  /// Returns a value that's set as a value of the property's type, if that's a number: as
  /// `RowValue` converts it.
  ///
  /// Returns any other value unchanged, including one that no number can be created from.
  final func converted(_ value: Any) -> Any? {
    guard let attribute = self as? NSAttributeDescription else { return value }
    let kind = RowSlot.Kind(attribute.attributeType)
    guard kind.isNumber || kind == .decimal, let raw = RowValue(value, kind: kind) else {
      return value
    }
    return raw.value(kind)
  }
}

extension PredicateValue {
  /// The number without its fraction; `nil` if it's out of the range of 64 bits, or not a number.
  var truncatedInteger: Int64? {
    switch self {
    // Decimals are printed without an exponent.
    case .decimal(let number): Int64("\(number)".prefix { $0 != "." })
    default: exactInteger ?? nearestDouble.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    }
  }
}

extension RowValue: Equatable {
  /// Returns whether the store would contain the same value: destinations are compared by key,
  /// strings bytewise, because canonically equal strings with different bytes are different values;
  /// NaN equals NaN.
  static func == (first: RowValue, second: RowValue) -> Bool {
    switch (first, second) {
    case (.null, .null): true
    case (.int64(let first), .int64(let second)): first == second
    case (.double(let first), .double(let second)): first == second || first.isNaN && second.isNaN
    case (.text(let first), .text(let second)): first.hasSameBytes(as: second)
    case (.bytes(let first), .bytes(let second)): first == second
    case (.toOne(let first, _), .toOne(let second, _)): first == second
    default: false
    }
  }
}

extension Row {
  /// Returns the slot's value as its property type: `Int16`, `Bool`, `Date`, `String` …; a to-one
  /// as the destination's primary key, an externally stored value as an `ExternalFile`.
  ///
  /// Returns `nil` for `nil`.
  func value(_ slot: RowSlot) -> Any? {
    guard !isNull(slot) else { return nil }
    switch slot.kind {
    // A number that is too wide is returned unchanged: it's in the file.
    case .int16:
      let number = int64(slot)
      return Int16(exactly: number) ?? number
    case .int32:
      let number = int64(slot)
      return Int32(exactly: number) ?? number
    case .int64, .toOne, .toOnePolymorphic: return int64(slot)
    case .bool: return int64(slot) != 0
    case .double: return double(slot)
    case .float: return Float(double(slot))
    case .date: return Date(timeIntervalSinceReferenceDate: double(slot))
    case .string: return string(slot)
    case .uri: return URL(string: string(slot))
    case .decimal: return Decimal(string: string(slot), locale: RowValue.posix)
    case .uuid: return uuid(slot)
    case .data, .transformable: return Data(bytes(slot))
    case .external: return ExternalStorage.contents(Data(bytes(slot)))
    }
  }

  /// Returns a string slot's characters; invalid UTF-8 is repaired.
  func string(_ slot: RowSlot) -> String {
    String(decoding: bytes(slot), as: UTF8.self)
  }

  /// Returns the slot's value in raw form.
  func rawValue(_ slot: RowSlot) -> RowValue {
    guard !isNull(slot) else { return .null }
    switch slot.kind {
    case .int16, .int32, .int64, .bool: return .int64(int64(slot))
    case .double, .float, .date: return .double(double(slot))
    case .string, .uri, .decimal: return .text(string(slot))
    case .data, .uuid, .transformable, .external: return .bytes(Data(bytes(slot)))
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

extension Data {
  /// Creates data from a value; `nil` if it isn't data.
  ///
  /// Foundation converts `NSData` byte by byte on Linux: a megabyte takes a tenth of a second.
  init?(value: Any) {
    if type(of: value) is NSData.Type, let object = value as? NSData {
      self.init(bytes: object.bytes, count: object.length)
    } else if let data = value as? Data {
      self = data
    } else {
      return nil
    }
  }
}
