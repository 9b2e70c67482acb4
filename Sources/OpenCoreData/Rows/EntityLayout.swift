import ManagedModel
import Synchronization

/// Where each property of an entity lives: in a row, in an object, in a SELECT.
///
/// Made once for each entity of a model that a coordinator uses; `entity.runtimeLayout` holds it.
/// Everything here is constant, so objects of any context read it without a lock.
@usableFromInline
final class EntityLayout: @unchecked Sendable {  // immutable after init
  /// Held, so that an object may outlive its model.
  ///
  /// The entity's reference to this layout goes with the model, which is what breaks the cycle.
  let entity: NSEntityDescription
  /// Counted from 0 in the model's order of entity numbers; the same in every coordinator.
  let index: Int
  /// Unlike that of any other layout of the process; above 0.
  let number = EntityLayout.numbers.add(1, ordering: .relaxed).newValue
  /// The index of the root entity: primary keys are unique below one root.
  let rootIndex: Int
  /// Persistent attributes and to-one relationships, in the order of `slotProperties`.
  let slots: [RowSlot]
  /// The slots whose values may be in files beside the store.
  let externalSlots: [RowSlot]
  let toMany: [NSRelationshipDescription]
  /// Whether one of them is ordered.
  let hasLists: Bool
  /// Transient attributes live in the object alone.
  let transients: [NSAttributeDescription]
  /// The uniqueness constraints, inherited ones included.
  let constraints: [UniquenessConstraint]
  /// Bytes of a row before its texts and blobs.
  let fixedSize: Int
  /// All values nil; what a fault shows.
  ///
  /// Never counted, never freed.
  let faultRow: Row
  /// The model's default values; what a new object shows.
  ///
  /// Never counted, never freed.
  let defaultRow: Row
  /// The class of this entity's objects.
  let objectClass: NSManagedObject.Type
  /// The slots as accessors in other modules find them.
  @usableFromInline let slotTable: SlotTable
  /// Whether the slots lie where generated accessors of `objectClass` look for them.
  private let isAsGenerated: Bool
  /// Whether that class is the application's, which may have overridden what the framework calls.
  let hasOwnClass: Bool
  /// What the model demands of the values.
  let rules: ValidationRules
  /// Whether filling an object turns bytes into values.
  let hasTransformers: Bool
  /// The transformers of transformable attributes, by slot.
  private let transformers: [AttributeTransformer?]
  private let places: NameTable
  private static let numbers = Atomic<UInt32>(0)
  /// Held for the slots, which do not count them: an entity does not hold its superentity's.
  private let properties: [NSPropertyDescription]

  /// The same for the layouts of one model, and for no other.
  let family: LayoutFamily

  /// Lays out one entity.
  init(
    entity: NSEntityDescription, index: Int, rootIndex: Int, objectClass: NSManagedObject.Type,
    family: LayoutFamily
  ) {
    self.entity = entity
    self.family = family
    self.index = index
    self.rootIndex = rootIndex
    self.objectClass = objectClass
    self.hasOwnClass = objectClass != NSManagedObject.self
    var slots: [RowSlot] = []
    let geometry = SlotGeometry(entity)
    self.properties = geometry.properties
    for (property, offset) in zip(geometry.properties, geometry.offsets) {
      slots.append(RowSlot(property: property, index: slots.count, offset: offset))
    }
    self.slots = slots
    externalSlots = slots.filter { $0.kind == .external }
    self.fixedSize = geometry.fixedSize
    self.toMany = entity.relationshipsByName.values.filter(\.isToMany).sorted { $0.name < $1.name }
    self.hasLists = toMany.contains(where: \.isOrdered)
    self.transients = entity.attributesByName.values.filter(\.isTransient)
      .sorted { $0.name < $1.name }
    var places: [String: PropertyPlace] = [:]
    for slot in slots { places[slot.name] = .slot(slot.index) }
    for (number, relationship) in toMany.enumerated() {
      places[relationship.name] = .toMany(number)
    }
    for (number, attribute) in transients.enumerated() {
      places[attribute.name] = .transient(number)
    }
    self.places = NameTable(places)
    self.slotTable = SlotTable(slots)
    self.isAsGenerated =
      ManagedObjectClasses.slots(of: objectClass).map { $0.allSatisfy { $0.matches(slots) } }
      ?? false
    constraints = UniquenessConstraint.all(of: entity) { name in
      slots.first { $0.name == name }?.index
    }
    self.transformers = properties.map {
      ($0 as? NSAttributeDescription).flatMap(AttributeTransformer.init)
    }
    self.hasTransformers = transformers.contains { $0 != nil }
    self.rules = ValidationRules(slots: slots, toMany: toMany)
    var nulls = RowBuilder(slots: slots, fixedSize: geometry.fixedSize, layoutIndex: index)
    self.faultRow = nulls.finish(version: 0, immortal: true)
    for slot in slots {
      if let attribute = slot.property as? NSAttributeDescription,
        let value = attribute.defaultValue
      {
        nulls.set(RowValue(value, kind: slot.kind) ?? .null, at: slot)
      }
    }
    self.defaultRow = nulls.finish(version: 0, immortal: true)
  }

  deinit {
    slotTable.free()
    places.free()
    faultRow.freeImmortal()
    defaultRow.freeImmortal()
  }

  /// Where the property of that name lives; nil when the entity has no such property.
  func place(of name: String) -> PropertyPlace? {
    places[name]
  }

  /// Whether objects of that class read and write by fixed slots.
  ///
  /// Another class than the entity's own may have been generated from another entity.
  func hasFixedSlots(_ type: NSManagedObject.Type) -> Bool {
    isAsGenerated && type == objectClass
  }

  /// The transformer of a transformable slot; nil when its values are bytes.
  func transformer(_ slot: RowSlot) -> AttributeTransformer? {
    transformers[slot.index]
  }

  /// A slot's value in a row, a transformable as its transformer makes it.
  func value(_ slot: RowSlot, in row: Row) -> Any? {
    let value = row.value(slot)
    guard slot.kind == .transformable, let bytes = value as? Data,
      let transformer = transformer(slot)
    else { return value }
    return transformer.decode(bytes)
  }

  /// A slot's value in raw form as it is read, a transformable as its transformer makes it.
  func value(_ slot: RowSlot, of raw: RowValue) -> Any? {
    guard slot.kind == .transformable, case .bytes(let bytes) = raw,
      let transformer = transformer(slot)
    else { return raw.value(slot.kind) }
    return transformer.decode(bytes)
  }

  /// The number of values an object may hold beside its row.
  var placeCount: Int {
    slots.count + toMany.count + transients.count
  }

  /// The first of the places that belong to transient attributes.
  var firstTransient: Int {
    slots.count + toMany.count
  }

  /// The position of a property among the values an object holds beside its row.
  func holdingIndex(_ place: PropertyPlace) -> Int {
    switch place {
    case .slot(let index): index
    case .toMany(let index): slots.count + index
    case .transient(let index): slots.count + toMany.count + index
    }
  }
}

/// The home of a property's value.
enum PropertyPlace: Hashable {
  /// In the row: a persistent attribute or a to-one relationship.
  case slot(Int)
  /// In the object: a to-many relationship.
  case toMany(Int)
  /// In the object: a transient attribute.
  case transient(Int)
}
