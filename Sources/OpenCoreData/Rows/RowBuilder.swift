import SQLiteDriver

/// Builds a row in a buffer that is reused for the next one.
///
/// Begin with `reset` (or a new builder), set each slot once, then call `finish`. A slot that isn't
/// set is `nil`.
struct RowBuilder: ~Copyable {
  let slots: [RowSlot]
  private let fixedSize: Int
  private let layoutIndex: Int
  private var buffer: UnsafeMutableRawBufferPointer
  private var used: Int

  /// Creates a builder for rows of one layout.
  init(layout: EntityLayout) {
    self.init(slots: layout.slots, fixedSize: layout.fixedSize, layoutIndex: layout.index)
  }

  init(slots: [RowSlot], fixedSize: Int, layoutIndex: Int) {
    self.slots = slots
    self.layoutIndex = layoutIndex
    self.fixedSize = fixedSize
    self.buffer = .allocate(byteCount: fixedSize + 256, alignment: 8)
    self.used = fixedSize
    reset()
  }

  deinit {
    buffer.deallocate()
  }

  /// Resets every slot to `nil`.
  mutating func reset() {
    used = fixedSize
    buffer.baseAddress?.initializeMemory(as: UInt8.self, repeating: 0, count: fixedSize)
    for word in 0..<(slots.count + 63) / 64 {
      buffer.storeBytes(
        of: UInt64.max, toByteOffset: Row.headerSize + word * 8, as: UInt64.self)
    }
  }

  /// Copies every value of a row; slots that are set later replace them.
  mutating func copy(_ row: Row) {
    reset()
    for slot in slots { copy(slot, of: row) }
  }

  /// Copies one value of a row; `nil` leaves the slot unchanged.
  mutating func copy(_ slot: RowSlot, of row: Row) {
    guard !row.isNull(slot) else { return }
    switch slot.kind {
    case .string, .uri, .decimal, .data, .uuid, .transformable, .external:
      set(bytes: row.bytes(slot), at: slot)
    case .toOnePolymorphic:
      set(row.int64(slot), at: slot)
      set(entityNumber: row.entityNumber(slot), at: slot)
    default: set(row.int64(slot), at: slot)
    }
  }

  mutating func set(_ value: Int64, at slot: RowSlot) {
    buffer.storeBytes(of: value, toByteOffset: slot.offset, as: Int64.self)
    markSet(slot)
  }

  mutating func set(_ value: Double, at slot: RowSlot) {
    buffer.storeBytes(of: value, toByteOffset: slot.offset, as: Double.self)
    markSet(slot)
  }

  /// Sets the entity ID of a polymorphic to-one.
  mutating func set(entityNumber: Int64, at slot: RowSlot) {
    buffer.storeBytes(of: entityNumber, toByteOffset: slot.offset + 8, as: Int64.self)
  }

  mutating func set(bytes: UnsafeRawBufferPointer, at slot: RowSlot) {
    reserve(bytes.count)
    if let source = bytes.baseAddress, bytes.count > 0 {
      (buffer.baseAddress.map { $0 + used })?.copyMemory(from: source, byteCount: bytes.count)
    }
    buffer.storeBytes(of: UInt32(used), toByteOffset: slot.offset, as: UInt32.self)
    buffer.storeBytes(of: UInt32(bytes.count), toByteOffset: slot.offset + 4, as: UInt32.self)
    used += bytes.count
    markSet(slot)
  }

  /// Sets a slot from a value that isn't in raw form yet.
  mutating func set(_ value: RowValue, at slot: RowSlot) {
    switch value {
    case .null: setNull(slot)
    case .int64(let value): set(value, at: slot)
    case .double(let value): set(value, at: slot)
    case .text(var text):
      text.withUTF8 { set(bytes: UnsafeRawBufferPointer($0), at: slot) }
    case .bytes(let data):
      data.withUnsafeBytes { set(bytes: $0, at: slot) }
    case .toOne(let primaryKey, let entityNumber):
      set(primaryKey, at: slot)
      if slot.kind == .toOnePolymorphic { set(entityNumber: entityNumber, at: slot) }
    }
  }

  /// Sets a slot to `nil`, and its bytes to 0: accessors of nonoptional numbers read only these.
  mutating func setNull(_ slot: RowSlot) {
    buffer.storeBytes(of: 0, toByteOffset: slot.offset, as: Int64.self)
    let offset = Row.headerSize + (slot.index >> 6) * 8
    let word = buffer.load(fromByteOffset: offset, as: UInt64.self)
    buffer.storeBytes(
      of: word | (1 << UInt64(slot.index & 63)), toByteOffset: offset, as: UInt64.self)
  }

  /// Returns the finished row with a reference count of one, which the caller owns.
  mutating func finish(version: Int64, immortal: Bool = false) -> Row {
    buffer.storeBytes(of: Int32(layoutIndex), toByteOffset: 8, as: Int32.self)
    buffer.storeBytes(of: version, toByteOffset: 16, as: Int64.self)
    return Row(
      copying: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[0..<used]),
      immortal: immortal)
  }

  private mutating func markSet(_ slot: RowSlot) {
    let offset = Row.headerSize + (slot.index >> 6) * 8
    let word = buffer.load(fromByteOffset: offset, as: UInt64.self)
    buffer.storeBytes(
      of: word & ~(1 << UInt64(slot.index & 63)), toByteOffset: offset, as: UInt64.self)
  }

  private mutating func reserve(_ count: Int) {
    guard used + count > buffer.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(used + count, buffer.count * 2), alignment: 8)
    larger.copyMemory(
      from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[0..<used]))
    buffer.deallocate()
    buffer = larger
  }
}
