import ManagedModel

/// An integer type: the slot's 8 bytes, of which it takes those it has room for.
public protocol IntegerWordValue: WordValue, FixedWidthInteger {}

extension IntegerWordValue {
  /// An integer of any width that fits; nil is 0.
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

  /// Reads the place of a clean, filled object.
  @inlinable @inline(__always)
  public static func load(_ object: NSManagedObject, at place: SlotPlace) -> Self {
    Self(truncatingIfNeeded: object.row.int64(place))
  }

  /// Reads the place of an object in any state.
  @inlinable
  public static func value(of object: NSManagedObject, at place: SlotPlace) -> Self? {
    object.integer(at: place).map { Self(truncatingIfNeeded: $0) }
  }

  /// Sets the place.
  @inlinable
  public static func set(_ value: Self?, of object: NSManagedObject, at place: SlotPlace) {
    object.set(value.map { Int64($0) }, at: place)
  }
}

extension Int16: IntegerWordValue {
  /// Integers of 16 bits.
  @inlinable public static var slotKinds: SlotKinds { .int16 }
}

extension Int32: IntegerWordValue {
  /// Integers of 32 bits.
  @inlinable public static var slotKinds: SlotKinds { .int32 }
}

extension Int64: IntegerWordValue {
  /// Integers of 64 bits.
  @inlinable public static var slotKinds: SlotKinds { .int64 }
}

extension Int: IntegerWordValue {
  /// Integers of 64 bits; those of other widths are converted.
  @inlinable public static var slotKinds: SlotKinds { .int64 }
}
