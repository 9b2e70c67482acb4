import ManagedModel

/// A type whose values are the 8 bytes of a slot: numbers, Booleans, dates.
public protocol WordValue: EmptyManagedValue {
  /// Reads a slot of an unchanged realized object; the empty value for `nil`.
  static func load(_ object: NSManagedObject, at position: SlotPosition) -> Self
  /// Reads a slot of an object in any state.
  static func value(of object: NSManagedObject, at position: SlotPosition) -> Self?
  /// Sets a slot of an object in any state; `nil` is `nil`.
  static func set(_ value: Self?, of object: NSManagedObject, at position: SlotPosition)
}

extension WordValue {
  /// Loads the value of an unchanged realized object; other states take the slow path.
  @inlinable @inline(__always)
  public static func read(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self {
    if let position, object.state.isClean { return load(object, at: position) }
    return readSlowly(object, at: position, name) ?? Self.empty
  }

  /// Loads the value of an unchanged realized object; other states take the slow path.
  @inlinable @inline(__always)
  public static func readOptional(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self? {
    if let position, object.state.isClean {
      return object.row.isNull(position) ? nil : load(object, at: position)
    }
    return readSlowly(object, at: position, name)
  }

  /// Sets a slot, or a property by name.
  @inlinable
  public func write(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) {
    guard let position = position ?? object.position(name, as: Self.slotKinds) else {
      return object.setAny(managedValue, at: nil, name)
    }
    Self.set(self, of: object, at: position)
  }

  @inlinable @inline(never)
  static func readSlowly(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self? {
    if let position = position ?? object.position(name, as: Self.slotKinds) {
      return value(of: object, at: position)
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
  public static func load(_ object: NSManagedObject, at position: SlotPosition) -> Bool {
    object.row.int64(position) != 0
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at position: SlotPosition) -> Bool? {
    object.integer(at: position).map { $0 != 0 }
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Bool?, of object: NSManagedObject, at position: SlotPosition) {
    object.set(value.map { $0 ? Int64(1) : 0 }, at: position)
  }
}

extension Double: WordValue {
  /// Zero.
  @inlinable public static var empty: Double { 0 }
  /// Slots of double-precision numbers.
  @inlinable public static var slotKinds: SlotKinds { .double }

  /// Reads a slot of an unchanged realized object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at position: SlotPosition) -> Double {
    object.row.double(position)
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at position: SlotPosition) -> Double? {
    object.number(at: position)
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Double?, of object: NSManagedObject, at position: SlotPosition) {
    object.set(value, at: position)
  }
}

extension Float: WordValue {
  /// Zero.
  @inlinable public static var empty: Float { 0 }
  /// Slots of single-precision numbers.
  @inlinable public static var slotKinds: SlotKinds { .float }

  /// Reads a slot of an unchanged realized object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at position: SlotPosition) -> Float {
    Float(object.row.double(position))
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at position: SlotPosition) -> Float? {
    object.number(at: position).map { Float($0) }
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Float?, of object: NSManagedObject, at position: SlotPosition) {
    object.set(value.map { Double($0) }, at: position)
  }
}

extension Date: WordValue {
  /// The reference date, 2001-01-01 UTC.
  @inlinable public static var empty: Date { Date(timeIntervalSinceReferenceDate: 0) }
  /// Date slots.
  @inlinable public static var slotKinds: SlotKinds { .date }

  /// Reads a slot of an unchanged realized object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at position: SlotPosition) -> Date {
    Date(timeIntervalSinceReferenceDate: object.row.double(position))
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at position: SlotPosition) -> Date? {
    object.number(at: position).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Date?, of object: NSManagedObject, at position: SlotPosition) {
    object.set(value?.timeIntervalSinceReferenceDate, at: position)
  }
}

/// An integer type: as many of the slot's 8 bytes as it has room for.
public protocol IntegerWordValue: WordValue, FixedWidthInteger {}

extension IntegerWordValue {
  /// Creates an integer from one of any width that fits; `nil` is 0.
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
  public static func load(_ object: NSManagedObject, at position: SlotPosition) -> Self {
    Self(truncatingIfNeeded: object.row.int64(position))
  }

  /// Reads a slot of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at position: SlotPosition) -> Self? {
    object.integer(at: position).map { Self(truncatingIfNeeded: $0) }
  }

  /// Sets the slot.
  @inlinable
  public static func set(_ value: Self?, of object: NSManagedObject, at position: SlotPosition) {
    object.set(value.map { Int64($0) }, at: position)
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
