public import OpenCoreData

/// How old stores are migrated.
public enum MigrationMethod: Sendable {
  /// In one hop when a store is opened, with the mapping model for it or else an inferred one.
  case automatic
  /// Version by version, each with the mapping model for it or else an inferred one.
  case stepByStep
}

/// Migrates a copy of each old store in a folder to the current model, and compares it with a
/// fixture.
///
/// Use it in a test with XCTest or Swift Testing, with a folder of stores from released versions:
///
///     let report = try checkMigrations(
///       ofStoresIn: stores, to: model, versions: momd, mappingModelsIn: [.module],
///       matching: fixture)
///     #expect(report.passes, "\(report)")       // XCTAssert(report.passes, report.description)
///
/// The stores aren't modified. **Cost:** for each store, the copy, the migration, one count for
/// each entity and each of its properties that the new model doesn't have, and the fetches of
/// `MigrationFixture`.
///
/// - Parameters:
///   - folder: The folder; files that aren't SQLite stores are ignored.
///   - model: The current model.
///   - configuration: The configuration that the app opens the stores with; `nil` for all entities.
///   - versions: The folder of all versions, which name those of the stores and determine what's
///     lost: a `.momd`, or a `.xcdatamodeld` on Linux. Required to migrate step by step.
///   - bundles: The bundles with mapping models.
///   - method: How the app migrates its stores.
///   - fixture: The content that each migrated store must have.
/// - Returns: A result for each store. An error of a store is part of it.
/// - Throws: `MigrationCheckError` if there are no stores or no versions, or if `versions` is `nil`
///   and stores are migrated step by step; an `NSError` if a temporary folder can't be created.
public func checkMigrations(
  ofStoresIn folder: URL, to model: NSManagedObjectModel, configuration: String? = nil,
  versions: URL? = nil, mappingModelsIn bundles: [Bundle] = [],
  by method: MigrationMethod = .automatic, matching fixture: MigrationFixture
) throws -> MigrationReport {
  let check = try MigrationCheck(
    model: model, configuration: configuration, versions: versions, bundles: bundles,
    method: method, fixture: fixture)
  let stores = try MigrationCheck.stores(in: folder)
  guard !stores.isEmpty else { throw MigrationCheckError.noStores(folder.path) }
  return MigrationReport(stores: try stores.map(check.result))
}

/// The migration and comparison of one store after another.
private struct MigrationCheck {
  typealias Version = (name: String, model: NSManagedObjectModel)

  let model: NSManagedObjectModel
  let configuration: String?
  let bundles: [Bundle]
  let method: MigrationMethod
  let fixture: MigrationFixture
  /// The versions up to the current model.
  let versions: [Version]

  init(
    model: NSManagedObjectModel, configuration: String?, versions: URL?, bundles: [Bundle],
    method: MigrationMethod, fixture: MigrationFixture
  ) throws {
    (self.model, self.configuration, self.bundles) = (model, configuration, bundles)
    (self.method, self.fixture) = (method, fixture)
    if method == .stepByStep, versions == nil { throw MigrationCheckError.versionsRequired }
    var found: [Version] = []
    if let versions {
      let names = try FileManager.default.contentsOfDirectory(atPath: versions.path)
      // Without extensions: "Moody" is before "Moody 2".
      found = names.map { versions.appendingPathComponent($0) }
        .filter { ["mom", "xcdatamodel"].contains($0.pathExtension) }
        .map { (name: $0.deletingPathExtension().lastPathComponent, url: $0) }
        .sorted { $0.name.compare($1.name, options: .numeric) == .orderedAscending }
        .compactMap { version in
          NSManagedObjectModel(contentsOf: version.url).map { (version.name, $0) }
        }
      guard !found.isEmpty else { throw MigrationCheckError.noVersions(versions.path) }
    }
    let current = found.lastIndex {
      $0.model.entityVersionHashesByName == model.entityVersionHashesByName
    }
    self.versions = current.map { Array(found[...$0]) } ?? found
  }

  static func stores(in folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .map { folder.appendingPathComponent($0) }
      .filter { url in
        guard let file = try? FileHandle(forReadingFrom: url) else { return false }
        return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
      }
  }

  func result(_ store: URL) throws -> MigrationReport.Store {
    let name = store.lastPathComponent
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("Migration-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appendingPathComponent("Store.sqlite")
    do {
      try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        .replacePersistentStore(
          at: copy, destinationOptions: nil, withPersistentStoreFrom: store, sourceOptions: nil,
          type: .sqlite)
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: .sqlite, at: copy, options: nil)
      let position = versions.lastIndex {
        $0.model.isConfiguration(
          withName: configuration(in: $0.model), compatibleWithStoreMetadata: metadata)
      }
      let identifiers = metadata[NSStoreModelVersionIdentifiersKey] as? [Any] ?? []
      let version =
        position.map { versions[$0].name } ?? identifiers.map { "\($0)" }.joined(separator: ", ")
      var result = MigrationReport.Store(name: name, version: version.isEmpty ? "unknown" : version)
      do {
        if let position { result.lost = try losses(of: copy, from: position) }
      } catch {
        result.error = "counting what's lost: \(error)"
      }
      do {
        try migrate(copy, in: folder, from: position)
        result.differences = try differences(of: copy)
      } catch {
        result.error = "\(error)"
      }
      return result
    } catch {
      return MigrationReport.Store(name: name, version: "unknown", error: "\(error)")
    }
  }

  /// Returns the configuration of the stores of a version; `nil` if the version doesn't have it.
  private func configuration(in model: NSManagedObjectModel) -> String? {
    model.configurations.first { $0 == configuration }
  }

  // MARK: Migration

  private func migrate(_ store: URL, in folder: URL, from position: Int?) throws {
    guard method == .stepByStep else { return try migrate(store, to: model) }
    guard let position else { throw MigrationCheckError.unknownVersion }
    for (before, after) in zip(versions[position...], versions[(position + 1)...]) {
      let mappings = mappings(from: before.model, to: after.model)
      if mappings.isEmpty {
        try migrate(store, to: after.model)
      } else {
        try migrate(store, in: folder, from: before.model, to: after.model, mappings)
      }
    }
    try migrate(store, to: model)
  }

  /// Returns the mapping models in the bundles for a step, each for a part of the entities.
  private func mappings(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> [NSMappingModel] {
    #if canImport(CoreData)
      let before = source.entityVersionHashesByName
      let after = destination.entityVersionHashesByName
      return bundles.flatMap { $0.urls(forResourcesWithExtension: "cdm", subdirectory: nil) ?? [] }
        .sorted {
          $0.lastPathComponent.compare($1.lastPathComponent, options: .numeric) == .orderedAscending
        }
        .compactMap { NSMappingModel(contentsOf: $0) }
        .filter { mapping in
          (mapping.entityMappings ?? []).allSatisfy { entity in
            (entity.sourceEntityName.map { before[$0] == entity.sourceEntityVersionHash } ?? true)
              && (entity.destinationEntityName.map {
                after[$0] == entity.destinationEntityVersionHash
              } ?? true)
          }
        }
    #else
      return NSMappingModel.all(in: bundles, from: source, to: destination)
    #endif
  }

  /// Migrates a store when it's opened.
  private func migrate(_ store: URL, to model: NSManagedObjectModel) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    #if !canImport(CoreData)
      coordinator.migrationBundles = bundles
    #endif
    let opened = try coordinator.addPersistentStore(
      type: .sqlite, configuration: configuration, at: store,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true,
        NSInferMappingModelAutomaticallyOption: true,
      ])
    try coordinator.remove(opened)
  }

  private func migrate(
    _ store: URL, in folder: URL, from source: NSManagedObjectModel,
    to destination: NSManagedObjectModel, _ mappings: [NSMappingModel]
  ) throws {
    let migrated = folder.appendingPathComponent("\(UUID().uuidString).sqlite")
    // One manager, so that a mapping model finds the instances that earlier ones created.
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    #if !canImport(CoreData)
      manager.configuration = configuration
    #endif
    for mapping in mappings {
      try manager.migrateStore(
        from: store, type: .sqlite, options: nil, mapping: mapping, to: migrated, type: .sqlite,
        options: nil)
    }
    try NSPersistentStoreCoordinator(managedObjectModel: destination)
      .replacePersistentStore(
        at: store, destinationOptions: nil, withPersistentStoreFrom: migrated, sourceOptions: nil,
        type: .sqlite)
  }

  // MARK: Comparison

  private func differences(of store: URL) throws -> [MigrationReport.Difference] {
    try MigrationFixture.reading(store, with: model, configuration) { context in
      try fixture.objects.sorted { $0.key < $1.key }.flatMap { name, objects in
        guard let entity = model.entitiesByName[name] else {
          return [difference(name, nil, nil, "an entity", nil)]
        }
        return try differences(of: entity, objects, in: context)
      }
    }
  }

  private func differences(
    of entity: NSEntityDescription, _ objects: [MigrationFixture.Object],
    in context: NSManagedObjectContext
  ) throws -> [MigrationReport.Difference] {
    let name = entity.name ?? ""
    let names = Set(objects.flatMap(\.keys)).sorted()
    let found = try Dictionary(grouping: fixture.read(entity, names, in: context)) { $0.key }
    let expected = Dictionary(grouping: objects) { fixture.key(of: $0, entity) }
    return Set(found.keys).union(expected.keys).sorted().flatMap { key in
      let (wanted, actual) = MigrationFixture.unequal(
        expected[key] ?? [], (found[key] ?? []).map(\.values), of: entity)
      var differences = zip(wanted, actual).flatMap { wanted, actual in
        wanted.sorted { $0.key < $1.key }.compactMap { property, value in
          let other = actual[property] ?? .none
          return isEqual(value, other, property, of: entity)
            ? nil : difference(name, key, property, value.description, other.description)
        }
      }
      for _ in 0..<max(0, wanted.count - actual.count) {
        differences.append(difference(name, key, nil, "an object", nil))
      }
      for _ in 0..<max(0, actual.count - wanted.count) {
        differences.append(difference(name, key, nil, nil, "an object"))
      }
      return differences
    }
  }

  private func isEqual(
    _ value: MigrationFixture.Value, _ other: MigrationFixture.Value, _ property: String,
    of entity: NSEntityDescription
  ) -> Bool {
    guard case .list(let texts) = value, case .list(let others) = other,
      entity.relationshipsByName[property]?.isOrdered != true
    else { return value == other }
    return texts.sorted() == others.sorted()
  }

  private func difference(
    _ entity: String, _ object: String?, _ property: String?, _ expected: String?,
    _ actual: String?
  ) -> MigrationReport.Difference {
    MigrationReport.Difference(
      entity: entity, object: object, property: property, expected: expected, actual: actual)
  }

  // MARK: Losses

  /// Counts the values of properties, and the objects of entities, that the current model doesn't
  /// have.
  private func losses(of store: URL, from position: Int) throws -> [MigrationReport.Loss] {
    let source = versions[position].model
    return try MigrationFixture.reading(store, with: source, configuration(in: source)) {
      try losses(in: $0, from: position)
    }
  }

  private func losses(
    in context: NSManagedObjectContext, from position: Int
  ) throws -> [MigrationReport.Loss] {
    let source = versions[position].model
    let later = method == .stepByStep ? versions[(position + 1)...].map(\.model) : []
    let successors = MigrationSuccessors(of: source, in: later + [model], configuration)
    // By the entity that declares the property; without a name for objects.
    var counts: [String: [String: Int]] = [:]
    let stored = source.entities(forConfigurationName: configuration(in: source)) ?? []
    for entity in stored where !entity.isAbstract {
      func count(_ owner: String?, _ property: String, _ predicate: NSPredicate?) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.includesSubentities = false
        request.predicate = predicate
        let number = try context.performAndWait { try context.count(for: request) }
        if number > 0 { counts[owner ?? "", default: [:]][property, default: 0] += number }
      }
      guard let later = successors.entities(of: entity) else {
        try count(entity.name, "", nil)
        continue
      }
      let kept = successors.storedProperties(of: entity, in: later)
      for (name, property) in entity.propertiesByName
      where fixture.isCompared(property) && !kept.contains(name) {
        var owner = entity
        while let parent = owner.superentity, parent.propertiesByName[name] != nil {
          owner = parent
        }
        try count(owner.name, name, hasValue(property))
      }
    }
    return counts.sorted { $0.key < $1.key }.flatMap { entity, numbers in
      numbers.sorted { $0.key < $1.key }.map { name, count in
        MigrationReport.Loss(entity: entity, property: name.isEmpty ? nil : name, count: count)
      }
    }
  }

  /// Returns the predicate for objects that have a value of a property.
  private func hasValue(_ property: NSPropertyDescription) -> NSPredicate {
    if (property as? NSRelationshipDescription)?.isToMany == true {
      return NSPredicate(format: "%K.@count > 0", property.name)
    }
    let parts = columns(of: property).map { NSPredicate(format: "%K != nil", $0) }
    return NSCompoundPredicate(orPredicateWithSubpredicates: parts)
  }

  /// Returns the key paths of a property's columns: those of the elements of a composite attribute.
  private func columns(of property: NSPropertyDescription) -> [String] {
    guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *),
      let composite = property as? NSCompositeAttributeDescription
    else { return [property.name] }
    return composite.elements.flatMap(columns).map { "\(property.name).\($0)" }
  }
}
