import ManagedModel
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// The subentities Q and S of P declare a relationship `t` to T, each with an inverse of its own,
/// until P declares it.
@Suite("Lightweight migration of a relationship that subentities declared separately")
struct MergedRelationshipTests {
  enum Kind: CaseIterable, Sendable {
    case manyToMany
    case oneToMany
    case withoutInverse
    case oneToOne
    case manyToOne

    var isToMany: Bool { self != .oneToOne && self != .manyToOne }

    /// Whether the inverse is to-many; `nil` if there's none.
    var isInverseToMany: Bool? {
      switch self {
      case .manyToMany, .manyToOne: true
      case .oneToMany, .oneToOne: false
      case .withoutInverse: nil
      }
    }
  }

  private static func model(_ kind: Kind, isMerged: Bool) -> NSManagedObjectModel {
    let entities = ["P", "Q", "S", "T"].map { name in
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    let (parent, other) = (entities[0], entities[3])
    for entity in [parent, other] {
      entity.properties = [LightweightMigrationTests.attribute("name", .stringAttributeType)]
    }
    if isMerged {
      relate(parent, kind, other, "ps", former: "qs")
    } else {
      relate(entities[1], kind, other, "qs")
      relate(entities[2], kind, other, "ss")
    }
    parent.subentities = [entities[1], entities[2]]
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  private static func relate(
    _ owner: NSEntityDescription, _ kind: Kind, _ other: NSEntityDescription, _ inverse: String,
    former: String? = nil
  ) {
    let to = NSRelationshipDescription()
    (to.name, to.destinationEntity, to.isOptional) = ("t", other, true)
    (to.maxCount, to.isOrdered) = (kind.isToMany ? 0 : 1, kind.isToMany)
    owner.properties.append(to)
    guard let isToMany = kind.isInverseToMany else { return }
    let back = NSRelationshipDescription()
    (back.name, back.destinationEntity, back.isOptional) = (inverse, owner, true)
    (back.maxCount, back.isOrdered) = (isToMany ? 0 : 1, kind == .manyToOne)
    if let former { back.renamingIdentifier = former }
    (to.inverseRelationship, back.inverseRelationship) = (back, to)
    other.properties.append(back)
  }

  /// A store of the objects q, s, and t1 to t3, with their relationships `t`.
  private static func store(_ kind: Kind, _ links: [String: [String]]) throws -> MigratedStore {
    let store = try MigratedStore()
    let context = try store.open(model(kind, isMerged: false))
    try context.performAndWait {
      var objects: [String: NSManagedObject] = [:]
      for (entity, name) in [("Q", "q"), ("S", "s"), ("T", "t1"), ("T", "t2"), ("T", "t3")] {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        objects[name] = object
      }
      for (owner, others) in links {
        for other in others.compactMap({ objects[$0] }) {
          if kind.isToMany {
            objects[owner]?.mutableOrderedSetValue(forKey: "t").add(other)
          } else {
            objects[owner]?.setValue(other, forKey: "t")
          }
        }
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return store
  }

  /// The names of all objects of an entity, each with those at the end of a relationship.
  private static func links(
    _ name: String, of entity: String, _ context: NSManagedObjectContext
  ) throws -> [String] {
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(request).map { owner in
        let relationship = owner.entity.relationshipsByName[name]
        let others = relationship.map { owner.relatedObjects($0) } ?? []
        let names = ([owner] + others).map { $0.value(forKey: "name") as? String ?? "" }
        return names.joined(separator: " ")
      }
    }
  }

  /// A context of a copy of a store that a migration manager makes with the inferred mapping.
  private static func copy(
    of store: MigratedStore, from old: NSManagedObjectModel, to new: NSManagedObjectModel
  ) throws -> NSManagedObjectContext {
    let copy = store.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: old, destinationModel: new)
    try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
      from: store.url, type: .sqlite, options: nil, mapping: mapping, to: copy, type: .sqlite,
      options: nil)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
    try coordinator.addPersistentStore(type: .sqlite, at: copy)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test("A copy keeps the order of each list, although the inverses set the new one")
  func copiesKeepTheOrder() throws {
    let old = Self.model(.manyToOne, isMerged: false)
    let store = try MigratedStore()
    let context = try store.open(old)
    try context.performAndWait {
      let owner = context.make("T", ["name": "t"])
      for (entity, key) in [("Q", "qs"), ("S", "ss")] {
        let objects = [1, 2, 3].map { context.make(entity, ["name": "\(key)\($0)"]) }
        owner.setValue(NSOrderedSet(array: objects.reversed()), forKey: key)
      }
      try context.save()
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let copied = try Self.copy(of: store, from: old, to: Self.model(.manyToOne, isMerged: true))
    #expect(try Self.links("ps", of: "T", copied) == ["t qs3 qs2 qs1 ss3 ss2 ss1"])
  }

  @Test("The objects of all of them stay, in their order", arguments: Kind.allCases)
  func relationshipsAreMerged(_ kind: Kind) throws {
    let (old, new) = (Self.model(kind, isMerged: false), Self.model(kind, isMerged: true))
    let store = try Self.store(kind, ["q": ["t1"], "s": kind.isToMany ? ["t3", "t2"] : ["t2"]])
    let copied = try Self.copy(of: store, from: old, to: new)
    for context in [try store.open(new), copied] {
      #expect(
        try Self.links("t", of: "P", context) == ["q t1", kind.isToMany ? "s t3 t2" : "s t2"])
      guard kind.isInverseToMany != nil else { continue }
      #expect(
        try Self.links("ps", of: "T", context)
          == ["t1 q", "t2 s", kind.isToMany ? "t3 s" : "t3"])
    }
  }

  @Test("An object that would have two owners, but has one place, fails the migration")
  func sharedDestinationsHaveOnePlace() throws {
    for kind in [Kind.oneToMany, .withoutInverse, .oneToOne] {
      let store = try Self.store(kind, ["q": ["t1"], "s": ["t1"]])
      let bytes = try Data(contentsOf: store.url)
      let error = try #require(
        thrownError { try store.migrate(to: Self.model(kind, isMerged: true)) })
      #expect(error.code == NSMigrationError)
      #expect(
        error.localizedDescription.contains(
          "1 object is the destination of several objects in P.t"))
      #expect(try Data(contentsOf: store.url) == bytes)
    }
  }

  @Test("Objects that are ordered by two relationships get different order keys")
  func orderKeysAreDifferent() throws {
    let store = try Self.store(.manyToOne, ["q": ["t1"], "s": ["t1"]])
    try store.migrate(to: Self.model(.manyToOne, isMerged: true))
    #expect(
      try store.values("SELECT COUNT(*), COUNT(DISTINCT Z_FOK_T) FROM ZP")
        == [[.integer(2), .integer(2)]])
  }
}
