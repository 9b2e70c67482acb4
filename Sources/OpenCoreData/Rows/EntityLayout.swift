import ManagedModel
import Synchronization

/// Where each property of an entity lives: in a row, in an object, in a SELECT.
///
/// Made once for each entity of a model that a coordinator uses; `entity.runtimeLayout` holds it. It is
/// the layout of the rows of a coordinator's first store; for each further one there is a variant,
/// `at(_:)`, which differs in its indexes alone, so that two rows of one key in two stores are never
/// taken for one. Everything here is constant, so objects of any context read it without a lock.
@usableFromInline
final class EntityLayout: @unchecked Sendable {  // immutable after init
  /// Held, so that an object may outlive its model.
  ///
  /// The entity's reference to this layout goes with the model, which is what breaks the cycle.
  let entity: NSEntityDescription
  /// Which of its coordinator's stores the rows are in, from 0.
  let place: Int
  /// Counted from 0 in the model's order of entities; the same in every store.
  let modelIndex: Int
  /// Unlike that of any other layout of the family.
  let index: Int
  /// Unlike that of any other layout of the process; above 0.
  let number = EntityLayout.numbers.add(1, ordering: .relaxed).newValue
  /// The index of the root entity in its store: primary keys are unique below one root.
  let rootIndex: Int
  /// What a root's index has been raised by for the store.
  let rootOffset: Int
  /// Persistent attributes and to-one relationships, in the order of `slotProperties`.
  let slots: [RowSlot]
  /// Their names, which asking the properties for costs more.
  let slotNames: [String]
  /// The slots whose values may be in files beside the store.
  let externalSlots: [RowSlot]
  let toMany: [NSRelationshipDescription]
  /// Whether one of them is ordered.
  let hasLists: Bool
  /// The names of the relationships that list objects of this entity and are in no row of theirs: the
  /// other ends of many-to-manys, and to-manys without an inverse.
  let listings: [String]
  /// The stored attributes that are groups of values; each leaf of them has a slot.
  let composites: [NSCompositeAttributeDescription]
  /// What lives in the object alone: transient attributes and to-ones, and to-ones without a destination.
  let transients: [NSPropertyDescription]
  /// Their default values.
  let transientDefaults: [Any?]
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
  /// The initial state of objects of `objectClass`.
  private let objectState: ObjectState
  /// That class's own accessors by key; nil when it has none.
  let accessors: [String: KeyedAccessor]?
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
  /// The layouts for further stores, by place; those of the first store's layout alone are used.
  private let variants = Mutex<[Int: EntityLayout]>([:])

  /// Lays out one entity.
  ///
  /// - Parameters:
  ///   - modelIndex: Of the entity among the model's.
  ///   - rootIndex: Of its root entity among the model's.
  init(
    entity: NSEntityDescription, modelIndex: Int, rootIndex: Int, place: Int = 0,
    objectClass: NSManagedObject.Type, family: LayoutFamily
  ) {
    self.entity = entity
    self.family = family
    self.place = place
    self.modelIndex = modelIndex
    index = place * family.entityCount + modelIndex
    rootOffset = place * family.rootCount
    self.rootIndex = rootOffset + rootIndex
    self.objectClass = objectClass
    self.hasOwnClass = objectClass != NSManagedObject.self
    var slots: [RowSlot] = []
    let geometry = SlotGeometry(entity)
    self.properties = geometry.properties
    for (property, offset) in zip(geometry.properties, geometry.offsets) {
      slots.append(RowSlot(property: property, index: slots.count, offset: offset))
    }
    self.slots = slots
    slotNames = slots.map(\.name)
    externalSlots = slots.filter { $0.kind == .external }
    self.fixedSize = geometry.fixedSize
    self.toMany = entity.relationshipsByName.values.filter(\.isToMany).sorted { $0.name < $1.name }
    self.hasLists = toMany.contains(where: \.isOrdered)
    let otherEnds = toMany.compactMap(\.inverseRelationship).filter(\.isToMany)
    let oneWay = family.oneWayLists.filter { list in
      list.destinationEntity.map { entity.isKind(of: $0) } ?? false
    }
    self.listings = Set((otherEnds + oneWay).map(\.name)).sorted()
    self.transients = entity.propertiesByName.values.filter(Self.isHeldByObjectAlone)
      .sorted { $0.name < $1.name }
    self.transientDefaults = transients.map(Self.defaultValue)
    self.composites = entity.attributesByName.values
      .compactMap { $0 as? NSCompositeAttributeDescription }
      .filter { !$0.isTransient }.sorted { $0.name < $1.name }
    self.places = NameTable(
      Self.places(slots, toMany, transients: transients, composites: composites))
    self.slotTable = SlotTable(slots)
    self.objectState = Self.state(of: objectClass, with: slots)
    self.accessors = Self.accessors(of: objectClass)
    constraints = UniquenessConstraint.all(of: entity) { name in
      slots.first { $0.name == name }?.index
    }
    self.transformers = properties.map {
      ($0 as? NSAttributeDescription).flatMap(AttributeTransformer.init)
    }
    self.hasTransformers = transformers.contains { $0 != nil }
    self.rules = ValidationRules(slots: slots, toMany: toMany, composites: composites)
    var nulls = RowBuilder(slots: slots, fixedSize: geometry.fixedSize, layoutIndex: index)
    self.faultRow = nulls.finish(version: 0, immortal: true)
    for slot in slots {
      if let attribute = slot.property as? NSAttributeDescription,
        let value = attribute.defaultValue
      {
        let raw = transformers[slot.index]?.rawValue(of: value, isExternal: slot.kind == .external)
        nulls.set(raw ?? RowValue(value, kind: slot.kind) ?? .null, at: slot)
      }
    }
    self.defaultRow = nulls.finish(version: 0, immortal: true)
  }

  /// The initial state of objects of a class whose entity has these slots.
  private static func state(
    of objectClass: NSManagedObject.Type, with slots: [RowSlot]
  ) -> ObjectState {
    let isAsGenerated =
      ManagedObjectClasses.slots(of: objectClass).map { $0.allSatisfy { $0.matches(slots) } }
      ?? false
    let state: ObjectState = isAsGenerated ? .fixedSlots : []
    return MethodOverrides.ofChanges.mayExist(in: objectClass)
      ? state.union(.reportsChanges) : state
  }

  /// The accessors of a class by key, the last one of each; nil when it has none.
  private static func accessors(of type: NSManagedObject.Type) -> [String: KeyedAccessor]? {
    let listed = type.keyedAccessors
    return listed.isEmpty ? nil : Dictionary(listed.map { ($0.key, $0) }) { _, last in last }
  }

  /// The default value of a transient property, as the Swift type of its attribute.
  private static func defaultValue(of property: NSPropertyDescription) -> Any? {
    guard let attribute = property as? NSAttributeDescription, let value = attribute.defaultValue
    else { return nil }
    let kind = RowSlot.Kind(attribute.attributeType)
    return RowValue(value, kind: kind)?.value(kind) ?? value
  }

  private static func places(
    _ slots: [RowSlot], _ toMany: [NSRelationshipDescription],
    transients: [NSPropertyDescription], composites: [NSCompositeAttributeDescription]
  ) -> [String: PropertyPlace] {
    var places: [String: PropertyPlace] = [:]
    for slot in slots { places[slot.name] = .slot(slot.index) }
    for (number, relationship) in toMany.enumerated() {
      places[relationship.name] = .toMany(number)
    }
    for (number, property) in transients.enumerated() {
      places[property.name] = .transient(number)
    }
    for (number, attribute) in composites.enumerated() {
      places[attribute.name] = .composite(number)
    }
    return places
  }

  private static func isHeldByObjectAlone(_ property: NSPropertyDescription) -> Bool {
    guard let relationship = property as? NSRelationshipDescription else {
      return property is NSAttributeDescription && property.isTransient
    }
    return !relationship.isToMany
      && (relationship.isTransient || relationship.destinationEntity == nil)
  }

  deinit {
    slotTable.free()
    places.free()
    faultRow.freeImmortal()
    defaultRow.freeImmortal()
  }

  /// The layout of the same entity in another of a coordinator's stores.
  ///
  /// Any thread may call it.
  func at(_ place: Int) -> EntityLayout {
    if place == self.place { return self }
    let first = EntityLayout.of(entity)
    if place == 0 { return first }
    return first.variants.withLock { variants in
      if let known = variants[place] { return known }
      let made = EntityLayout(
        entity: entity, modelIndex: modelIndex, rootIndex: rootIndex - rootOffset, place: place,
        objectClass: objectClass, family: family)
      variants[place] = made
      return made
    }
  }

  /// A new object of the layout's class that is in no context.
  func makeObject() -> NSManagedObject {
    let object = objectClass.init(entity: entity, insertInto: nil)
    if place != 0 { object.layout = self }
    return object
  }

  /// Where the property of that name lives; nil when the entity has no such property.
  func place(of name: String) -> PropertyPlace? {
    places[name]
  }

  /// What is known of an object by its class: whether it reads and writes by fixed slots, and whether
  /// it's told what it sets.
  ///
  /// Another class than the entity's own may have been generated from another entity.
  func initialState(of type: NSManagedObject.Type) -> ObjectState {
    if type == objectClass { return objectState }
    return MethodOverrides.ofChanges.mayExist(in: type) ? .reportsChanges : []
  }

  /// The transformer of a transformable slot; nil when its values are bytes.
  func transformer(_ slot: RowSlot) -> AttributeTransformer? {
    transformers[slot.index]
  }

  /// A slot's value in a row, a transformable as its transformer makes it.
  func value(_ slot: RowSlot, in row: Row) -> Any? {
    decoded(row.value(slot), slot)
  }

  /// A slot's value in raw form as it is read, a transformable as its transformer makes it.
  func value(_ slot: RowSlot, of raw: RowValue) -> Any? {
    decoded(raw.value(slot.kind), slot)
  }

  private func decoded(_ value: Any?, _ slot: RowSlot) -> Any? {
    guard slot.kind == .transformable || slot.kind == .external, let bytes = value as? Data,
      let transformer = transformer(slot)
    else { return value }
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
    case .composite: preconditionFailure("a composite attribute has no slot")
    }
  }
}

/// The home of a property's value.
enum PropertyPlace: Hashable {
  /// In the row: a persistent attribute or a to-one relationship.
  case slot(Int)
  /// In the object: a to-many relationship.
  case toMany(Int)
  /// In the object: a transient attribute or to-one, or a to-one without a destination.
  case transient(Int)
  /// In the slots of its leaves: a composite attribute.
  case composite(Int)
}

extension EntityLayout {
  /// The value of a composite attribute; nil when all its leaves are nil.
  ///
  /// - Parameter value: The value of a leaf's slot.
  func gathered(_ composite: Int, _ value: (RowSlot) -> Any?) -> [String: Any]? {
    composites[composite].gathered { path in slot(at: path).flatMap(value) }
  }

  /// The slots of a composite attribute's leaves with the values that a value of it gives them.
  ///
  /// - Throws: An error for a value that is none of the attribute.
  func spread(
    _ value: Any?, over composite: Int
  ) throws(CompositeValueError) -> [(slot: RowSlot, value: Any?)] {
    try composites[composite].spread(value).compactMap { leaf in
      slot(at: leaf.path).map { ($0, leaf.value) }
    }
  }

  /// Values by property, with each composite's leaves gathered under its name.
  ///
  /// - Parameter values: By slot; nil is `NSNull`, for a group too.
  func gatheringComposites(_ values: [String: Any]) -> [String: Any] {
    guard !composites.isEmpty else { return values }
    var result = values
    for composite in composites {
      for leaf in composite.leaves { result[leaf.name] = nil }
      let group = composite.gathered { path in values[path].flatMap { $0 is NSNull ? nil : $0 } }
      result[composite.name] = group ?? NSNull()
    }
    return result
  }

  /// The name of the property that a slot belongs to: for a leaf that of its composite attribute.
  func propertyName(_ slot: RowSlot) -> String {
    guard !composites.isEmpty, let point = slot.name.firstIndex(of: "."),
      case .composite? = place(of: String(slot.name[..<point]))
    else { return slot.name }
    return String(slot.name[..<point])
  }

  private func slot(at path: String) -> RowSlot? {
    guard case .slot(let index)? = place(of: path) else { return nil }
    return slots[index]
  }
}
