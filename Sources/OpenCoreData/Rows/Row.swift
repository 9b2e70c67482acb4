import Foundation
import Synchronization

/// An immutable row of an entity in raw memory, shared by the row cache, snapshots, and objects.
///
/// Reference counting is manual: code that stores a `Row` calls `retain` and, when done, `release`.
/// A Swift class would cost more than the read itself. Build with `-DCHECKED_ROWS` to check every
/// access for a freed row, a wrong slot, and a read outside of the row.
///
///     0  count   Int32, atomic; -1 is never freed        8  layout index  Int32
///     4  size    UInt32, bytes of the row               12  cached        UInt32, atomic
///                                                       16  Z_OPT         Int64
///                                                       24  one bit per slot: nil
///     then the slots; then strings and data, with offset and length in their slot
///
/// Any thread may read, retain, and release.
@usableFromInline
struct Row: @unchecked Sendable {  // immutable bytes, atomic count
  @usableFromInline let base: UnsafeMutableRawPointer

  /// The bytes before the `nil` bits.
  ///
  /// The same as in `SlotGeometry`; a literal, so that it isn't a load.
  static let headerSize = 24

  /// Copies finished bytes into a new row with a reference count of one.
  init(copying bytes: UnsafeRawBufferPointer, immortal: Bool) {
    guard let base = malloc(bytes.count + Row.guardSize) else {
      fatalError("there's no memory for a row of \(bytes.count) bytes")
    }
    self.base = base
    if let source = bytes.baseAddress {
      base.copyMemory(from: source, byteCount: bytes.count)
    }
    count.initialize(to: Atomic<Int32>(immortal ? -1 : 1))
    base.storeBytes(of: UInt32(bytes.count), toByteOffset: 4, as: UInt32.self)
    cached.initialize(to: Atomic<UInt32>(0))
    markAlive()
  }

  /// The index of the layout of the slots, with which the row must be read.
  var layoutIndex: Int {
    check()
    return Int(base.load(fromByteOffset: 8, as: Int32.self))
  }

  /// Whether this row is the row cache's entry for its key, and therefore the newest seen.
  ///
  /// Set only under the store's lock; code that retains the row may read it without the lock.
  var isCached: Bool {
    get {
      check()
      return cached.pointee.load(ordering: .acquiring) != 0
    }
    nonmutating set {
      check()
      cached.pointee.store(newValue ? 1 : 0, ordering: .releasing)
    }
  }

  /// `Z_OPT`, the version that saving compares.
  var version: Int64 {
    check()
    return base.load(fromByteOffset: 16, as: Int64.self)
  }

  /// All bytes, including the header.
  var size: Int {
    Int(base.load(fromByteOffset: 4, as: UInt32.self))
  }

  func isNull(_ slot: RowSlot) -> Bool {
    check(slot)
    let word = base.load(
      fromByteOffset: Row.headerSize + (slot.index >> 6) * 8, as: UInt64.self)
    return word & (1 << UInt64(slot.index & 63)) != 0
  }

  /// Returns the slot's 8 bytes as an integer: numbers, Booleans, primary keys of destinations.
  func int64(_ slot: RowSlot) -> Int64 {
    check(slot)
    return base.load(fromByteOffset: slot.offset, as: Int64.self)
  }

  /// Returns the slot's 8 bytes as a number: doubles, floats, dates in seconds since 2001.
  func double(_ slot: RowSlot) -> Double {
    check(slot)
    return base.load(fromByteOffset: slot.offset, as: Double.self)
  }

  /// Returns the second 8 bytes of a polymorphic to-one: the destination's entity ID (`Z_ENT`).
  func entityNumber(_ slot: RowSlot) -> Int64 {
    check(slot)
    return base.load(fromByteOffset: slot.offset + 8, as: Int64.self)
  }

  /// Returns the bytes of a string or data; valid while the row is retained.
  func bytes(_ slot: RowSlot) -> UnsafeRawBufferPointer {
    check(slot)
    let start = Int(base.load(fromByteOffset: slot.offset, as: UInt32.self))
    let length = Int(base.load(fromByteOffset: slot.offset + 4, as: UInt32.self))
    checkRange(start, length)
    return UnsafeRawBufferPointer(start: base + start, count: length)
  }

  /// Increments the reference count.
  func retain() {
    check()
    if count.pointee.load(ordering: .relaxed) >= 0 {
      count.pointee.add(1, ordering: .relaxed)
    }
  }

  /// Decrements the reference count; the last release frees the bytes.
  func release() {
    check()
    guard count.pointee.load(ordering: .relaxed) >= 0 else { return }
    if count.pointee.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      deallocate()
    }
  }

  /// Frees a row that isn't counted; called by its layout's deinitializer.
  func freeImmortal() {
    deallocate()
  }

  private var count: UnsafeMutablePointer<Atomic<Int32>> {
    base.assumingMemoryBound(to: Atomic<Int32>.self)
  }

  private var cached: UnsafeMutablePointer<Atomic<UInt32>> {
    (base + 12).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  private func deallocate() {
    markDead()
    free(base)
  }
}

/// The checked build: a canary after each row shows whether it's alive.
///
/// Compiled only if `CHECKED_ROWS` is defined.
extension Row {
  #if CHECKED_ROWS
    static let guardSize = 16
    private static let alive: UInt64 = 0xA11F_E0C0_FFEE_0001
    private static let dead: UInt64 = 0xDEAD_0000_DEAD_0000

    private var guardOffset: Int { (size + 7) & ~7 }

    func markAlive() {
      base.storeBytes(of: Row.alive, toByteOffset: guardOffset, as: UInt64.self)
    }

    func markDead() {
      check()
      let size = size
      base.storeBytes(of: Row.dead, toByteOffset: guardOffset, as: UInt64.self)
      (base + Row.headerSize).initializeMemory(
        as: UInt8.self, repeating: 0xDB, count: size - Row.headerSize)
    }

    func check() {
      let mark = base.load(fromByteOffset: guardOffset, as: UInt64.self)
      precondition(mark == Row.alive, "a row was used after its last release")
    }

    func check(_ slot: RowSlot) {
      check()
      precondition(
        slot.offset + slot.kind.width <= size, "slot '\(slot.name)' is out of bounds")
    }

    @usableFromInline
    func check(_ position: SlotPosition) {
      check()
      precondition(position.offset + 8 <= size, "slot \(position.index) is out of bounds")
    }

    func checkRange(_ start: Int, _ length: Int) {
      precondition(start + length <= size, "a string or blob is out of bounds")
    }
  #else
    static let guardSize = 0

    @inline(__always) func markAlive() {}
    @inline(__always) func markDead() {}
    @inline(__always) func check() {}
    @inline(__always) func check(_ slot: RowSlot) {}
    @inlinable @inline(__always) func check(_ position: SlotPosition) {}
    @inline(__always) func checkRange(_ start: Int, _ length: Int) {}
  #endif
}

extension Row {
  /// Returns a row of the same version with other values in some slots, retained for the caller.
  func replacing(_ values: [(slot: RowSlot, value: RowValue)], in layout: EntityLayout) -> Row {
    var builder = RowBuilder(layout: layout)
    builder.copy(self)
    for (slot, value) in values { builder.set(value, at: slot) }
    return builder.finish(version: version)
  }
}

/// A row of one of a coordinator's stores, whatever its entity: keys are unique within a root
/// entity.
struct RowKey: Hashable {
  let rootIndex: Int
  let primaryKey: Int64

  init(rootIndex: Int, primaryKey: Int64) {
    self.rootIndex = rootIndex
    self.primaryKey = primaryKey
  }

  init(_ identity: FetchedIdentity) {
    self.init(rootIndex: identity.layout.rootIndex, primaryKey: identity.primaryKey)
  }
}
