import ManagedModel

extension Bool: WordValue {
  /// False.
  @inlinable public static var empty: Bool { false }
  /// Booleans.
  @inlinable public static var slotKinds: SlotKinds { .bool }

  /// Reads the place of a clean, filled object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPlace) -> Bool {
    object.row.int64(place) != 0
  }

  /// Reads the place of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPlace) -> Bool? {
    object.integer(at: place).map { $0 != 0 }
  }

  /// Sets the place.
  @inlinable
  public static func set(_ value: Bool?, of object: NSManagedObject, at place: SlotPlace) {
    object.set(value.map { $0 ? Int64(1) : 0 }, at: place)
  }
}
