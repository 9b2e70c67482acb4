/// A property of generated code: its name, and where its value lies in the rows of its entity.
///
///     static let rank = PropertySlot<Int64>(3, offset: 56, "rank")
///
/// For generated code alone: a wrong number is found out only when the slot is declared with the
/// class (`registerClass(named:slots:)`). Without that, and where the loaded entity has other slots,
/// the property is found by name. No Apple counterpart.
public struct PropertySlot<Value: ManagedValue>: Sendable {
  @usableFromInline let place: SlotPlace
  @usableFromInline let name: StaticString

  /// Says where the value lies.
  ///
  /// - Parameters:
  ///   - index: The slot's number.
  ///   - offset: Bytes from the beginning of a row.
  ///   - name: The property's name in the model.
  @inlinable @inline(__always)
  public init(_ index: Int, offset: Int, _ name: StaticString) {
    self.place = SlotPlace(index: index, offset: offset)
    self.name = name
  }

  /// What is expected of the loaded entity.
  public var declaration: SlotDeclaration {
    SlotDeclaration(name: name.description, place: place, kinds: Value.slotKinds)
  }
}
