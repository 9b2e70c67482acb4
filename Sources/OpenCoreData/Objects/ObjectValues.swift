import ManagedModel

/// The values that an object stores in addition to its row: one position for each slot, to-many,
/// and transient property.
///
/// Changed values are marked; the others are cached decoded or related values. Strings that were
/// read are separate, so that accessors in other modules can read them directly. Each kind of
/// storage is allocated for its first value.
@usableFromInline
final class ObjectValues {
  private let count: Int
  /// `count` values; `nil` until one is stored that isn't a string.
  @exclusivity(unchecked) private var cells: UnsafeMutablePointer<ObjectValue>?
  @exclusivity(unchecked) private var changed = SlotSet()
  /// The decoded strings by position, changed or not; `nil` where none was read.
  @usableFromInline @exclusivity(unchecked) private(set) var texts: UnsafeMutablePointer<String?>?
  /// The changes when the current event began; `nil` if there were none.
  @exclusivity(unchecked) private(set) var earlier: EarlierValues?
  /// The destinations of relationships between `willChangeValue` and `didChangeValue`, by position.
  @exclusivity(unchecked) var beingChanged: [Int: Set<NSManagedObject>]?

  /// The former store of an object that has left its context, for its object ID.
  var formerStore: StoreHandle?

  /// The cached results of fetched properties.
  @exclusivity(unchecked) var fetched: [String: [Any]]?

  init(count: Int) {
    self.count = count
  }

  deinit {
    cells?.deinitialize(count: count)
    cells?.deallocate()
    texts?.deinitialize(count: count)
    texts?.deallocate()
  }

  subscript(index: Int) -> ObjectValue {
    checkPosition(index)
    if let value = cells?[index] {
      if case .none = value {} else { return value }
    }
    if let text = texts?[index] { return .string(text) }
    return .none
  }

  /// Returns the address of a position's changed value, valid until its next change; `nil` if it's
  /// the row's.
  @inline(__always)
  func changedValue(_ index: Int) -> UnsafePointer<ObjectValue>? {
    guard changed.contains(index), let cells else { return nil }
    return UnsafePointer(cells + index)
  }

  /// Returns whether the value at a position differs from the row's.
  @inline(__always)
  func isChanged(_ index: Int) -> Bool {
    changed.contains(index)
  }

  /// Caches a value derived from the row.
  func keep(_ value: ObjectValue, at index: Int) {
    if case .string(let text) = value {
      keepText(text, at: index)
    } else {
      store(value, at: index)
    }
  }

  /// Caches the string of a position, and returns its address.
  @discardableResult
  func keepText(_ text: String, at index: Int) -> UnsafePointer<String?> {
    checkPosition(index)
    let cells = texts ?? makeTexts()
    cells[index] = text
    return UnsafePointer(cells + index)
  }

  /// Stores a value that replaces the row's.
  ///
  /// The old value is released last: nothing here is used after its `deinit` may have run.
  @inline(__always)
  func change(_ value: ObjectValue, at index: Int) {
    changed.insert(index)
    store(value, at: index)
  }

  /// Records the changes so far, because an event begins.
  func beginEvent() {
    let values = UnsafeBufferPointer(start: cells, count: cells == nil ? 0 : count)
    earlier =
      changed.isEmpty ? nil : EarlierValues(cells: ContiguousArray(values), changed: changed)
    for case .toMany(let value) in values { value.beginEvent() }
  }

  /// Marks all values as unchanged; cached values stay.
  func markSaved() {
    earlier = nil
    changed.removeAll()
  }

  /// Undoes a change.
  func forget(_ index: Int) {
    checkPosition(index)
    texts?[index] = nil
    cells?[index] = .none
    changed.remove(index)
  }

  /// Discards values derived from the store; keeps changed values, and the transients from
  /// `firstTransient` on.
  func forgetUnchanged(firstTransient: Int) {
    fetched = nil
    for index in 0..<firstTransient where !isChanged(index) {
      texts?[index] = nil
      guard let cells else { continue }
      if case .toMany(let value) = cells[index], value.hasChanges {
        value.turnIntoFault()
      } else {
        cells[index] = .none
      }
    }
  }

  /// Releases the objects of relationships, changed or not.
  func forgetObjects() {
    earlier = nil
    fetched = nil
    guard let cells else { return }
    for index in 0..<count {
      switch cells[index] {
      case .object, .toMany: forget(index)
      default: break
      }
    }
  }

  /// Whether an object of a relationship is retained, so that releasing this one may free more.
  var retainsObjects: Bool {
    if fetched != nil { return true }
    return UnsafeBufferPointer(start: cells, count: cells == nil ? 0 : count).contains { value in
      switch value {
      case .object, .toMany: true
      default: false
      }
    }
  }

  @inline(__always)
  private func store(_ value: ObjectValue, at index: Int) {
    checkPosition(index)
    if let texts { texts[index] = nil }
    let values = cells ?? makeCells()
    values[index] = value
  }

  private func makeCells() -> UnsafeMutablePointer<ObjectValue> {
    let values = UnsafeMutablePointer<ObjectValue>.allocate(capacity: count)
    values.initialize(repeating: .none, count: count)
    cells = values
    return values
  }

  @inline(__always)
  private func checkPosition(_ index: Int) {
    precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "no such position")
  }

  private func makeTexts() -> UnsafeMutablePointer<String?> {
    let cells = UnsafeMutablePointer<String?>.allocate(capacity: count)
    cells.initialize(repeating: nil, count: count)
    texts = cells
    return cells
  }
}

/// A value stored by an object.
enum ObjectValue {
  /// None: the row has the value.
  case none
  /// Set to `nil`.
  case null
  /// A changed attribute, in the form in which it's saved.
  case raw(RowValue)
  /// An attribute's value as its Swift type, decoded from the row or transient.
  ///
  /// Boxed: with an `Any` inside, copying any case would require value witness calls.
  indirect case value(Any)
  /// A string as it was read.
  case string(String)
  /// A transformable attribute that was set.
  case transformed(TransformedValue)
  case object(NSManagedObject)
  case toMany(ToManyValue)
}

/// The changed values of an object at an earlier time.
struct EarlierValues {
  let cells: ContiguousArray<ObjectValue>
  let changed: SlotSet
}

/// A set of an object's positions: bits of one word, and of further words for entities of more than
/// 64 properties.
struct SlotSet {
  private var first: UInt64 = 0
  /// The positions from 64 on.
  private var more: ContiguousArray<UInt64> = []

  var isEmpty: Bool {
    first == 0 && more.allSatisfy { $0 == 0 }
  }

  @inline(__always)
  func contains(_ position: Int) -> Bool {
    if position < 64 { return first &>> UInt64(position) & 1 != 0 }
    return containsBeyond(position)
  }

  private func containsBeyond(_ position: Int) -> Bool {
    let word = position / 64 - 1
    return word < more.count && more[word] >> UInt64(position % 64) & 1 != 0
  }

  @inline(__always)
  mutating func insert(_ position: Int) {
    if position < 64 {
      first |= 1 &<< UInt64(position)
    } else {
      insertBeyond(position)
    }
  }

  private mutating func insertBeyond(_ position: Int) {
    let word = position / 64 - 1
    while more.count <= word { more.append(0) }
    more[word] |= 1 << UInt64(position % 64)
  }

  mutating func remove(_ position: Int) {
    if position < 64 {
      first &= ~(1 << UInt64(position))
    } else if position / 64 - 1 < more.count {
      more[position / 64 - 1] &= ~(1 << UInt64(position % 64))
    }
  }

  mutating func removeAll() {
    first = 0
    more = []
  }
}
