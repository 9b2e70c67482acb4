import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import OpenCoreData
@testable import ScenarioLanguage
@testable import StoreTools

@Suite("Lightweight migration of random models")
struct RandomMigrationTests {
  /// The values of one object, by the identities of its entity's properties.
  private struct Values: Equatable {
    var attributes: [Int: String] = [:]
    /// The objects that each relationship refers to; in order if it's ordered.
    var relationships: [Int: [String]] = [:]
  }

  @Test(
    "The rows after migrations are those that the changes of the models imply", arguments: seeds)
  func rowsFollowTheChangesOfTheModel(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let url = folder.file("Store.sqlite")
    var mutator = ModelMutator(ModelSketch(), SeededGenerator(seed: seed, stream: "model"))
    mutator.begin()
    var options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true,
      NSPersistentHistoryTrackingKey: seed.isMultiple(of: 3),
    ]
    var sketch = mutator.sketch
    for version in 0..<3 {
      let model = sketch.model()
      try withContext(model, url, options) { context in
        var workload = RandomWorkload(model: model, context: context, seed: seed &+ UInt64(version))
        for _ in 0..<2 { try workload.round() }
      }
      let before = try values(of: sketch, model, at: url)
      var older = OlderFile(url, SeededGenerator(seed: seed &+ UInt64(version), stream: "file"))
      if seed.isMultiple(of: 2) { try older.age(except: try Self.pendingIndexes(of: url)) }
      mutator.change(seed.isMultiple(of: 5) ? 24 : 4)
      let next = mutator.sketch
      let expected = Self.expected(before, from: sketch, to: next)
      options[NSPersistentHistoryTrackingKey] = true
      let isDeferred = (seed &+ UInt64(version)) % 3 < 2
      options[NSPersistentStoreDeferredLightweightMigrationOptionKey] = isDeferred
      let history = (older.log + mutator.log).joined(separator: "; ")
      do {
        let copy = folder.file("Copy\(version).sqlite")
        let keys = try Self.migrate(url, from: sketch, to: next, into: copy)
        let copied = try values(of: next, next.model(), at: copy, formerKeys: keys)
        // A set has no order that an ordered relationship could get.
        let unordered = Self.newlyOrdered(from: sketch, to: next)
        compare(
          Self.sorted(copied, unordered), Self.sorted(expected, unordered),
          "seed \(seed), by copy: \(history)")
        let problems = try StoreDoctor.examine(copy).findings
        #expect(problems.map { "\($0)" } == [], "seed \(seed), by copy: \(history)")
        let migrated = next.model()
        try withContext(migrated, url, options) { _ in }
        if isDeferred, seed % 4 < 2 {
          let after = try values(of: next, migrated, at: url)
          let findings = try StoreDoctor.examine(url).findings
          #expect(findings.map { "\($0)" } == [], "seed \(seed), deferred: \(history)")
          try withContext(migrated, url, options) { context in
            try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
          }
          #expect(try values(of: next, migrated, at: url) == after)
        }
        let after = try values(of: next, migrated, at: url)
        compare(after, expected, "seed \(seed): \(history)")
        let findings = try StoreDoctor.examine(url).findings
        #expect(findings.map { "\($0)" } == [], "seed \(seed): \(history)")
      } catch {
        Issue.record("seed \(seed): \(error); \(history)")
        return
      }
      sketch = next
    }
  }

  private func compare(
    _ found: [String: Values], _ expected: [String: Values], _ history: String
  ) {
    #expect(Set(found.keys) == Set(expected.keys), "\(history)")
    for (object, values) in expected where found[object] != values {
      Issue.record("\(object): \(found[object] ?? Values()) != \(values): \(history)")
    }
  }

  /// Returns the identities of the relationships that become ordered.
  private static func newlyOrdered(from old: ModelSketch, to new: ModelSketch) -> Set<Int> {
    func ordered(_ sketch: ModelSketch) -> Set<Int> {
      Set(sketch.entities.flatMap(\.relationships).filter(\.isOrdered).map(\.id))
    }
    return ordered(new).subtracting(ordered(old))
  }

  /// Returns the values with the destinations of some relationships in the order of their keys.
  private static func sorted(
    _ values: [String: Values], _ relationships: Set<Int>
  ) -> [String: Values] {
    values.mapValues { values in
      var values = values
      for id in relationships { values.relationships[id]?.sort() }
      return values
    }
  }

  /// Migrates a store into a new file with an inferred mapping model.
  ///
  /// - Returns: The primary key in the store of each object in the new file, by the keys of
  ///   `values`.
  private static func migrate(
    _ url: URL, from old: ModelSketch, to new: ModelSketch, into copy: URL
  ) throws -> [String: String] {
    let (source, destination) = (old.model(), new.model())
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: source, destinationModel: destination)
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: copy, type: .sqlite)
    let ids = Dictionary(uniqueKeysWithValues: new.entities.map { ($0.name, $0.id) })
    var keys: [String: String] = [:]
    for mapping in mapping.entityMappings {
      let id = ids[mapping.destinationEntityName ?? ""] ?? 0
      let known = manager.associations(of: mapping)
      for (former, copied) in zip(
        known.sources(in: 0..<known.count), known.destinations(in: 0..<known.count))
      {
        keys["\(id)/p\(copied.primaryKey)"] = "\(id)/p\(former.primaryKey)"
      }
    }
    return keys
  }

  /// The indexes that deferred migrations have left to remove.
  private static func pendingIndexes(of url: URL) throws -> Set<String> {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .sqlite, at: url)
    return Set(DeferredWork(metadata).indexes)
  }

  private static var seeds: Range<UInt64> {
    let count = ProcessInfo.processInfo.environment["CDPROF_RANDOM_SEEDS"].flatMap { UInt64($0) }
    return 1..<(1 + (count ?? 6) * 3)
  }

  private func withContext(
    _ model: NSManagedObjectModel, _ url: URL, _ options: [AnyHashable: Any],
    _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context) }
    context.performAndWait { context.reset() }
    try coordinator.remove(store)
  }

  /// Returns the values of all objects, by entity identity and primary key.
  ///
  /// - Parameter formerKeys: The keys to use instead.
  private func values(
    of sketch: ModelSketch, _ model: NSManagedObjectModel, at url: URL,
    formerKeys: [String: String] = [:]
  ) throws -> [String: Values] {
    var result: [String: Values] = [:]
    let ids = Dictionary(uniqueKeysWithValues: sketch.entities.map { ($0.name, $0.id) })
    func key(_ object: NSManagedObject) -> String {
      let primaryKey = object.objectID.uriRepresentation().lastPathComponent
      let key = "\(ids[object.entity.name ?? ""] ?? 0)/\(primaryKey)"
      return formerKeys[key] ?? key
    }
    try withContext(model, url, [NSReadOnlyPersistentStoreOption: true]) { context in
      for entity in sketch.entities where !entity.isAbstract {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.includesSubentities = false
        let lineage = sketch.lineage(of: entity.id)
        for object in try context.fetch(request) {
          var values = Values()
          for attribute in lineage.flatMap(\.attributes) {
            values.attributes[attribute.id] = Self.text(object.value(forKey: attribute.name))
          }
          for relationship in lineage.flatMap(\.relationships) {
            let value = object.value(forKey: relationship.name)
            values.relationships[relationship.id] =
              switch value {
              case let list as NSOrderedSet:
                list.array.compactMap { $0 as? NSManagedObject }.map(key)
              case let set as Set<NSManagedObject>: set.map(key).sorted()
              case let object as NSManagedObject: [key(object)]
              default: []
              }
          }
          result[key(object)] = values
        }
      }
    }
    return result
  }

  /// A value as text, in which a number has the same text in each type.
  private static func text(_ value: Any?) -> String {
    switch value {
    case let flag as Bool: flag ? "1.0" : "0.0"
    case let number as any BinaryInteger: "\(Double(Int64(number)))"
    case let number as Double: "\(number)"
    case let number as NSNumber: "\(number.doubleValue)"
    case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
    case let text as String: text
    default: "nil"
    }
  }

  /// Returns the values that objects have in the next version.
  private static func expected(
    _ before: [String: Values], from old: ModelSketch, to new: ModelSketch
  ) -> [String: Values] {
    var result: [String: Values] = [:]
    let surviving = Set(new.entities.filter { !$0.isAbstract }.map { "\($0.id)" })
    func survives(_ key: String) -> Bool { surviving.contains(String(key.prefix { $0 != "/" })) }
    for (key, values) in before where survives(key) {
      let id = Int(key.prefix { $0 != "/" }) ?? 0
      var migrated = Values()
      for attribute in new.lineage(of: id).flatMap(\.attributes) {
        let value = values.attributes[attribute.id]
        let isFilled = value == nil || value == "nil" && !attribute.isOptional
        let filling = attribute.defaultValue.map { Self.text(attribute.value($0)) } ?? "nil"
        migrated.attributes[attribute.id] = isFilled ? filling : value
      }
      for relationship in new.lineage(of: id).flatMap(\.relationships) {
        let others = (values.relationships[relationship.id] ?? []).filter(survives)
        let wasOrdered =
          old.entities.flatMap(\.relationships)
          .first { $0.id == relationship.id }?.isOrdered ?? false
        migrated.relationships[relationship.id] =
          relationship.isOrdered && !wasOrdered
          ? others.sorted { Self.primaryKey($0) < Self.primaryKey($1) }
          : relationship.isOrdered ? others : others.sorted()
      }
      result[key] = migrated
    }
    return result
  }

  private static func primaryKey(_ key: String) -> Int {
    Int(key.drop { $0 != "p" }.dropFirst()) ?? 0
  }
}
