import ManagedModel
import Synchronization

/// The position of each property of an entity in a row, in an object, and in a SELECT.
///
/// Created once for each entity of a model that a coordinator uses; `entity.runtimeLayout` retains
/// it. It's the layout of the rows of a coordinator's first store; each further one has a variant,
/// `at(_:)`, which differs only in its indexes, so that two rows of one key in two stores are never
/// confused. Immutable, so objects of any context read it without a lock.
@usableFromInline
final class EntityLayout: @unchecked Sendable {  // immutable after init
  /// Retained, so that an object can outlive its model.
  ///
  /// The entity's reference to this layout is released with the model, which breaks the cycle.
  let entity: NSEntityDescription
  /// Its name, which is slower to read from the entity.
  let entityName: String
  /// The index in its coordinator of the store that contains the rows, from 0.
  let storeIndex: Int
  /// The index in the model's order of entities; the same in every store.
  let modelIndex: Int
  /// An index that is unique in the family.
  let index: Int
  /// A number that is unique in the process; positive.
  let number = EntityLayout.numbers.add(1, ordering: .relaxed).newValue
  /// The index of the root entity in its store: primary keys are unique within a root entity.
  let rootIndex: Int
  /// The store's offset of root indexes.
  let rootOffset: Int
  /// Persistent attributes and to-one relationships, in the order of `slotProperties`.
  let slots: [RowSlot]
  /// Their names, which are slower to read from the properties.
  let slotNames: [String]
  /// The slots whose values can be in external storage.
  let externalSlots: [RowSlot]
  /// The relationships that an object has values of, sorted by name.
  let relationships: [NSRelationshipDescription]
  let toMany: [NSRelationshipDescription]
  /// Whether one of them is ordered.
  let hasLists: Bool
  /// The names of the relationships that contain objects of this entity without a slot in their
  /// rows: the inverses of many-to-manys, and to-manys without an inverse.
  let listings: [String]
  /// The stored composite attributes; each leaf of them has a slot.
  let composites: [NSCompositeAttributeDescription]
  /// Properties stored only in the object: transient attributes and to-ones, and to-ones without a
  /// destination.
  let transients: [NSPropertyDescription]
  /// Their default values.
  let transientDefaults: [Any?]
  /// The uniqueness constraints, including inherited ones.
  let constraints: [UniquenessConstraint]
  /// The bytes of a row before its strings and data.
  let fixedSize: Int
  /// A row of nils, for faults.
  ///
  /// Never counted or freed.
  let faultRow: Row
  /// The model's default values, for new objects.
  ///
  /// Never counted or freed.
  let defaultRow: Row
  /// The class of this entity's objects.
  let objectClass: NSManagedObject.Type
  /// The slots for accessors in other modules.
  @usableFromInline let slotTable: SlotTable
  /// The initial state of objects of `objectClass`.
  private let objectState: ObjectState
  /// That class's own accessors by key; `nil` if it has none.
  let accessors: [String: KeyedAccessor]?
  /// Whether that class is a custom class, which may override methods that the framework calls.
  let hasOwnClass: Bool
  /// The validation rules of the values.
  let rules: ValidationRules
  /// Whether fulfilling an object decodes transformable values.
  let hasTransformers: Bool
  /// The transformers of transformable attributes, by slot.
  private let transformers: [AttributeTransformer?]
  private let positions: NameTable
  private static let numbers = Atomic<UInt32>(0)
  /// Retains the slots' properties: slots don't, and an entity doesn't retain its superentity's.
  private let properties: [NSPropertyDescription]

  /// Identifies the layouts of one model.
  let family: LayoutFamily
  /// The layouts for further stores, by index; used only in the first store's layout.
  private let variants = Mutex<[Int: EntityLayout]>([:])

  /// Creates the layout of an entity.
  ///
  /// - Parameters:
  ///   - modelIndex: The index of the entity in the model.
  ///   - rootIndex: The index of its root entity in the model.
  init(
    entity: NSEntityDescription, modelIndex: Int, rootIndex: Int, storeIndex: Int = 0,
    objectClass: NSManagedObject.Type, family: LayoutFamily
  ) {
    (self.entity, entityName) = (entity, entity.name ?? "")
    self.family = family
    self.storeIndex = storeIndex
    self.modelIndex = modelIndex
    index = storeIndex * family.entityCount + modelIndex
    rootOffset = storeIndex * family.rootCount
    self.rootIndex = rootOffset + rootIndex
    self.objectClass = objectClass
    self.hasOwnClass = objectClass != NSManagedObject.self
    let geometry = SlotGeometry(entity)
    self.properties = geometry.properties
    let slots = zip(geometry.properties, geometry.offsets).enumerated().map {
      RowSlot(property: $1.0, index: $0, offset: $1.1)
    }
    self.slots = slots
    slotNames = slots.map(\.name)
    externalSlots = slots.filter { $0.kind == .external }
    self.fixedSize = geometry.fixedSize
    let relationships = entity.relationshipsByName.values.sortedByName()
    self.toMany = relationships.filter(\.isToMany)
    self.hasLists = toMany.contains(where: \.isOrdered)
    self.listings = Self.listings(of: entity, toMany, family)
    self.transients = entity.propertiesByName.values.filter(Self.isStoredOnlyInObject)
      .sortedByName()
    self.transientDefaults = transients.map(Self.defaultValue)
    self.composites = entity.attributesByName.values
      .compactMap { $0 as? NSCompositeAttributeDescription }
      .filter { !$0.isTransient }.sortedByName()
    let positions = Self.positions(slots, toMany, transients: transients, composites: composites)
    self.relationships = relationships.filter { positions[$0.name] != nil }
    self.positions = NameTable(positions)
    self.slotTable = SlotTable(slots)
    self.accessors = Self.accessors(of: objectClass)
    constraints = UniquenessConstraint.all(of: entity) { name in
      slots.first { $0.name == name }?.index
    }
    self.transformers = properties.map {
      ($0 as? NSAttributeDescription).flatMap(AttributeTransformer.init)
    }
    self.hasTransformers = transformers.contains { $0 != nil }
    self.objectState = Self.state(
      of: objectClass, with: slots, hasTransformers: hasTransformers)
    self.rules = ValidationRules(
      slots: slots, toMany: toMany, composites: composites, transients: transients)
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

  private static func listings(
    of entity: NSEntityDescription, _ toMany: [NSRelationshipDescription], _ family: LayoutFamily
  ) -> [String] {
    let otherEnds = toMany.compactMap(\.inverseRelationship).filter(\.isToMany)
    let oneWay = family.oneWayLists.filter { list in
      list.destinationEntity.map { entity.isKind(of: $0) } ?? false
    }
    return Set((otherEnds + oneWay).map(\.name)).sorted()
  }

  /// Returns the initial state of objects of a class whose entity has these slots.
  private static func state(
    of objectClass: NSManagedObject.Type, with slots: [RowSlot], hasTransformers: Bool
  ) -> ObjectState {
    let isAsGenerated =
      ManagedObjectClasses.slots(of: objectClass).map { $0.allSatisfy { $0.matches(slots) } }
      ?? false
    let state = state(of: objectClass, hasTransformers: hasTransformers)
    return isAsGenerated ? state.union(.fixedSlots) : state
  }

  /// Returns the initial state that follows from the methods which a class overrides.
  private static func state(
    of objectClass: NSManagedObject.Type, hasTransformers: Bool
  ) -> ObjectState {
    var state: ObjectState = []
    if MethodOverrides.ofChanges.mayExist(in: objectClass) { state.insert(.reportsChanges) }
    if hasTransformers || MethodOverrides.ofAwaking.mayExist(in: objectClass) {
      state.insert(.awakes)
    }
    return state
  }

  /// Returns the accessors of a class by key, the last one of each; `nil` if it has none.
  private static func accessors(of type: NSManagedObject.Type) -> [String: KeyedAccessor]? {
    let listed = type.keyedAccessors
    return listed.isEmpty ? nil : Dictionary(listed.map { ($0.key, $0) }) { _, last in last }
  }

  /// Returns the default value of a transient property, as the Swift type of its attribute.
  private static func defaultValue(of property: NSPropertyDescription) -> Any? {
    guard let attribute = property as? NSAttributeDescription, let value = attribute.defaultValue
    else { return nil }
    let kind = RowSlot.Kind(attribute.attributeType)
    return RowValue(value, kind: kind)?.value(kind) ?? value
  }

  private static func positions(
    _ slots: [RowSlot], _ toMany: [NSRelationshipDescription],
    transients: [NSPropertyDescription], composites: [NSCompositeAttributeDescription]
  ) -> [String: PropertyPosition] {
    var positions: [String: PropertyPosition] = [:]
    for slot in slots { positions[slot.name] = .slot(slot.index) }
    for (number, relationship) in toMany.enumerated() {
      positions[relationship.name] = .toMany(number)
    }
    for (number, property) in transients.enumerated() {
      positions[property.name] = .transient(number)
    }
    for (number, attribute) in composites.enumerated() {
      positions[attribute.name] = .composite(number)
    }
    return positions
  }

  private static func isStoredOnlyInObject(_ property: NSPropertyDescription) -> Bool {
    guard let relationship = property as? NSRelationshipDescription else {
      return property is NSAttributeDescription && property.isTransient
    }
    return !relationship.isToMany
      && (relationship.isTransient || relationship.destinationEntity == nil)
  }

  deinit {
    slotTable.free()
    positions.free()
    faultRow.freeImmortal()
    defaultRow.freeImmortal()
  }

  /// Returns the layout of the same entity in another of a coordinator's stores.
  ///
  /// Any thread may call it.
  func at(_ storeIndex: Int) -> EntityLayout {
    if storeIndex == self.storeIndex { return self }
    let first = EntityLayout.of(entity)
    if storeIndex == 0 { return first }
    return first.variants.withLock { variants in
      if let known = variants[storeIndex] { return known }
      let made = EntityLayout(
        entity: entity, modelIndex: modelIndex, rootIndex: rootIndex - rootOffset,
        storeIndex: storeIndex,
        objectClass: objectClass, family: family)
      variants[storeIndex] = made
      return made
    }
  }

  /// Creates an object of the layout's class without a context.
  func makeObject() -> NSManagedObject {
    let object = objectClass.init(entity: entity, insertInto: nil)
    if storeIndex != 0 { object.layout = self }
    return object
  }

  /// Returns the position of a property by name; `nil` if the entity has no such property.
  func position(of name: String) -> PropertyPosition? {
    positions[name]
  }

  /// Returns the state determined by an object's class: whether it uses fixed slots, whether it's
  /// notified of changed properties, and whether fulfilling it takes more than its row.
  ///
  /// A class other than the entity's own may have been generated from another entity.
  func initialState(of type: NSManagedObject.Type) -> ObjectState {
    if type == objectClass { return objectState }
    return Self.state(of: type, hasTransformers: hasTransformers)
  }

  /// Returns the transformer of a transformable slot; `nil` if its values are bytes.
  func transformer(_ slot: RowSlot) -> AttributeTransformer? {
    transformers[slot.index]
  }

  /// Returns a slot's value in a row, decoded if it's transformable.
  func value(_ slot: RowSlot, in row: Row) -> Any? {
    decoded(row.value(slot), slot)
  }

  /// Returns a slot's value from its raw form, decoded if it's transformable.
  func value(_ slot: RowSlot, of raw: RowValue) -> Any? {
    decoded(raw.value(slot.kind), slot)
  }

  private func decoded(_ value: Any?, _ slot: RowSlot) -> Any? {
    guard slot.kind == .transformable || slot.kind == .external, let bytes = value as? Data,
      let transformer = transformer(slot)
    else { return value }
    return transformer.decode(bytes)
  }

  /// The number of values an object can store in addition to its row.
  var positionCount: Int {
    slots.count + toMany.count + transients.count
  }

  /// The first position of a transient attribute.
  var firstTransient: Int {
    slots.count + toMany.count
  }

  /// Returns the position of a property among the values that an object stores in addition to its
  /// row.
  func valueIndex(_ position: PropertyPosition) -> Int {
    switch position {
    case .slot(let index): index
    case .toMany(let index): slots.count + index
    case .transient(let index): slots.count + toMany.count + index
    case .composite: fatalError("a composite attribute has no slot")
    }
  }
}

/// The position of a property's value.
enum PropertyPosition: Hashable {
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
  /// Returns the value of a composite attribute; `nil` if all its leaves are `nil`.
  ///
  /// - Parameter value: Returns the value of a leaf's slot.
  func gathered(_ composite: Int, _ value: (RowSlot) -> Any?) -> [String: Any]? {
    composites[composite].gathered { path in slot(at: path).flatMap(value) }
  }

  /// Returns the slots of a composite attribute's leaves with the values for them.
  ///
  /// - Throws: An error for a value that isn't valid for the attribute.
  func spread(
    _ value: Any?, over composite: Int
  ) throws(CompositeValueError) -> [(slot: RowSlot, value: Any?)] {
    try composites[composite].spread(value).compactMap { leaf in
      slot(at: leaf.path).map { ($0, leaf.value) }
    }
  }

  /// Returns values by property, with each composite's leaves gathered under its name.
  ///
  /// - Parameter values: By slot; `nil` is `NSNull`, even for a group.
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

  /// Returns the name of the property that a slot belongs to: for a leaf, that of its composite
  /// attribute.
  func propertyName(_ slot: RowSlot) -> String {
    guard !composites.isEmpty, let point = slot.name.firstIndex(of: "."),
      case .composite? = position(of: String(slot.name[..<point]))
    else { return slot.name }
    return String(slot.name[..<point])
  }

  private func slot(at path: String) -> RowSlot? {
    guard case .slot(let index)? = position(of: path) else { return nil }
    return slots[index]
  }
}
