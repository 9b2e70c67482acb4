import ManagedModel
import Synchronization

/// The layouts of all entities of a model, made at its first use and kept by its entities.
enum ModelLayouts {
  private static let lock = Mutex<Void>(())

  /// Freezes the model and lays out its entities; the second call does nothing.
  static func make(for model: NSManagedObjectModel) {
    lock.withLock { _ in
      guard model.entities.contains(where: { $0.runtimeLayout == nil }) else { return }
      model.freeze()
      let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
      let roots = entities.filter { $0.superentity == nil }
      let family = LayoutFamily(
        entityCount: entities.count, rootCount: roots.count,
        oneWayLists: entities.flatMap { entity in
          entity.relationshipsByName.values.filter { $0.isToMany && $0.inverseRelationship == nil }
        })
      for (index, entity) in entities.enumerated() {
        let root = entity.rootEntity
        let rootIndex = roots.firstIndex { $0 === root } ?? 0
        let layout = EntityLayout(
          entity: entity, modelIndex: index, rootIndex: rootIndex,
          objectClass: ManagedObjectClasses.find(for: entity), family: family)
        entity.runtimeLayout = layout
        if layout.hasOwnClass { ManagedObjectClasses.note(entity, of: layout.objectClass) }
      }
    }
  }
}

/// Stands for a model in its layouts: telling models apart costs a comparison of references.
final class LayoutFamily: Sendable {
  /// How many entities the model has.
  let entityCount: Int
  /// How many of them are roots.
  let rootCount: Int
  /// The to-manys without an inverse.
  let oneWayLists: [NSRelationshipDescription]

  init(entityCount: Int, rootCount: Int, oneWayLists: [NSRelationshipDescription]) {
    self.entityCount = entityCount
    self.rootCount = rootCount
    self.oneWayLists = oneWayLists
  }
}

extension EntityLayout {
  /// The layout of an entity; traps for one that belongs to no model.
  @inline(__always)
  static func of(_ entity: borrowing NSEntityDescription) -> EntityLayout {
    // Nobody but ModelLayouts sets it.
    if let layout = entity.runtimeLayout { return unsafeDowncast(layout, to: EntityLayout.self) }
    return made(for: copy entity)
  }

  private static func made(for entity: NSEntityDescription) -> EntityLayout {
    guard let model = entity.managedObjectModel else {
      preconditionFailure("the entity '\(entity.name ?? "")' belongs to no model")
    }
    ModelLayouts.make(for: model)
    guard let layout = entity.runtimeLayout else {
      preconditionFailure("the entity '\(entity.name ?? "")' is not among its model's entities")
    }
    return unsafeDowncast(layout, to: EntityLayout.self)
  }
}

extension NSEntityDescription {
  /// This entity and everything below it.
  var withSubentities: [NSEntityDescription] {
    [self] + subentities.flatMap(\.withSubentities)
  }

  /// The entity at the top of the hierarchy, whose table the rows live in.
  var rootEntity: NSEntityDescription {
    var entity = self
    while let parent = entity.superentity { entity = parent }
    return entity
  }
}

/// Connects the entity numbers of a store with the layouts of its entities.
final class StoreLayouts: Sendable {
  /// Root indexes of the store's rows are below this.
  let rootCount: Int
  /// Which of its coordinator's stores it is, from 0.
  let place: Int
  private let byNumber: [Int: EntityLayout]
  /// By the index of the entity in the model; 0 for entities that the store does not hold.
  private let numbers: [Int]

  init(_ entities: some Sequence<(number: Int, description: NSEntityDescription)>, place: Int) {
    self.place = place
    var byNumber: [Int: EntityLayout] = [:]
    for entity in entities {
      byNumber[entity.number] = EntityLayout.of(entity.description).at(place)
    }
    self.byNumber = byNumber
    let last = byNumber.values.map(\.modelIndex).max() ?? -1
    var numbers = [Int](repeating: 0, count: last + 1)
    for (number, layout) in byNumber { numbers[layout.modelIndex] = number }
    self.numbers = numbers
    rootCount = (byNumber.values.map(\.rootIndex).max() ?? -1) + 1
  }

  /// The layout of an entity number; nil for one the store does not hold.
  func layout(entityNumber: Int) -> EntityLayout? {
    byNumber[entityNumber]
  }

  /// The layouts by the names of their entities.
  var byName: [String: EntityLayout] {
    Dictionary(
      byNumber.values.map { ($0.entity.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The number that rows of that layout carry (`Z_ENT`); 0 for an entity the store does not hold.
  func entityNumber(_ layout: EntityLayout) -> Int {
    layout.modelIndex < numbers.count ? numbers[layout.modelIndex] : 0
  }

  /// Whether the store has room for objects of an entity.
  func holds(_ layout: EntityLayout) -> Bool {
    entityNumber(layout) != 0
  }
}
