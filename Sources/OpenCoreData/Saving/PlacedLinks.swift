import ManagedModel

/// The places in ordered relationships that one save writes.
struct PlacedLinks {
  /// An owner's ordered relationship that is kept apart from its destinations' slots: pairs of a
  /// many-to-many, or columns of a relationship without inverse.
  struct Apart {
    let relationship: SQLToMany
    let owner: NSManagedObject
    let places: [(destination: NSManagedObject, place: Int64)]
  }

  /// A place in the column beside a to-one slot.
  private struct SlotKey: Hashable {
    let object: ObjectIdentifier
    let slot: Int
  }

  private var bySlot: [SlotKey: (object: NSManagedObject, slot: Int, place: Int64)] = [:]
  private var taken: Set<SlotKey> = []
  private(set) var apart: [Apart] = []

  /// Notes the place of an object in the inverse of one of its to-ones.
  mutating func put(_ object: NSManagedObject, at place: Int64, ofSlot slot: Int) {
    bySlot[SlotKey(object: ObjectIdentifier(object), slot: slot)] = (object, slot, place)
  }

  /// Notes the places of what one owner's relationship leads to.
  mutating func put(_ places: Apart) {
    apart.append(places)
  }

  /// The place of an object in the inverse of one of its to-ones; nil where it is in no list.
  func place(of object: NSManagedObject, slot: Int) -> Int64? {
    bySlot[SlotKey(object: ObjectIdentifier(object), slot: slot)]?.place
  }

  /// The place that is written with an object's own row, which needs no statement of its own then.
  mutating func take(_ object: NSManagedObject, slot: Int) -> Int64? {
    let key = SlotKey(object: ObjectIdentifier(object), slot: slot)
    guard let place = bySlot[key]?.place else { return nil }
    taken.insert(key)
    return place
  }

  /// The places that no row has taken along, in the order of the objects' keys.
  var left: [(object: NSManagedObject, slot: Int, place: Int64)] {
    bySlot.filter { !taken.contains($0.key) }.values
      .sorted { ($0.object.primaryKey, $0.slot) < ($1.object.primaryKey, $1.slot) }
  }
}
