public import Synchronization

/// The slots of an entity as accessors in other modules find them, by number and by name.
///
/// A name is looked up by the address of its literal, which is hashed instead of its characters; the
/// first look at a literal in an entity goes by its characters and is remembered. A program that holds
/// Swift code is never unloaded, so an address means one name for ever. Freed by hand, with the
/// layout.
@usableFromInline
struct SlotTable: @unchecked Sendable {  // entries of `names` are set once, atomically
  /// For each slot its offset, and its kind above bit 32.
  @usableFromInline let slots: UnsafeMutablePointer<UInt64>
  /// Hash table of literals: an address above bit 16, a slot's number below; 0 where it is free.
  @usableFromInline let names: UnsafeMutablePointer<Atomic<UInt64>>
  /// 64 less the number of bits of an index into `names`.
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

  /// The slot that a literal names, where it was remembered at its first place and has one of the
  /// kinds.
  @inlinable @inline(__always)
  func place(of name: UnsafePointer<UInt8>, as kinds: SlotKinds) -> SlotPlace? {
    let address = UInt64(UInt(bitPattern: name))
    let entry = entry(at: home(of: address))
    guard entry >> 16 == address else { return nil }
    return place(at: Int(entry & 0xFFFF), as: kinds)
  }

  /// An entry, which is 0 or what it will be for ever.
  ///
  /// A plain load of an aligned word, for any thread: around an atomic one the compiler retains what
  /// the table was reached through, which costs ten times as much. Checked builds, which the thread
  /// sanitizer runs, load atomically.
  @inlinable @inline(__always)
  func entry(at index: Int) -> UInt64 {
    #if CHECKED_ROWS
      names[index].load(ordering: .relaxed)
    #else
      UnsafeRawPointer(names + index).load(as: UInt64.self)
    #endif
  }

  /// A slot's place, when it has one of the kinds.
  @inlinable @inline(__always)
  func place(at index: Int, as kinds: SlotKinds) -> SlotPlace? {
    let word = slots[index]
    guard UInt32(truncatingIfNeeded: word >> 32) & kinds.rawValue != 0 else { return nil }
    return SlotPlace(index: index, offset: Int(word & 0xFFFF_FFFF))
  }

  @inlinable @inline(__always)
  func home(of address: UInt64) -> Int {
    Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) &>> shift)
  }

  /// The number of the slot that a literal names, where it was remembered.
  func index(of name: UnsafePointer<UInt8>) -> Int? {
    let address = UInt64(UInt(bitPattern: name))
    for step in 0..<SlotTable.steps {
      let entry = names[(home(of: address) + step) & mask].load(ordering: .relaxed)
      if entry >> 16 == address { return Int(entry & 0xFFFF) }
    }
    return nil
  }

  /// Remembers a literal, as long as there is room near its place.
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
