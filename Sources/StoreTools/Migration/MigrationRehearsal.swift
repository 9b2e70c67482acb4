package import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// What a lightweight migration of a store would do, as tried on a copy.
package struct MigrationRehearsal {
  /// Values or objects that the new version has no place for.
  package struct Loss: Sendable, Equatable {
    package let entity: String
    /// The removed property; nil if the entity is removed.
    package let property: String?
    /// The number of values, or of objects.
    package let values: Int
  }

  /// The store.
  package let store: URL
  /// The model file.
  package let model: URL
  /// The name of the version to migrate to; nil if the model has none.
  package let version: String?
  /// The reasons why the mapping can't be inferred; empty if it can be.
  package let refusals: [ModelDifference]
  /// Whether the store has the model's version already.
  package let isCurrent: Bool
  /// What would be lost.
  package private(set) var losses: [Loss] = []
  /// The statements, and what would fail; nil if there was nothing to try.
  package private(set) var trial: MigrationTrial?
  /// The problems of the migrated copy; nil if it isn't migrated or has violations.
  package private(set) var doctor: DoctorReport?
  /// The seconds that the migration took.
  package private(set) var seconds = 0.0
  /// The bytes of the store before and after.
  package private(set) var sizes = (before: 0, after: 0)

  /// Whether the migration succeeds.
  package var isPossible: Bool { refusals.isEmpty && trial?.violations.isEmpty != false }

  /// Whether the migration preserves everything.
  package var isPreserving: Bool {
    isPossible && losses.isEmpty && doctor?.isIntact != false
  }

  /// Copies a store, and migrates the copy.
  ///
  /// The store isn't modified. The copy is removed, unless it's kept. Cost: the time and space of copying the
  /// store and of the migration; one `SELECT COUNT` for each removed property and entity; those of `doctor`.
  /// - Parameters:
  ///   - path: The store.
  ///   - found: The model to migrate it to.
  ///   - destination: Where to keep the migrated copy; nil to remove it. It's also removed if the migration is
  ///     refused or has violations.
  /// - Throws: `InvalidInputError` if the store can't be read, or contains no model; SQLite's errors.
  package init(of path: String, to found: FoundModel, keepingAt destination: URL? = nil) throws {
    let source = try FoundModel(path: path)
    guard source.origin == .store else {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) doesn't contain its model, so it can't be migrated here",
        nextStep: "open it with an app that has its version of the model")
    }
    (store, model, version) = (source.url, found.url, found.version)
    let mapping = InferredMapping(from: source.model, to: found.model)
    refusals = mapping.obstacles
    isCurrent = source.model.digest == found.model.digest
    guard refusals.isEmpty, !isCurrent else { return }
    let folder = URL(fileURLWithPath: try TemporaryFolders.make(), isDirectory: true)
    defer { TemporaryFolders.remove(folder.path) }
    let copy = folder.appendingPathComponent("Store.sqlite")
    try StoreFile.copy(from: store, to: copy)
    losses = try Self.losses(mapping, in: copy, source.model)
    sizes.before = Self.size(copy)
    let begin = ContinuousClock.now
    let trial = try MigrationTrial(ofCopyAt: copy, mapping: mapping)
    seconds = (ContinuousClock.now - begin) / .seconds(1)
    self.trial = trial
    sizes.after = Self.size(copy)
    guard trial.violations.isEmpty else { return }
    doctor = try StoreDoctor.examine(copy)
    if let destination {
      // Not moved: the folders can be on different volumes.
      try StoreFile.copy(from: copy, to: destination)
    }
  }

  /// Migrates the store itself.
  ///
  /// Cost: that of the migration, and of copying the store.
  /// - Parameters:
  ///   - model: The model of the rehearsal.
  ///   - keepsBackup: Whether to keep a copy of the store next to it, which replaces an earlier one.
  /// - Returns: The copy; nil if none is kept.
  /// - Throws: The errors of automatic migration; the store is unchanged then.
  package func migrateOriginal(
    to model: NSManagedObjectModel, keepsBackup: Bool
  ) throws -> URL? {
    var backup: URL?
    if keepsBackup {
      let name = store.deletingPathExtension().lastPathComponent + "~"
      let file = store.deletingLastPathComponent()
        .appendingPathComponent(
          store.pathExtension.isEmpty ? name : "\(name).\(store.pathExtension)")
      try StoreFile.copy(from: store, to: file)
      backup = file
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      type: .sqlite, at: store,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true,
        NSInferMappingModelAutomaticallyOption: true,
      ])
    try coordinator.remove(opened)
    return backup
  }

  private static func size(_ url: URL) -> Int {
    ["", "-wal"].reduce(0) { total, suffix in
      let file = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
      return total + ((file?[.size] as? Int) ?? 0)
    }
  }

  /// Counts the values that the mapping has no place for.
  private static func losses(
    _ mapping: InferredMapping, in copy: URL, _ model: NSManagedObjectModel
  ) throws -> [Loss] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      type: .sqlite, at: copy, options: [NSReadOnlyPersistentStoreOption: true])
    defer { try? coordinator.remove(opened) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    func count(_ entity: NSEntityDescription, _ predicate: NSPredicate?) throws -> Int {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.predicate = predicate
      return try context.performAndWait { try context.count(for: request) }
    }
    var counts: [String: [String?: Int]] = [:]
    for entity in mapping.entities {
      guard let source = entity.source, !source.isAbstract else { continue }
      guard entity.destination != nil else {
        counts[source.name ?? "", default: [:]][nil] = try count(source, nil)
        continue
      }
      for property in entity.properties where property.destination == nil {
        guard let removed = property.source, let predicate = removed.isPresent else { continue }
        // An inherited property is counted for each entity, and reported for the one that declares it.
        let owner = removed.entity?.name ?? source.name ?? ""
        counts[owner, default: [:]][removed.name, default: 0] += try count(source, predicate)
      }
    }
    return counts.flatMap { entity, properties in
      properties.map { Loss(entity: entity, property: $0.key, values: $0.value) }
    }
    .filter { $0.values > 0 }
    .sorted { ($0.entity, $0.property ?? "") < ($1.entity, $1.property ?? "") }
  }
}

extension NSPropertyDescription {
  /// The condition for an object to have a value of its own; nil if none is stored with the object.
  ///
  /// The pairs of a one-to-many relationship are stored with its inverse.
  fileprivate var isPresent: NSPredicate? {
    guard !isTransient else { return nil }
    switch self {
    case let attribute as NSAttributeDescription:
      return attribute.isDerived ? nil : NSPredicate(format: "%K != nil", name)
    case let relationship as NSRelationshipDescription:
      guard relationship.isToMany else { return NSPredicate(format: "%K != nil", name) }
      guard relationship.inverseRelationship?.isToMany != false else { return nil }
      return NSPredicate(format: "%K.@count > 0", name)
    default: return nil
    }
  }
}
