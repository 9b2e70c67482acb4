/// A set of the ways in which a row holds a value, for types that read slots in place.
public struct SlotKinds: OptionSet, Sendable {
  /// One bit a kind.
  public let rawValue: UInt32

  /// Takes the bits.
  @inlinable
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Integers of 16 bits.
  @inlinable public static var int16: SlotKinds { SlotKinds(rawValue: 1) }
  /// Integers of 32 bits.
  @inlinable public static var int32: SlotKinds { SlotKinds(rawValue: 2) }
  /// Integers of 64 bits.
  @inlinable public static var int64: SlotKinds { SlotKinds(rawValue: 4) }
  /// Booleans.
  @inlinable public static var bool: SlotKinds { SlotKinds(rawValue: 8) }
  /// Numbers of double precision.
  @inlinable public static var double: SlotKinds { SlotKinds(rawValue: 16) }
  /// Numbers of single precision.
  @inlinable public static var float: SlotKinds { SlotKinds(rawValue: 32) }
  /// Dates, in seconds since 2001.
  @inlinable public static var date: SlotKinds { SlotKinds(rawValue: 64) }
  /// Texts.
  @inlinable public static var string: SlotKinds { SlotKinds(rawValue: 128) }
}

extension SlotKinds {
  /// The kind of a slot; empty for one that no type reads in place.
  init(_ kind: RowSlot.Kind) {
    switch kind {
    case .int16: self = .int16
    case .int32: self = .int32
    case .int64: self = .int64
    case .bool: self = .bool
    case .double: self = .double
    case .float: self = .float
    case .date: self = .date
    case .string: self = .string
    case .uri, .decimal, .data, .uuid, .transformable, .external, .toOne, .toOnePolymorphic:
      self = []
    }
  }
}
