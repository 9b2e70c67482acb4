/// A plain class whose values may have to be loaded first, as those of an object that may be a
/// fault.
///
/// The reference of the rows that read objects or fulfill faults: what any store whose objects can
/// be faults must do. A stored property alone is no such reference: nothing in its loop can release
/// an object, so the compiler counts none, and the processor reads several objects ahead.
final class LoadableMood {
  /// 1 until the object was loaded.
  private(set) var state: UInt32
  /// The storage of the values, a block of its own.
  private let row: UnsafeMutablePointer<Int64>
  /// Variable, as a value that isn't there before the object is loaded.
  private var text: String

  init(_ values: MoodValues, isLoaded: Bool) {
    state = isLoaded ? 0 : 1
    row = .allocate(capacity: 16)
    row.initialize(repeating: values.rank, count: 16)
    text = values.name
  }

  deinit {
    row.deallocate()
  }

  /// A stored string behind a test and a call that is never made.
  @inline(__always) var name: String {
    if state != 0 { LoadableMood.load(self) }
    return text
  }

  /// Loads the object from a row at hand: tests its state and a word of its row, as fulfilling a
  /// fault must.
  @inline(never)
  func fulfill() {
    guard state != 0 else { return }
    guard row[1] >= 0 else { return LoadableMood.load(self) }
    state = 0
  }

  /// Makes the object loadable again.
  func unload() {
    state = 1
  }

  /// Loads an object that has no row at hand.
  ///
  /// A variable, so that the compiler must assume that the call can do anything.
  nonisolated(unsafe) static var load: (LoadableMood) -> Void = {
    $0.state = 0
    $0.text = ""
  }
}

/// The ID of a plain object: an object too, as `NSManagedObjectID` is.
final class PlainID {
  let key: Int64

  init(_ key: Int64) {
    self.key = key
  }
}

/// An identity map as fast as a plain one can be: open addressing with linear probing, at most half
/// full.
final class IdentityMap {
  private let keys: UnsafeMutablePointer<Int64>
  private let objects: UnsafeMutablePointer<LoadableMood?>
  private let mask: Int
  private let shift: UInt64

  /// Creates the map of the objects under the keys 1, 2, ….
  init(_ moods: ContiguousArray<LoadableMood>) {
    var bits = 4
    while 1 << bits < moods.count * 2 { bits += 1 }
    (mask, shift) = (1 << bits - 1, UInt64(64 - bits))
    keys = .allocate(capacity: 1 << bits)
    keys.initialize(repeating: 0, count: 1 << bits)
    objects = .allocate(capacity: 1 << bits)
    objects.initialize(repeating: nil, count: 1 << bits)
    for (index, mood) in moods.enumerated() {
      let key = Int64(index + 1)
      var place = home(key)
      while keys[place] != 0 { place = (place + 1) & mask }
      keys[place] = key
      objects[place] = mood
    }
  }

  deinit {
    objects.deinitialize(count: mask + 1)
    objects.deallocate()
    keys.deallocate()
  }

  /// Returns the object with an ID.
  @inline(never)
  func object(for id: PlainID) -> LoadableMood? {
    let key = id.key
    var place = home(key)
    while true {
      if keys[place] == key { return objects[place] }
      if keys[place] == 0 { return nil }
      place = (place + 1) & mask
    }
  }

  private func home(_ key: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) &>> shift)
  }
}
