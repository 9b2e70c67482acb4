import ManagedModel

/// A type whose values are the 8 bytes of a slot: numbers, booleans, dates.
public protocol WordValue: EmptyManagedValue {
  /// Reads the place of a clean, filled object; the empty value for nil.
  static func load(_ object: NSManagedObject, at place: SlotPlace) -> Self
  /// Reads the place of an object in any state.
  static func value(of object: NSManagedObject, at place: SlotPlace) -> Self?
  /// Sets the place of an object in any state; nil is nil.
  static func set(_ value: Self?, of object: NSManagedObject, at place: SlotPlace)
}

extension WordValue {
  /// Loads the value of a clean, filled object, and asks further for any other.
  @inlinable @inline(__always)
  public static func read(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> Self {
    if let place, object.state.isClean { return load(object, at: place) }
    return readSlowly(object, at: place, name) ?? Self.empty
  }

  /// Loads the value of a clean, filled object, and asks further for any other.
  @inlinable @inline(__always)
  public static func readOptional(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> Self? {
    if let place, object.state.isClean {
      return object.row.isNull(place) ? nil : load(object, at: place)
    }
    return readSlowly(object, at: place, name)
  }

  /// Sets the slot of that place, or the property of that name.
  @inlinable
  public func write(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) {
    guard let place = place ?? object.place(name, as: Self.slotKinds) else {
      return object.setAny(managedValue, at: nil, name)
    }
    Self.set(self, of: object, at: place)
  }

  @inlinable @inline(never)
  static func readSlowly(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> Self? {
    if let place = place ?? object.place(name, as: Self.slotKinds) {
      return value(of: object, at: place)
    }
    guard let found = object.anyValue(at: nil, name) else { return nil }
    guard let value = Self(managedValue: found) else { object.wrongType(name, Self.self) }
    return value
  }
}
