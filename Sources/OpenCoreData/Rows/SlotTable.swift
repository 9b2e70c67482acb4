public import Synchronization

/// The slots of an entity for accessors in other modules, by index and by name.
///
/// A name is looked up by the address of its literal, which is hashed instead of its characters;
/// the first lookup of a literal in an entity compares characters and is cached. A program with
/// Swift code is never unloaded, so an address always means the same name. Freed manually, with the
/// layout.
@usableFromInline
struct SlotTable: @unchecked Sendable {  // entries of `names` are set once, atomically
  /// For each slot its offset, and its kind in the bits from 32 on.
  @usableFromInline let slots: UnsafeMutablePointer<UInt64>
  /// A hash table of literals: an address in the bits from 16 on, a slot's index below; 0 if
  /// unused.
  @usableFromInline let names: UnsafeMutablePointer<Atomic<UInt64>>
  /// 64 minus the number of bits of an index into `names`.
  @usableFromInline let shift: UInt64

  init(_ slots: [RowSlot]) {
    self.slots = .allocate(capacity: max(slots.count, 1))
    for slot in slots {
      let word = UInt64(SlotKinds(slot.kind).rawValue) << 32 | UInt64(slot.offset)
      (self.slots + slot.index).initialize(to: word)
    }
    var bits: UInt64 = 4
    while 1 << bits < slots.count * 4 { bits += 1 }
    shift = 64 - bits
    names = .allocate(capacity: 1 << bits)
    for index in 0..<(1 << bits) { (names + index).initialize(to: Atomic(0)) }
  }

  func free() {
    slots.deallocate()
    names.deallocate()
  }

  /// Returns the slot of a literal, if it's cached at its first index and has one of the kinds.
  @inlinable @inline(__always)
  func position(of name: UnsafePointer<UInt8>, as kinds: SlotKinds) -> SlotPosition? {
    let address = UInt64(UInt(bitPattern: name))
    let entry = entry(at: home(of: address))
    guard entry >> 16 == address else { return nil }
    return position(at: Int(entry & 0xFFFF), as: kinds)
  }

  /// Returns an entry, which is 0 or its final value.
  ///
  /// A plain load of an aligned word, for any thread: for an atomic load, the compiler retains the
  /// object that contains the table, which costs ten times as much. Checked builds, which the
  /// thread sanitizer runs, load atomically.
  @inlinable @inline(__always)
  func entry(at index: Int) -> UInt64 {
    #if CHECKED_ROWS
      names[index].load(ordering: .relaxed)
    #else
      UnsafeRawPointer(names + index).load(as: UInt64.self)
    #endif
  }

  /// Returns a slot's position, if it has one of the kinds.
  @inlinable @inline(__always)
  func position(at index: Int, as kinds: SlotKinds) -> SlotPosition? {
    let word = slots[index]
    guard UInt32(truncatingIfNeeded: word >> 32) & kinds.rawValue != 0 else { return nil }
    return SlotPosition(index: index, offset: Int(word & 0xFFFF_FFFF))
  }

  @inlinable @inline(__always)
  func home(of address: UInt64) -> Int {
    Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) &>> shift)
  }

  /// Returns the index of the slot of a literal, if it's cached.
  func index(of name: UnsafePointer<UInt8>) -> Int? {
    let address = UInt64(UInt(bitPattern: name))
    for step in 0..<SlotTable.steps {
      let entry = names[(home(of: address) + step) & mask].load(ordering: .relaxed)
      if entry >> 16 == address { return Int(entry & 0xFFFF) }
    }
    return nil
  }

  /// Caches a literal, as long as there is room near its hash index.
  ///
  /// Any thread may call it.
  func remember(_ name: UnsafePointer<UInt8>, at index: Int) {
    let address = UInt64(UInt(bitPattern: name))
    guard address >> 48 == 0, index <= 0xFFFF else { return }
    let entry = address << 16 | UInt64(index)
    for step in 0..<SlotTable.steps {
      let (isMine, before) = names[(home(of: address) + step) & mask].compareExchange(
        expected: 0, desired: entry, ordering: .relaxed)
      if isMine || before == entry { return }
    }
  }

  private static let steps = 8

  private var mask: Int {
    Int(truncatingIfNeeded: UInt64.max >> shift)
  }
}

/// The slot that a generated class expects in its entity.
///
/// Generated code registers the declarations of a class; see `registerClass(named:slots:)`.
public struct SlotDeclaration: Sendable {
  private let name: String
  private let position: SlotPosition
  private let kinds: SlotKinds

  init(name: String, position: SlotPosition, kinds: SlotKinds) {
    self.name = name
    self.position = position
    self.kinds = kinds
  }

  /// Returns whether the slot at that index is the expected one.
  func matches(_ slots: [RowSlot]) -> Bool {
    guard slots.indices.contains(position.index) else { return false }
    let slot = slots[position.index]
    // A type that reads no slot directly accepts values converted from any kind.
    return slot.name == name && slot.offset == position.offset
      && (kinds.isEmpty || !kinds.isDisjoint(with: SlotKinds(slot.kind)))
  }
}

/// The positions of an entity's properties by name, for key-value access.
///
/// A hash of the first and the last eight bytes replaces that of a dictionary, which costs more
/// than the rest of `value(forKey:)`. Names that are equal with different bytes are found by the
/// dictionary used after it. Immutable; freed manually, with the layout.
struct NameTable: @unchecked Sendable {  // immutable after init
  private let entries: UnsafeMutablePointer<(name: String, position: PropertyPosition)?>
  private let mask: Int
  private let all: [String: PropertyPosition]

  init(_ positions: [String: PropertyPosition]) {
    all = positions
    var count = 8
    while count < positions.count * 2 { count *= 2 }
    mask = count - 1
    entries = .allocate(capacity: count)
    entries.initialize(repeating: nil, count: count)
    for (name, position) in positions {
      guard var index = NameTable.hash(name).map({ $0 & mask }) else { continue }
      while entries[index] != nil { index = (index + 1) & mask }
      entries[index] = (name, position)
    }
  }

  func free() {
    entries.deinitialize(count: mask + 1)
    entries.deallocate()
  }

  subscript(name: String) -> PropertyPosition? {
    if var index = NameTable.hash(name).map({ $0 & mask }) {
      while let entry = entries[index] {
        if entry.name == name { return entry.position }
        index = (index + 1) & mask
      }
    }
    return all[name]
  }

  /// Returns the hash; `nil` for a string that isn't contiguous.
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

/// The kinds of slots that a type can read directly.
public struct SlotKinds: OptionSet, Sendable {
  /// The bits, one for each kind.
  public let rawValue: UInt32

  /// Creates a set of kinds from their bits.
  @inlinable
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// 16-bit integers.
  @inlinable public static var int16: SlotKinds { SlotKinds(rawValue: 1) }
  /// 32-bit integers.
  @inlinable public static var int32: SlotKinds { SlotKinds(rawValue: 2) }
  /// 64-bit integers.
  @inlinable public static var int64: SlotKinds { SlotKinds(rawValue: 4) }
  /// Booleans.
  @inlinable public static var bool: SlotKinds { SlotKinds(rawValue: 8) }
  /// Double-precision numbers.
  @inlinable public static var double: SlotKinds { SlotKinds(rawValue: 16) }
  /// Single-precision numbers.
  @inlinable public static var float: SlotKinds { SlotKinds(rawValue: 32) }
  /// Dates, in seconds since 2001.
  @inlinable public static var date: SlotKinds { SlotKinds(rawValue: 64) }
  /// Strings.
  @inlinable public static var string: SlotKinds { SlotKinds(rawValue: 128) }
}

extension SlotKinds {
  /// Creates the kind of a slot; empty for one that no type reads directly.
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
