import ManagedModel

/// Values as key-value coding returns them: each number is an `NSNumber`, which casts to every
/// Swift number type that can represent it.
///
/// **Cost:** an allocation for each number, except Booleans and integers from 0 to 255, which are
/// shared.
enum KeyedValue {
  private static let small = (0..<256).map { NSNumber(value: Int64($0)) }
  private static let (no, yes) = (NSNumber(value: false), NSNumber(value: true))

  /// Boxes an attribute's value according to the kind of its slot.
  @inline(__always)
  static func boxed(_ value: Any?, _ kind: RowSlot.Kind) -> Any? {
    guard let value else { return nil }
    switch kind {
    case .int16, .int32, .int64, .bool, .double, .float, .decimal: return boxed(value)
    case .date, .string, .uri, .data, .uuid, .transformable, .external, .toOne, .toOnePolymorphic:
      return value
    }
  }

  /// Boxes a value whose type isn't known beforehand; collections are returned unchanged.
  static func boxed(_ value: Any) -> Any {
    let type = type(of: value)
    if type == String.self { return value }
    if type == Int64.self { return integer(value as? Int64, value) }
    if type == Int16.self { return integer((value as? Int16).map(Int64.init), value) }
    if type == Int32.self { return integer((value as? Int32).map(Int64.init), value) }
    if type == Bool.self { return boxed(value as? Bool == true) }
    if type == Double.self { return (value as? Double).map { NSNumber(value: $0) } ?? value }
    if type == Int.self { return integer((value as? Int).map(Int64.init), value) }
    if type == Float.self { return (value as? Float).map { NSNumber(value: $0) } ?? value }
    if type == Decimal.self {
      return (value as? Decimal).map { NSDecimalNumber(decimal: $0) } ?? value
    }
    return value
  }

  /// Boxes a value, including the elements of collections.
  static func boxedElements(_ value: Any?) -> Any? {
    guard let value, !(type(of: value) is AnyClass) else { return value }
    switch value {
    case let list as [Any]: return list.map { boxedElements($0) ?? $0 }
    case let dictionary as [String: Any]: return dictionary.mapValues { boxedElements($0) ?? $0 }
    case let set as Set<AnyHashable>:
      return Set(set.map { boxed($0.base) as? AnyHashable ?? $0 })
    default: return boxed(value)
    }
  }

  private static func integer(_ number: Int64?, _ value: Any) -> Any {
    number.map(boxed) ?? value
  }

  static func boxed(_ number: Int64) -> NSNumber {
    0..<256 ~= number ? small[Int(number)] : NSNumber(value: number)
  }

  static func boxed(_ value: Bool) -> NSNumber { value ? yes : no }
}

extension Row {
  /// Returns the value of a slot that is a number or a Boolean as key-value coding returns it;
  /// `nil` for `nil` and for other kinds.
  ///
  /// An `Any` in between would more than double the instructions of `value(forKey:)`.
  @inline(__always)
  func number(_ slot: RowSlot) -> NSNumber? {
    if isNull(slot) { return nil }
    switch slot.kind {
    case .int16, .int32, .int64: return KeyedValue.boxed(int64(slot))
    case .bool: return KeyedValue.boxed(int64(slot) != 0)
    case .double: return NSNumber(value: double(slot))
    case .float: return NSNumber(value: Float(double(slot)))
    case .date, .string, .uri, .decimal, .data, .uuid, .transformable, .external, .toOne,
      .toOnePolymorphic:
      return nil
    }
  }
}

/// A property of a class that `value(forKey:)` and `setValue(_:forKey:)` reach by its name.
///
/// On Apple platforms, key-value coding finds a class's accessors in the Objective-C runtime. Here
/// a class lists the properties that it implements itself, such as a transient property that is
/// computed:
///
///     final class Person: NSManagedObject {
///       var fullName: String { "\(first) \(last)" }
///
///       override class var keyedAccessors: [KeyedAccessor] {
///         super.keyedAccessors + [KeyedAccessor("fullName", \Person.fullName)]
///       }
///     }
///
/// Predicates and sort descriptors that are evaluated in memory read it too. An accessor must not
/// call `value(forKey:)` with its own key: it uses `primitiveValue(forKey:)`. No Apple counterpart.
public struct KeyedAccessor {
  let key: String
  /// The value; `nil` for an object that isn't of the class.
  let read: (NSManagedObject) -> Read?
  /// Sets the value; false for an object that isn't of the class, or a property that can't be set.
  let write: (NSManagedObject, Any?) -> Bool

  /// What an accessor returned.
  struct Read {
    let value: Any?
  }

  /// Registers a property under a key.
  ///
  /// - Parameters:
  ///   - key: The name in key paths: that of a property of the model, or any other.
  ///   - property: The property, which can be set by `setValue(_:forKey:)` if it has a setter. It's
  ///     a programmer error to set it to a value of another type; `nil` for one whose type isn't
  ///     optional is passed to `setNilValueForKey(_:)`.
  public init<Root: NSManagedObject, Value>(_ key: String, _ property: KeyPath<Root, Value>) {
    self.key = key
    read = { object in
      guard let root = object as? Root else { return nil }
      let value = root[keyPath: property]
      return Read(value: (value as? any Wrapping).map(\.wrappedValue) ?? value)
    }
    let settable = property as? ReferenceWritableKeyPath<Root, Value>
    write = { object, new in
      guard let settable, let root = object as? Root else { return false }
      guard let value = new as? Value ?? (new as? NSNumber) as? Value else {
        guard let new else {
          root.setNilValueForKey(key)
          return true
        }
        fatalError("'\(key)' of \(Root.self) is a \(Value.self), not \(new)")
      }
      root[keyPath: settable] = value
      return true
    }
  }
}

/// Unwraps an optional whose type isn't known.
private protocol Wrapping {
  var wrappedValue: Any? { get }
}

extension Optional: Wrapping {
  fileprivate var wrappedValue: Any? { map { $0 } }
}
