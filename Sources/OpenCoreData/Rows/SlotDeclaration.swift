/// What a generated class expects of one slot of its entity.
///
/// Generated code registers the declarations of a class; see `registerClass(named:slots:)`.
public struct SlotDeclaration: Sendable {
  private let name: String
  private let place: SlotPlace
  private let kinds: SlotKinds

  init(name: String, place: SlotPlace, kinds: SlotKinds) {
    self.name = name
    self.place = place
    self.kinds = kinds
  }

  /// Whether the slot of that number is the one that is expected.
  func matches(_ slots: [RowSlot]) -> Bool {
    guard slots.indices.contains(place.index) else { return false }
    let slot = slots[place.index]
    // A type that reads no slot in place takes what the framework makes of any kind.
    return slot.name == name && slot.offset == place.offset
      && (kinds.isEmpty || !kinds.isDisjoint(with: SlotKinds(slot.kind)))
  }
}
