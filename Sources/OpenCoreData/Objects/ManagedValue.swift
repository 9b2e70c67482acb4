import ManagedModel

/// A type that a property of a managed object can be declared with.
///
/// A type of an application's own has the first two; the others follow from them.
public protocol ManagedValue {
  /// Takes what `value(forKey:)` gives; nil when it is of another type.
  init?(managedValue: Any?)
  /// What `setValue(_:forKey:)` takes.
  var managedValue: Any? { get }

  /// The slots that the type reads in place; none for a type that is made of `managedValue`.
  static var slotKinds: SlotKinds { get }
  /// Reads a property.
  ///
  /// - Parameters:
  ///   - object: Any object with the property, filled or not.
  ///   - place: Its slot when that is known and one of `slotKinds`; nil to go by name.
  ///   - name: The property's name, ending with a 0.
  static func read(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> Self
  /// Reads a property that may be nil.
  static func readOptional(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> Self?
  /// Sets a property.
  func write(_ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>)
}

extension ManagedValue {
  /// The value itself.
  public var managedValue: Any? { self }

  /// None.
  @inlinable public static var slotKinds: SlotKinds { [] }

  /// Reads what `value(forKey:)` gives; traps when it is of another type.
  public static func read(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> Self {
    guard let value = Self(managedValue: object.anyValue(at: place, name)) else {
      object.wrongType(name, Self.self)
    }
    return value
  }

  /// Reads what `value(forKey:)` gives; traps when it is of another type.
  public static func readOptional(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> Self? {
    guard let found = object.anyValue(at: place, name) else { return nil }
    guard let value = Self(managedValue: found) else { object.wrongType(name, Self.self) }
    return value
  }

  /// Sets as `setValue(_:forKey:)` does.
  public func write(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) {
    object.setAny(managedValue, at: place, name)
  }
}

extension Optional: ManagedValue where Wrapped: ManagedValue {
  /// Nil stays nil.
  public init?(managedValue: Any?) {
    guard let managedValue else {
      self = nil
      return
    }
    guard let wrapped = Wrapped(managedValue: managedValue) else { return nil }
    self = wrapped
  }

  /// The wrapped value, or nil.
  public var managedValue: Any? {
    self?.managedValue
  }

  /// Those of the wrapped type.
  @inlinable public static var slotKinds: SlotKinds { Wrapped.slotKinds }

  /// Reads nil as nil.
  @inlinable @inline(__always)
  public static func read(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> Wrapped? {
    Wrapped.readOptional(object, at: place, name)
  }

  /// Sets nil, or the wrapped value.
  @inlinable
  public func write(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) {
    if let self {
      self.write(object, at: place, name)
    } else {
      object.setAny(nil, at: place, name)
    }
  }
}
