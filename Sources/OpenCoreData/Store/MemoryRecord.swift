import ManagedModel

/// A row of a store in memory as predicates and sort descriptors see it.
///
/// Relationships lead to records; no object is made and no fault fires.
final class MemoryRecord: PredicateRecord {
  let row: MemoryRow
  private let reader: MemoryReader

  init(_ row: MemoryRow, _ reader: MemoryReader) {
    self.row = row
    self.reader = reader
  }

  func value(forKey key: String) -> Any? {
    let layout = row.layout
    switch layout.place(of: key) {
    case .slot(let index):
      let slot = layout.slots[index]
      return slot.kind.isToOne ? destination(slot) : layout.value(slot, in: row.row)
    case .toMany(let index):
      return predicateValue(at: UInt32(layout.slots.count + index)).carried
    case .composite(let index):
      return layout.gathered(index) { layout.value($0, in: row.row) }
    case .transient, nil:
      switch key {
      case "objectID": return objectID
      case "entity": return layout.entity
      case _ where key.hasPrefix(MemoryRecord.placeKey):
        return place(inInverseOf: String(key.dropFirst(MemoryRecord.placeKey.count)))
      default:
        if reader.unknownKey == nil { reader.unknownKey = (key, layout.entity.name ?? "") }
        return nil
      }
    }
  }

  var placesNumber: UInt32 { row.layout.number }

  func placeNumber(ofKey key: String) -> UInt32? {
    switch row.layout.place(of: key) {
    case .slot(let index): UInt32(index)
    case .toMany(let index): UInt32(row.layout.slots.count + index)
    case .transient, .composite, nil: nil
    }
  }

  func predicateValue(at place: UInt32) -> PredicateValue {
    let layout = row.layout
    let index = Int(place)
    guard index < layout.slots.count else {
      let relationship = layout.toMany[index - layout.slots.count]
      return .collection(
        PredicateCollection(
          destinations(relationship).map { .object(PredicateObject(reference: $0)) },
          isOrdered: relationship.isOrdered, isSet: true))
    }
    let slot = layout.slots[index]
    if slot.kind.isToOne {
      return destination(slot).map { .object(PredicateObject(reference: $0)) } ?? .null
    }
    return row.row.predicateValue(slot) ?? PredicateValue(layout.value(slot, in: row.row))
  }

  var referenceIdentity: AnyHashable { AnyHashable(objectID) }

  var hasStableIdentity: Bool { true }

  var objectID: NSManagedObjectID {
    NSManagedObjectID(layout: row.layout, primaryKey: row.primaryKey, store: reader.store)
  }

  /// Before the name of a to-one, it asks for the place in the list that leads here.
  static let placeKey = "Z_FOK_"

  private func place(inInverseOf name: String) -> Int? {
    guard case .slot(let index)? = row.layout.place(of: name) else { return nil }
    let slot = row.layout.slots[index]
    guard !row.row.isNull(slot), let inverse = slot.relationship.inverseRelationship,
      let entity = slot.relationship.destinationEntity
    else { return nil }
    let key = ToManyKey(
      rootIndex: EntityLayout.of(entity).rootIndex &+ row.layout.rootOffset,
      primaryKey: row.row.int64(slot),
      relationship: inverse.name)
    return reader.tables.links[key]?.firstIndex { $0.primaryKey == row.primaryKey }
  }

  private func destination(_ slot: RowSlot) -> MemoryRecord? {
    guard !row.row.isNull(slot), let entity = slot.relationship.destinationEntity else {
      return nil
    }
    let rootIndex = EntityLayout.of(entity).rootIndex &+ row.layout.rootOffset
    return reader.tables.row(rootIndex, row.row.int64(slot))
      .map { MemoryRecord($0, reader) }
  }

  private func destinations(_ relationship: NSRelationshipDescription) -> [MemoryRecord] {
    let key = ToManyKey(
      rootIndex: row.layout.rootIndex, primaryKey: row.primaryKey, relationship: relationship.name)
    return (reader.tables.links[key] ?? []).compactMap { identity in
      reader.tables.row(identity.layout.rootIndex, identity.primaryKey)
        .map { MemoryRecord($0, reader) }
    }
  }
}
