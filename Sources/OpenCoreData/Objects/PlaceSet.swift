/// A set of places of an object: bits of one word, and of more words in entities of more than 64
/// properties.
struct PlaceSet {
  private var first: UInt64 = 0
  /// The places from 64 on.
  private var more: ContiguousArray<UInt64> = []

  var isEmpty: Bool {
    first == 0 && more.allSatisfy { $0 == 0 }
  }

  @inline(__always)
  func contains(_ place: Int) -> Bool {
    if place < 64 { return first &>> UInt64(place) & 1 != 0 }
    return containsBeyond(place)
  }

  private func containsBeyond(_ place: Int) -> Bool {
    let word = place / 64 - 1
    return word < more.count && more[word] >> UInt64(place % 64) & 1 != 0
  }

  @inline(__always)
  mutating func insert(_ place: Int) {
    if place < 64 {
      first |= 1 &<< UInt64(place)
    } else {
      insertBeyond(place)
    }
  }

  private mutating func insertBeyond(_ place: Int) {
    let word = place / 64 - 1
    while more.count <= word { more.append(0) }
    more[word] |= 1 << UInt64(place % 64)
  }

  mutating func remove(_ place: Int) {
    if place < 64 {
      first &= ~(1 << UInt64(place))
    } else if place / 64 - 1 < more.count {
      more[place / 64 - 1] &= ~(1 << UInt64(place % 64))
    }
  }

  mutating func removeAll() {
    first = 0
    more = []
  }
}
