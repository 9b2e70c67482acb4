import ManagedModel

/// What an object holds beside its row: one place for each slot, to-many and transient property.
///
/// Values that are changed say so; the others are decoded or related values kept to be read again.
/// Texts that were read lie apart, where accessors in other modules can read them in place. Each kind
/// of storage is made when the first value of its kind comes.
@usableFromInline
final class ObjectValues {
  private let count: Int
  /// `count` values; nil until one is kept that isn't a string.
  @exclusivity(unchecked) private var held: UnsafeMutablePointer<HeldValue>?
  @exclusivity(unchecked) private var changed = SlotSet()
  /// The decoded texts of a property's place, changed or not; nil where none was read.
  @usableFromInline @exclusivity(unchecked) private(set) var texts: UnsafeMutablePointer<String?>?
  /// What had been changed when the present event began; nil when nothing had.
  @exclusivity(unchecked) private(set) var earlier: EarlierValues?
  /// The destinations of relationships between `willChangeValue` and `didChangeValue`, by place.
  @exclusivity(unchecked) var beingChanged: [Int: Set<NSManagedObject>]?

  /// The store of an object that has left its context, which its object ID names.
  var formerStore: StoreHandle?

  /// What fetched properties have found.
  var fetched: [String: [Any]]?

  init(count: Int) {
    self.count = count
  }

  deinit {
    held?.deinitialize(count: count)
    held?.deallocate()
    texts?.deinitialize(count: count)
    texts?.deallocate()
  }

  subscript(index: Int) -> HeldValue {
    checkPlace(index)
    if let value = held?[index] {
      if case .none = value {} else { return value }
    }
    if let text = texts?[index] { return .string(text) }
    return .none
  }

  /// Where the changed value of that place lies, until it is changed again; nil when it is the row's.
  @inline(__always)
  func changedValue(_ index: Int) -> UnsafePointer<HeldValue>? {
    guard changed.contains(index), let held else { return nil }
    return UnsafePointer(held + index)
  }

  /// Whether the value at that place differs from the row's.
  @inline(__always)
  func isChanged(_ index: Int) -> Bool {
    changed.contains(index)
  }

  /// Keeps a value that follows from the row.
  func keep(_ value: HeldValue, at index: Int) {
    if case .string(let text) = value {
      keepText(text, at: index)
    } else {
      hold(value, at: index)
    }
  }

  /// Keeps the text of a place as it is read, and says where.
  @discardableResult
  func keepText(_ text: String, at index: Int) -> UnsafePointer<String?> {
    checkPlace(index)
    let cells = texts ?? makeTexts()
    cells[index] = text
    return UnsafePointer(cells + index)
  }

  /// Takes a value that replaces the row's.
  ///
  /// The old value is let go last: nothing here is used after what its `deinit` may do.
  func change(_ value: HeldValue, at index: Int) {
    changed.insert(index)
    hold(value, at: index)
  }

  /// Remembers what has been changed so far, because an event begins.
  func beginEvent() {
    let values = UnsafeBufferPointer(start: held, count: held == nil ? 0 : count)
    earlier =
      changed.isEmpty ? nil : EarlierValues(held: ContiguousArray(values), changed: changed)
    for case .toMany(let value) in values { value.beginEvent() }
  }

  /// Says that every value is the row's now; what is held stays held.
  func settle() {
    earlier = nil
    changed.removeAll()
  }

  /// Takes a change back.
  func forget(_ index: Int) {
    checkPlace(index)
    texts?[index] = nil
    held?[index] = .none
    changed.remove(index)
  }

  /// Drops what follows from the store and keeps what was changed, and the transients from
  /// `firstTransient` on.
  func forgetUnchanged(firstTransient: Int) {
    fetched = nil
    for index in 0..<firstTransient where !isChanged(index) {
      texts?[index] = nil
      guard let held else { continue }
      if case .toMany(let value) = held[index], value.hasChanges {
        value.turnIntoFault()
      } else {
        held[index] = .none
      }
    }
  }

  /// Drops the objects of relationships, changed or not.
  func forgetObjects() {
    earlier = nil
    fetched = nil
    guard let held else { return }
    for index in 0..<count {
      switch held[index] {
      case .object, .toMany: forget(index)
      default: break
      }
    }
  }

  /// Whether an object of a relationship is held, so that letting go of this one may free more.
  var holdsObjects: Bool {
    if fetched != nil { return true }
    return UnsafeBufferPointer(start: held, count: held == nil ? 0 : count).contains { value in
      switch value {
      case .object, .toMany: true
      default: false
      }
    }
  }

  private func hold(_ value: HeldValue, at index: Int) {
    checkPlace(index)
    if let texts { texts[index] = nil }
    let values = held ?? makeHeld()
    values[index] = value
  }

  private func makeHeld() -> UnsafeMutablePointer<HeldValue> {
    let values = UnsafeMutablePointer<HeldValue>.allocate(capacity: count)
    values.initialize(repeating: .none, count: count)
    held = values
    return values
  }

  @inline(__always)
  private func checkPlace(_ index: Int) {
    precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "no such place")
  }

  private func makeTexts() -> UnsafeMutablePointer<String?> {
    let cells = UnsafeMutablePointer<String?>.allocate(capacity: count)
    cells.initialize(repeating: nil, count: count)
    texts = cells
    return cells
  }
}

/// A value held by an object.
enum HeldValue {
  /// Nothing is held: the row tells.
  case none
  /// Set to nil.
  case null
  /// A changed attribute, in the form in which it is saved.
  case raw(RowValue)
  /// An attribute's value as its Swift type, decoded from the row or transient.
  ///
  /// Boxed: with an `Any` inside, copying any case would go through a table of functions.
  indirect case value(Any)
  /// A text as it was read.
  case string(String)
  /// A transformable attribute that was set.
  case transformed(TransformedValue)
  case object(NSManagedObject)
  case toMany(ToManyValue)
}

/// The changed values of an object at an earlier time.
struct EarlierValues {
  let held: ContiguousArray<HeldValue>
  let changed: SlotSet
}

/// A set of places of an object: bits of one word, and of more words in entities of more than 64
/// properties.
struct SlotSet {
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
