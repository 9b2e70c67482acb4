internal import Foundation

extension PredicateValue {
  /// Creates a value from any Swift or Foundation value.
  ///
  /// Optionals are unwrapped, `NSNull` is `nil`, and `NSNumber`, `NSString`, and other Foundation
  /// objects become the corresponding Swift values.
  package init(_ value: Any?) {
    guard let value else {
      self = .null
      return
    }
    self =
      Self.swiftValue(value) ?? Self.foundationValue(value) ?? Self.collectionValue(value)
      ?? .object(PredicateObject(value))
  }

  /// Creates a constant of a predicate: sets are sorted, and long lists get a hash table.
  init(constant value: Any?) {
    self.init(value)
    if case .collection(let collection) = self {
      self = .collection(
        PredicateCollection(
          constant: collection.elements, isOrdered: collection.isOrdered, isSet: collection.isSet))
    }
  }

  /// Converts frequent types, identified by their exact type because dynamic casts are much slower.
  private static func swiftValue(_ value: Any) -> PredicateValue? {
    let type = type(of: value)
    if type == String.self { return (value as? String).map(Self.string) }
    if type == Int64.self { return (value as? Int64).map(Self.integer) }
    if type == Int.self { return (value as? Int).map { .integer(Int64($0)) } }
    if type == Double.self { return (value as? Double).map(Self.double) }
    if type == Bool.self { return (value as? Bool).map(Self.bool) }
    if type == Date.self { return (value as? Date).map(Self.date) }
    if type == Int32.self { return (value as? Int32).map { .integer(Int64($0)) } }
    if type == Int16.self { return (value as? Int16).map { .integer(Int64($0)) } }
    if type == Data.self { return (value as? Data).map(Self.data) }
    if type == UUID.self { return (value as? UUID).map(Self.uuid) }
    if type == Decimal.self { return (value as? Decimal).map(Self.decimal) }
    if type == URL.self { return (value as? URL).map(Self.url) }
    if type == Float.self { return (value as? Float).map { .double(Double($0)) } }
    if type is AnyClass { return nil }
    if type == PredicateCollection.self {
      return (value as? PredicateCollection).map(Self.collection)
    }
    if let integer = value as? any FixedWidthInteger { return Self.whole(integer) }
    if let float = value as? any BinaryFloatingPoint { return .double(Double(float)) }
    if let text = value as? any StringProtocol { return .string(String(text)) }
    if let character = value as? Character { return .string(String(character)) }
    if let optional = value as? any OptionalValue { return PredicateValue(optional.anyValue) }
    if let hashable = value as? AnyHashable, type == AnyHashable.self {
      return PredicateValue(hashable.base)
    }
    return nil
  }

  private static func whole(_ value: some FixedWidthInteger) -> PredicateValue {
    if let exact = Int64(exactly: value) { return .integer(exact) }
    return Decimal(string: String(value)).map(Self.decimal) ?? .double(Double(value))
  }

  private static func foundationValue(_ value: Any) -> PredicateValue? {
    guard type(of: value) is AnyClass else { return nil }
    switch value {
    case is any ManagedObjectReference: return .object(PredicateObject(value))
    case is NSNull: return .null
    case let value as NSString: return .string(String(describing: value))
    case let value as NSDecimalNumber: return .decimal(value.decimalValue)
    case let value as NSNumber: return number(value)
    case let value as NSDate:
      return .date(Date(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate))
    case let value as NSData: return .data(Data(referencing: value))
    case let value as NSUUID: return UUID(uuidString: value.uuidString).map(Self.uuid)
    case let value as NSURL: return URL(string: value.absoluteString).map(Self.url)
    case let value as NSOrderedSet: return elements(value.array, isOrdered: true, isSet: true)
    case let value as NSSet: return elements(value.allObjects, isOrdered: false)
    case let value as NSArray: return elements(value.map { $0 }, isOrdered: true)
    case let value as NSDictionary: return dictionary(value)
    default: return nil
    }
  }

  private static func number(_ value: NSNumber) -> PredicateValue {
    switch UInt8(bitPattern: value.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): .double(value.doubleValue)
    case UInt8(ascii: "Q"): whole(value.uint64Value)
    default: .integer(value.int64Value)
    }
  }

  private static func dictionary(_ value: NSDictionary) -> PredicateValue {
    var entries: [String: PredicateValue] = [:]
    for (key, entry) in value {
      if let key = key as? String { entries[key] = PredicateValue(entry) }
    }
    return .dictionary(entries, original: value)
  }

  private static func collectionValue(_ value: Any) -> PredicateValue? {
    if let value = value as? [String: Any] {
      return .dictionary(value.mapValues { PredicateValue($0) }, original: value)
    }
    if let value = value as? any SetAlgebra, let elements = value as? any Collection {
      return Self.elements(elements, isOrdered: false)
    }
    // A type that's read by key is one object, even if it's also a collection.
    if value is any KeyValueReadable { return nil }
    return (value as? any Collection).map { Self.elements($0, isOrdered: true) }
  }

  private static func elements(
    _ elements: some Collection, isOrdered: Bool, isSet: Bool = false
  ) -> PredicateValue {
    .collection(
      PredicateCollection(
        elements.map { PredicateValue($0) }, isOrdered: isOrdered, isSet: isSet))
  }
}

/// Unwraps an optional that's stored as `Any`.
protocol OptionalValue {
  var anyValue: Any? { get }
}

extension Optional: OptionalValue {
  var anyValue: Any? {
    map { $0 }
  }
}
