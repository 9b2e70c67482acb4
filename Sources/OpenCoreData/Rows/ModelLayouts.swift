import ManagedModel
import Synchronization

/// The layouts of all entities of a model, created at its first use and retained by its entities.
enum ModelLayouts {
  private static let lock = Mutex<Void>(())

  /// Which classes the objects of a model have.
  enum Classes {
    /// Those that the model names.
    case named
    /// `NSManagedObject`.
    case plain
  }

  /// Freezes the model and creates its layouts; a second call does nothing.
  static func make(for model: NSManagedObjectModel, classes: Classes = .named) {
    lock.withLock { _ in
      guard model.entities.contains(where: { $0.runtimeLayout == nil }) else { return }
      model.freeze()
      let entities = model.entities.sortedByName()
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
          objectClass: classes == .plain
            ? ManagedObjectClasses.plain : ManagedObjectClasses.find(for: entity), family: family)
        entity.runtimeLayout = layout
        if layout.hasOwnClass { ManagedObjectClasses.note(entity, of: layout.objectClass) }
      }
    }
  }

  /// Returns a copy of a model whose objects are plain `NSManagedObject`s.
  static func plainCopy(of model: NSManagedObjectModel) -> NSManagedObjectModel {
    guard let copy = model.copy() as? NSManagedObjectModel else {
      fatalError("a copy of a model is a model")
    }
    make(for: copy, classes: .plain)
    return copy
  }
}

/// Represents a model in its layouts: comparing models costs a comparison of references.
final class LayoutFamily: Sendable {
  /// The number of entities in the model.
  let entityCount: Int
  /// The number of root entities.
  let rootCount: Int
  /// The to-many relationships without an inverse.
  let oneWayLists: [NSRelationshipDescription]

  init(entityCount: Int, rootCount: Int, oneWayLists: [NSRelationshipDescription]) {
    self.entityCount = entityCount
    self.rootCount = rootCount
    self.oneWayLists = oneWayLists
  }
}

extension EntityLayout {
  /// Returns the layout of an entity; it's a programmer error if it belongs to no model.
  @inline(__always)
  static func of(_ entity: borrowing NSEntityDescription) -> EntityLayout {
    // Set only by ModelLayouts.
    if let layout = entity.runtimeLayout { return unsafeDowncast(layout, to: EntityLayout.self) }
    return made(for: copy entity)
  }

  private static func made(for entity: NSEntityDescription) -> EntityLayout {
    guard let model = entity.managedObjectModel else {
      fatalError("the entity '\(entity.name ?? "")' belongs to no model")
    }
    ModelLayouts.make(for: model)
    guard let layout = entity.runtimeLayout else {
      fatalError("the entity '\(entity.name ?? "")' isn't among its model's entities")
    }
    return unsafeDowncast(layout, to: EntityLayout.self)
  }
}

/// Maps the entity IDs of a store to the layouts of its entities.
final class StoreLayouts: Sendable {
  /// The upper bound of the root indexes of the model's entities in this store, including those
  /// that the store can't contain: its rows may refer to such an entity.
  let rootCount: Int
  /// The store's index in its coordinator, from 0.
  let storeIndex: Int
  private let byNumber: [Int: EntityLayout]
  /// By the index of the entity in the model; 0 for entities that the store can't contain.
  private let numbers: [Int]

  /// Creates the map of a store.
  ///
  /// - Parameters:
  ///   - entities: The entities that the store can contain.
  ///   - model: The model, whose other entities only other stores can contain; `nil` if no
  ///     coordinator opens the store.
  init(
    _ entities: some Sequence<(number: Int, description: NSEntityDescription)>,
    of model: NSManagedObjectModel?, storeIndex: Int
  ) {
    self.storeIndex = storeIndex
    var byNumber: [Int: EntityLayout] = [:]
    for entity in entities {
      byNumber[entity.number] = EntityLayout.of(entity.description).at(storeIndex)
    }
    self.byNumber = byNumber
    let last = byNumber.values.map(\.modelIndex).max() ?? -1
    var numbers = [Int](repeating: 0, count: last + 1)
    for (number, layout) in byNumber { numbers[layout.modelIndex] = number }
    self.numbers = numbers
    let roots = model?.entities.count { $0.superentity == nil } ?? 0
    rootCount = roots * (storeIndex + 1)
  }

  /// Returns the layout of an entity ID; `nil` if the store can't contain it.
  func layout(entityNumber: Int) -> EntityLayout? {
    byNumber[entityNumber]
  }

  /// The layouts by the names of their entities.
  var byName: [String: EntityLayout] {
    Dictionary(
      byNumber.values.map { ($0.entity.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the entity ID of a layout's rows (`Z_ENT`); 0 if the store can't contain it.
  func entityNumber(_ layout: EntityLayout) -> Int {
    layout.modelIndex < numbers.count ? numbers[layout.modelIndex] : 0
  }

  /// Returns whether the store can contain objects of an entity.
  func contains(_ layout: EntityLayout) -> Bool {
    entityNumber(layout) != 0
  }
}
