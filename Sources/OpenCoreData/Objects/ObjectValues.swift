import ManagedModel

/// What an object holds beside its row: one place for each slot, to-many and transient property.
///
/// Values that are changed say so; the others are decoded or related values kept to be read again.
/// Texts that were read lie apart, where accessors in other modules can read them in place. Each kind
/// of storage is made when the first value of its kind comes.
@usableFromInline
final class ObjectValues {
  private let count: Int
  /// Empty until a value is kept that is no text.
  @exclusivity(unchecked) private var held: ContiguousArray<HeldValue> = []
  /// Empty until a value is changed.
  @exclusivity(unchecked) private var changed: ContiguousArray<Bool> = []
  /// The decoded texts of a property's place, changed or not; nil where none was read.
  @usableFromInline @exclusivity(unchecked) private(set) var texts: UnsafeMutablePointer<String?>?
  /// What had been changed when the present event began; nil when nothing had.
  @exclusivity(unchecked) private(set) var earlier: EarlierValues?
  /// The destinations of relationships between `willChangeValue` and `didChangeValue`, by place.
  @exclusivity(unchecked) var beingChanged: [Int: Set<NSManagedObject>]?

  init(count: Int) {
    self.count = count
  }

  deinit {
    texts?.deinitialize(count: count)
    texts?.deallocate()
  }

  subscript(index: Int) -> HeldValue {
    if !held.isEmpty {
      let value = held[index]
      if case .none = value {} else { return value }
    }
    if let text = texts?[index] { return .string(text) }
    return .none
  }

  /// Whether the value at that place differs from the row's.
  func isChanged(_ index: Int) -> Bool {
    !changed.isEmpty && changed[index]
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
    let cells = texts ?? makeTexts()
    cells[index] = text
    return UnsafePointer(cells + index)
  }

  /// Takes a value that replaces the row's.
  func change(_ value: HeldValue, at index: Int) {
    hold(value, at: index)
    if changed.isEmpty { changed = ContiguousArray(repeating: false, count: count) }
    changed[index] = true
  }

  /// Remembers what has been changed so far, because an event begins.
  func beginEvent() {
    earlier = changed.contains(true) ? EarlierValues(held: held, changed: changed) : nil
    for case .toMany(let value) in held { value.beginEvent() }
  }

  /// Says that every value is the row's now; what is held stays held.
  func settle() {
    earlier = nil
    changed = []
  }

  /// Says that one value is the row's now.
  func settle(_ index: Int) {
    if !changed.isEmpty { changed[index] = false }
  }

  /// Takes a change back.
  func forget(_ index: Int) {
    texts?[index] = nil
    if !held.isEmpty { held[index] = .none }
    if !changed.isEmpty { changed[index] = false }
  }

  /// Drops what follows from the store and keeps what was changed, and the transients from
  /// `firstTransient` on.
  func forgetUnchanged(firstTransient: Int) {
    for index in 0..<firstTransient where !isChanged(index) {
      texts?[index] = nil
      guard !held.isEmpty else { continue }
      if case .toMany(let value) = held[index], value.hasChanges {
        value.unfire()
      } else {
        held[index] = .none
      }
    }
  }

  /// Drops the objects of relationships, changed or not.
  func forgetObjects() {
    for index in held.indices {
      switch held[index] {
      case .object, .toMany: forget(index)
      default: break
      }
    }
  }

  /// Whether an object of a relationship is held, so that letting go of this one may free more.
  var holdsObjects: Bool {
    held.contains { value in
      switch value {
      case .object, .toMany: true
      default: false
      }
    }
  }

  private func hold(_ value: HeldValue, at index: Int) {
    texts?[index] = nil
    if held.isEmpty { held = ContiguousArray(repeating: .none, count: count) }
    held[index] = value
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
  case value(Any)
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
  let changed: ContiguousArray<Bool>
}
