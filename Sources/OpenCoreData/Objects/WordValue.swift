import ManagedModel

/// A type whose values are the 8 bytes of a slot: numbers, Booleans, dates.
public protocol WordValue: EmptyManagedValue {
  /// Reads a slot of an unchanged realized object; the empty value for nil.
  static func load(_ object: NSManagedObject, at place: SlotPosition) -> Self
  /// Reads a slot of an object in any state.
  static func value(of object: NSManagedObject, at place: SlotPosition) -> Self?
  /// Sets a slot of an object in any state; nil is nil.
  static func set(_ value: Self?, of object: NSManagedObject, at place: SlotPosition)
}

extension WordValue {
  /// Loads the value of an unchanged realized object; other states take the slow path.
  @inlinable @inline(__always)
  public static func read(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self {
    if let place, object.state.isClean { return load(object, at: place) }
    return readSlowly(object, at: place, name) ?? Self.empty
  }

  /// Loads the value of an unchanged realized object; other states take the slow path.
  @inlinable @inline(__always)
  public static func readOptional(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self? {
    if let place, object.state.isClean {
      return object.row.isNull(place) ? nil : load(object, at: place)
    }
    return readSlowly(object, at: place, name)
  }

  /// Sets a slot, or a property by name.
  @inlinable
  public func write(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) {
    guard let place = place ?? object.place(name, as: Self.slotKinds) else {
      return object.setAny(managedValue, at: nil, name)
    }
    Self.set(self, of: object, at: place)
  }

  @inlinable @inline(never)
  static func readSlowly(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self? {
    if let place = place ?? object.place(name, as: Self.slotKinds) {
      return value(of: object, at: place)
    }
    guard let found = object.anyValue(at: nil, name) else { return nil }
    guard let value = Self(managedValue: found) else { object.wrongType(name, Self.self) }
    return value
  }
}

extension Bool: WordValue {
  /// `false`.
  @inlinable public static var empty: Bool { false }
  /// Boolean slots.
  @inlinable public static var slotKinds: SlotKinds { .bool }

  /// Reads a slot of an unchanged realized object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPosition) -> Bool {
    object.row.int64(place) != 0
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPosition) -> Bool? {
    object.integer(at: place).map { $0 != 0 }
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Bool?, of object: NSManagedObject, at place: SlotPosition) {
    object.set(value.map { $0 ? Int64(1) : 0 }, at: place)
  }
}

extension Double: WordValue {
  /// Zero.
  @inlinable public static var empty: Double { 0 }
  /// Slots of double-precision numbers.
  @inlinable public static var slotKinds: SlotKinds { .double }

  /// Reads a slot of an unchanged realized object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPosition) -> Double {
    object.row.double(place)
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPosition) -> Double? {
    object.number(at: place)
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Double?, of object: NSManagedObject, at place: SlotPosition) {
    object.set(value, at: place)
  }
}

extension Float: WordValue {
  /// Zero.
  @inlinable public static var empty: Float { 0 }
  /// Slots of single-precision numbers.
  @inlinable public static var slotKinds: SlotKinds { .float }

  /// Reads a slot of an unchanged realized object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPosition) -> Float {
    Float(object.row.double(place))
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPosition) -> Float? {
    object.number(at: place).map { Float($0) }
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Float?, of object: NSManagedObject, at place: SlotPosition) {
    object.set(value.map { Double($0) }, at: place)
  }
}

extension Date: WordValue {
  /// The reference date, 2001-01-01 UTC.
  @inlinable public static var empty: Date { Date(timeIntervalSinceReferenceDate: 0) }
  /// Date slots.
  @inlinable public static var slotKinds: SlotKinds { .date }

  /// Reads a slot of an unchanged realized object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPosition) -> Date {
    Date(timeIntervalSinceReferenceDate: object.row.double(place))
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPosition) -> Date? {
    object.number(at: place).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Date?, of object: NSManagedObject, at place: SlotPosition) {
    object.set(value?.timeIntervalSinceReferenceDate, at: place)
  }
}

/// An integer type: as many of the slot's 8 bytes as it has room for.
public protocol IntegerWordValue: WordValue, FixedWidthInteger {}

extension IntegerWordValue {
  /// Creates an integer from one of any width that fits; nil is 0.
  public init?(managedValue: Any?) {
    guard let managedValue else {
      self = 0
      return
    }
    if let same = managedValue as? Self {
      self = same
    } else if let integer = managedValue as? any BinaryInteger, let fitting = Self(exactly: integer)
    {
      self = fitting
    } else {
      return nil
    }
  }

  /// Zero.
  @inlinable public static var empty: Self { 0 }

  /// Reads a slot of an unchanged realized object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPosition) -> Self {
    Self(truncatingIfNeeded: object.row.int64(place))
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPosition) -> Self? {
    object.integer(at: place).map { Self(truncatingIfNeeded: $0) }
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Self?, of object: NSManagedObject, at place: SlotPosition) {
    object.set(value.map { Int64($0) }, at: place)
  }
}

extension Int16: IntegerWordValue {
  /// Slots of 16-bit integers.
  @inlinable public static var slotKinds: SlotKinds { .int16 }
}

extension Int32: IntegerWordValue {
  /// Slots of 32-bit integers.
  @inlinable public static var slotKinds: SlotKinds { .int32 }
}

extension Int64: IntegerWordValue {
  /// Slots of 64-bit integers.
  @inlinable public static var slotKinds: SlotKinds { .int64 }
}

extension Int: IntegerWordValue {
  /// Slots of 64-bit integers; other widths are converted.
  @inlinable public static var slotKinds: SlotKinds { .int64 }
}
