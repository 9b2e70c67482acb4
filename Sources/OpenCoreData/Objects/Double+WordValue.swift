import ManagedModel

extension Double: WordValue {
  /// Zero.
  @inlinable public static var empty: Double { 0 }
  /// Numbers of double precision.
  @inlinable public static var slotKinds: SlotKinds { .double }

  /// Reads the place of a clean, filled object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPlace) -> Double {
    object.row.double(place)
  }

  /// Reads the place of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPlace) -> Double? {
    object.number(at: place)
  }

  /// Sets the place.
  @inlinable
  public static func set(_ value: Double?, of object: NSManagedObject, at place: SlotPlace) {
    object.set(value, at: place)
  }
}

extension Float: WordValue {
  /// Zero.
  @inlinable public static var empty: Float { 0 }
  /// Numbers of single precision.
  @inlinable public static var slotKinds: SlotKinds { .float }

  /// Reads the place of a clean, filled object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPlace) -> Float {
    Float(object.row.double(place))
  }

  /// Reads the place of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPlace) -> Float? {
    object.number(at: place).map { Float($0) }
  }

  /// Sets the place.
  @inlinable
  public static func set(_ value: Float?, of object: NSManagedObject, at place: SlotPlace) {
    object.set(value.map { Double($0) }, at: place)
  }
}

extension Date: WordValue {
  /// The reference date, 2001-01-01 UTC.
  @inlinable public static var empty: Date { Date(timeIntervalSinceReferenceDate: 0) }
  /// Dates.
  @inlinable public static var slotKinds: SlotKinds { .date }

  /// Reads the place of a clean, filled object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPlace) -> Date {
    Date(timeIntervalSinceReferenceDate: object.row.double(place))
  }

  /// Reads the place of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPlace) -> Date? {
    object.number(at: place).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// Sets the place.
  @inlinable
  public static func set(_ value: Date?, of object: NSManagedObject, at place: SlotPlace) {
    object.set(value?.timeIntervalSinceReferenceDate, at: place)
  }
}
