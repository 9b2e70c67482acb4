/// The checked build: a canary behind each row says whether it is alive.
///
/// Compiled away unless `CHECKED_ROWS` is defined.
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
        slot.offset + slot.kind.width <= size, "slot '\(slot.name)' lies outside this row")
    }

    @usableFromInline
    func check(_ place: SlotPlace) {
      check()
      precondition(place.offset + 8 <= size, "slot \(place.index) lies outside this row")
    }

    func checkRange(_ start: Int, _ length: Int) {
      precondition(start + length <= size, "a text or blob lies outside its row")
    }
  #else
    static let guardSize = 0

    @inline(__always) func markAlive() {}
    @inline(__always) func markDead() {}
    @inline(__always) func check() {}
    @inline(__always) func check(_ slot: RowSlot) {}
    @inlinable @inline(__always) func check(_ place: SlotPlace) {}
    @inline(__always) func checkRange(_ start: Int, _ length: Int) {}
  #endif
}
