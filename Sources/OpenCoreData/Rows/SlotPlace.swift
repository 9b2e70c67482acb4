/// Where a slot is in a row: its number, which is its bit among the nils, and its offset.
public struct SlotPlace: Sendable, Hashable {
  @usableFromInline let index: Int
  /// Bytes from the row's base.
  @usableFromInline let offset: Int

  @inlinable
  init(index: Int, offset: Int) {
    self.index = index
    self.offset = offset
  }
}

extension Row {
  /// Whether a place's value is nil.
  @inlinable @inline(__always)
  func isNull(_ place: SlotPlace) -> Bool {
    check(place)
    let word = base.load(fromByteOffset: 24 + (place.index >> 6) * 8, as: UInt64.self)
    return word & (1 << UInt64(place.index & 63)) != 0
  }

  /// A place's 8 bytes as an integer; 0 for nil.
  @inlinable @inline(__always)
  func int64(_ place: SlotPlace) -> Int64 {
    check(place)
    return base.load(fromByteOffset: place.offset, as: Int64.self)
  }

  /// A place's 8 bytes as a number; 0 for nil.
  @inlinable @inline(__always)
  func double(_ place: SlotPlace) -> Double {
    check(place)
    return base.load(fromByteOffset: place.offset, as: Double.self)
  }
}
