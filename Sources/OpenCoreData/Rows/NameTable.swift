/// The places of an entity's properties by name, for access by key.
///
/// A hash of the first and the last eight bytes replaces that of a dictionary, which costs more than
/// all the rest of `value(forKey:)`. Names that are equal though their bytes differ are found by the
/// dictionary behind it. Constant; freed by hand, with the layout.
struct NameTable: @unchecked Sendable {  // immutable after init
  private let entries: UnsafeMutablePointer<(name: String, place: PropertyPlace)?>
  private let mask: Int
  private let all: [String: PropertyPlace]

  init(_ places: [String: PropertyPlace]) {
    all = places
    var count = 8
    while count < places.count * 2 { count *= 2 }
    mask = count - 1
    entries = .allocate(capacity: count)
    entries.initialize(repeating: nil, count: count)
    for (name, place) in places {
      guard var index = NameTable.hash(name).map({ $0 & mask }) else { continue }
      while entries[index] != nil { index = (index + 1) & mask }
      entries[index] = (name, place)
    }
  }

  func free() {
    entries.deinitialize(count: mask + 1)
    entries.deallocate()
  }

  subscript(name: String) -> PropertyPlace? {
    if var index = NameTable.hash(name).map({ $0 & mask }) {
      while let entry = entries[index] {
        if entry.name == name { return entry.place }
        index = (index + 1) & mask
      }
    }
    return all[name]
  }

  /// Nil for a string whose bytes do not lie in one piece.
  private static func hash(_ name: String) -> Int? {
    name.utf8.withContiguousStorageIfAvailable { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      var word = UInt64(bytes.count)
      if bytes.count >= 8 {
        let last = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        word = (bytes.loadUnaligned(as: UInt64.self) ^ word) &* 0x9E37_79B9_7F4A_7C15 ^ last
      } else {
        for byte in bytes { word = word << 8 | UInt64(byte) }
      }
      return Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 40)
    }
  }
}
