import ManagedModel

/// What an object holds beside its row: one place for each slot, to-many and transient property.
///
/// Values that are changed say so; the others are decoded or related values kept to be read again.
final class ObjectValues {
  @exclusivity(unchecked) private var held: ContiguousArray<HeldValue>
  @exclusivity(unchecked) private var changed: ContiguousArray<Bool>

  init(count: Int) {
    held = ContiguousArray(repeating: .none, count: count)
    changed = ContiguousArray(repeating: false, count: count)
  }

  subscript(index: Int) -> HeldValue {
    held[index]
  }

  /// Whether the value at that place differs from the row's.
  func isChanged(_ index: Int) -> Bool {
    changed[index]
  }

  /// Keeps a value that follows from the row.
  func keep(_ value: HeldValue, at index: Int) {
    held[index] = value
  }

  /// Takes a value that replaces the row's.
  func change(_ value: HeldValue, at index: Int) {
    held[index] = value
    changed[index] = true
  }

  /// Says that every value is the row's now; what is held stays held.
  func settle() {
    for index in changed.indices { changed[index] = false }
  }

  /// Takes a change back.
  func forget(_ index: Int) {
    held[index] = .none
    changed[index] = false
  }

  /// Drops what follows from the store and keeps what was changed, and the transients from
  /// `firstTransient` on.
  func forgetUnchanged(firstTransient: Int) {
    for index in 0..<firstTransient where !changed[index] {
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
  case string(String)
  case object(NSManagedObject)
  case toMany(ToManyValue)
}
