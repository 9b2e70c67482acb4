import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

/// Migrates a store object by object, as a mapping model describes.
///
/// A migration has three passes over the entity mappings, each in their order: the first creates
/// the destination instances and sets their attributes, the second sets the relationships, and the
/// third validates. The source store is only read. Both contexts have copies of the models, with
/// plain `NSManagedObject`s, and validate nothing before the third pass. Apple counterpart:
/// `NSMigrationManager`; the book's chapter 14.
///
/// Unlike Core Data's, it saves and releases instances in batches of `batchSize`, so memory doesn't
/// grow with the values of the store: 32 bytes per instance remain, and 16 while its entity is
/// read. A policy that keeps instances keeps them valid.
///
/// Use it on one thread; `cancelMigrationWithError(_:)`, `migrationProgress`, and `progress` can be
/// used on any.
open class NSMigrationManager: NSObject, @unchecked Sendable {
  /// The model of the store to migrate.
  public final let sourceModel: NSManagedObjectModel
  /// The model of the migrated store.
  public final let destinationModel: NSManagedObjectModel

  /// Whether a store may be migrated by its own migration manager instead of object by object.
  ///
  /// Stored for source compatibility: OpenCoreData's SQLite store has none, so every migration
  /// calls the policies and reports its progress.
  open var usesStoreSpecificMigrationManager = true

  /// Information for the migration policies.
  open var userInfo: [AnyHashable: Any]?

  /// The number of instances to create or relate before they're saved and released.
  ///
  /// No Apple counterpart.
  public final var batchSize = 1_000 {
    willSet { guard newValue > 0 else { fatalError("a batch has at least one instance") } }
  }

  /// The progress of the migrations, for the progress of a larger task.
  ///
  /// Cancelling it cancels the migration with 134120.
  public final let progress = Progress(totalUnitCount: MigrationProgress.unitCount)

  /// The mapping model of the migration that is running or has ended.
  public final private(set) var mappingModel: NSMappingModel

  /// Called on the migration's thread when `migrationProgress` or `currentEntityMapping` has
  /// changed, at last when the migration is complete: with 1 and an empty mapping.
  ///
  /// It replaces key-value observing, which Foundation on Linux doesn't have; a method of another
  /// thread can read `progress` instead. No Apple counterpart.
  public final var progressHandler: ((NSMigrationManager) -> Void)?

  /// The log of the migration; `nil` for none.
  final var log = MigrationDebugLog.requestedByArguments
  /// The source entities that have a mapping in one of the mapping models of the migration, of
  /// which the current one may be a part.
  final var mappedEntities: Set<String> = []
  /// Whether the mapping is inferred, so that no one has decided which of several objects keeps a
  /// destination that they share.
  final var refusesSharedDestinations = false
  /// Whether the instances are checked against the rules of the model; not if another mapping model
  /// of the same migration follows.
  final var validatesInstances = true
  /// Whether the numbers of destinations are checked, too, which a migration in place leaves to
  /// saves.
  final var checksCounts = true
  /// Called with the error of an instance that doesn't fit the destination; if it throws none, the
  /// migration goes on, and the instance doesn't get the value.
  final var failed: (NSError) throws -> Void = { throw $0 }
  final let report: MigrationProgress
  private let stacks: MigrationStacks
  private var run: MigrationPasses?
  private var observer: (Double) -> Void = { _ in }
  /// Called whenever the processing of a mapping begins: three times for each.
  final var beganMapping: (NSEntityMapping) -> Void = { _ in }
  /// The associations of each mapping, by its name.
  final var associations: [String: MigrationAssociations] = [:]
  /// The source and the destination of the associations; empty before the first migration.
  private var associatedStores: [URL] = []
  /// Associations that aren't recorded by permanent IDs.
  final var pending: [(mapping: String, source: NSManagedObject, destination: NSManagedObject)] =
    []
  /// The associated destination instances that aren't saved, but have permanent IDs.
  final var unsaved: [InstanceKey: NSManagedObject] = [:]
  /// The destination instances that policies have deleted.
  final var deleted: Set<InstanceKey> = []

  /// Creates a manager for two models, which can't be changed afterward.
  ///
  /// No statements.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
    sourceModel.freeze()
    destinationModel.freeze()
    mappingModel = NSMappingModel()
    report = MigrationProgress(progress)
    stacks = MigrationStacks(from: sourceModel, to: destinationModel)
    super.init()
  }

  /// The context of the source instances.
  public final var sourceContext: NSManagedObjectContext { stacks.source }

  /// The context of the destination instances.
  public final var destinationContext: NSManagedObjectContext { stacks.destination }

  /// The entity mapping that is being processed; an empty one before and after a migration.
  ///
  /// Each mapping is processed three times, once in each pass.
  public final var currentEntityMapping: NSEntityMapping { run?.current ?? NSEntityMapping() }

  /// How much of the migration is complete, from 0 to 1; 1 if none is running.
  public final var migrationProgress: Float { report.fraction }

  /// Migrates a store to a new one, or adds its instances to an existing one.
  ///
  /// Runs on the calling thread. A new store gets the UUID and the app's own metadata of the
  /// source, and primary keys from 1 in the order of the entity mappings: URIs of object IDs aren't
  /// preserved. Persistent history isn't copied, and tokens of the source have expired in a new
  /// store. Associations of an earlier mapping model stay if it migrated the same source to the
  /// same destination, which still exists. After an error, a store that was new is removed, and one
  /// that existed is as it was after the last batch. If the process is killed, the next migration
  /// to a store that was new removes it first.
  ///
  /// **Cost:** one SELECT of keys for each entity mapping, one SELECT of rows for each batch, and
  /// for each step of a relationship that the batch's expressions follow; one INSERT for each
  /// instance; one UPDATE for each instance with relationships; one SELECT for each batch of an
  /// entity with validation rules, and for each of its relationships with a number of destinations.
  ///
  /// - Parameters:
  ///   - sourceURL: The store to migrate, which is opened read-only.
  ///   - sourceType: The type of the source.
  ///   - sourceOptions: The options to open the source with.
  ///   - mapping: The mapping model.
  ///   - destinationURL: The file of the migrated store.
  ///   - destinationType: The type of the migrated store, which may differ from the source's.
  ///   - destinationOptions: The options to open the destination with.
  /// - Throws: 134150 if the source can't be opened with the source model; 134160 if the
  ///   destination can't be created, or can't be opened with the destination model; 134110 if the
  ///   mapping model doesn't fit the models, or a value its property; 134111 for violated
  ///   uniqueness constraints; 134120 after cancellation; 134170 if there's no policy class; 1550
  ///   to 1680 for a violated validation rule, 1560 for several; the errors of policies.
  open func migrateStore(
    from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil, mapping: NSMappingModel,
    to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
    options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    guard run == nil else { fatalError("the manager is migrating a store") }
    let problems = mapping.problems(from: sourceModel, to: destinationModel)
    guard problems.isEmpty else {
      let text = problems.map(\.description).joined(separator: "\n")
      throw NSError.coreData(NSMigrationError, text, ["reason": text])
    }
    guard let log else {
      return try migrate(
        sourceURL, sourceType, sourceOptions, mapping, destinationURL, destinationType,
        destinationOptions)
    }
    log.begin(
      sourceURL, sourceModel, destinationModel,
      "mapping model with \(mapping.entityMappings?.count ?? 0) entity mappings, to \(destinationURL.path)"
    )
    try log.run {
      try migrate(
        sourceURL, sourceType, sourceOptions, mapping, destinationURL, destinationType,
        destinationOptions)
    }
  }

  private func migrate(
    _ sourceURL: URL, _ sourceType: NSPersistentStore.StoreType,
    _ sourceOptions: [AnyHashable: Any]?, _ mapping: NSMappingModel, _ destinationURL: URL,
    _ destinationType: NSPersistentStore.StoreType, _ destinationOptions: [AnyHashable: Any]?
  ) throws {
    mappingModel = mapping
    // Primary keys don't tell the instances of other stores apart from these.
    let stores = [sourceURL, destinationURL].map(\.standardizedFileURL)
    if associatedStores != stores
      || !FileStamp.exists(path: destinationURL.path, followsLinks: true)
    {
      removeAssociations()
    }
    associatedStores = stores
    let passes = try MigrationPasses(self, mapping, stacks.models)
    report.begin()
    var isComplete = false
    defer {
      report.end()
      if isComplete { progressHandler?(self) }
    }
    try stacks.open(
      sourceURL, sourceType, sourceOptions, destinationURL, destinationType, destinationOptions)
    run = passes
    defer {
      run = nil
      (pending, unsaved) = ([], [:])
      stacks.close(removingNew: !isComplete)
    }
    try sourceContext.performAndWait {
      try destinationContext.performAndWait {
        try passes.run(report) { [unowned self] fraction in
          observer(fraction)
          progressHandler?(self)
        }
      }
    }
    isComplete = true
  }

  /// Marks a new destination as complete when its metadata is saved.
  final func completeDestination() { stacks.complete() }

  /// The configuration of both models whose entities the stores contain; `nil`, the default, for
  /// all, which also the store of a model without the configuration has.
  ///
  /// No Apple counterpart.
  public final var configuration: String? {
    get { stacks.configuration }
    set { stacks.configuration = newValue }
  }

  /// Copies a store to a new store with a UUID of its own.
  ///
  /// - Throws: The errors of `migrateStore`.
  final func convertStore(
    at sourceURL: URL, _ sourceType: NSPersistentStore.StoreType,
    mapping: NSMappingModel, to destinationURL: URL,
    _ destinationType: NSPersistentStore.StoreType, _ options: [AnyHashable: Any]?
  ) throws {
    stacks.preservesIdentifier = false
    try migrateStore(
      from: sourceURL, type: sourceType, options: nil, mapping: mapping, to: destinationURL,
      type: destinationType, options: options)
  }

  /// Migrates a store; calls `migrateStore(from:type:options:mapping:to:type:options:)`.
  ///
  /// - Throws: Also 134110 without a mapping model.
  open func migrateStore(
    from sourceURL: URL, sourceType: String, options sourceOptions: [AnyHashable: Any]? = nil,
    with mapping: NSMappingModel?, toDestinationURL destinationURL: URL, destinationType: String,
    destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    guard let mapping else {
      throw NSError.coreData(NSMigrationError, "The migration needs a mapping model.")
    }
    try migrateStore(
      from: sourceURL, type: NSPersistentStore.StoreType(rawValue: sourceType),
      options: sourceOptions, mapping: mapping, to: destinationURL,
      type: NSPersistentStore.StoreType(rawValue: destinationType), options: destinationOptions)
  }

  /// Ends the running migration, which throws the error.
  ///
  /// Takes effect before the next instance. Does nothing if no migration is running. Can be called
  /// from any thread.
  open func cancelMigrationWithError(_ error: any Error) {
    report.cancel(error)
  }

  /// Removes the associations of source and destination instances.
  open func reset() {
    removeAssociations()
  }

  /// Returns the source entity of a mapping; `nil` for an added entity.
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { stacks.models.source.entitiesByName[$0] }
  }

  /// Returns the destination entity of a mapping; `nil` for a removed entity.
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap { stacks.models.destination.entitiesByName[$0] }
  }

  /// Associates a source instance with a destination instance that was created for it.
  ///
  /// A policy that creates instances itself calls it. **Cost:** none; the first lookup afterward
  /// obtains permanent IDs for the unsaved instances.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    pending.append((entityMapping.name ?? "", sourceInstance, destinationInstance))
  }

  /// Returns the destination instances that a mapping created for source instances, but for those
  /// that a policy has deleted.
  ///
  /// It's a programmer error to name a mapping that the mapping model doesn't have. **Cost:** no
  /// statements; an instance that isn't registered is returned as a fault.
  /// - Parameters:
  ///   - mappingName: The name of the entity mapping.
  ///   - sourceInstances: The source instances; `nil` for those of all of the mapping's instances.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    checkName(mappingName)
    return found(of: sourceInstances, in: [mappingName])
  }

  /// Returns the source instances for which a mapping created destination instances.
  ///
  /// It's a programmer error to name a mapping that the mapping model doesn't have. **Cost:** no
  /// statements; an instance that isn't registered is returned as a fault.
  /// - Parameters:
  ///   - mappingName: The name of the entity mapping.
  ///   - destinationInstances: The destination instances; `nil` for those of all of the mapping's
  ///     instances.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    checkName(mappingName)
    recordAssociations()
    guard let known = associations[mappingName] else { return [] }
    let identities =
      destinationInstances.map { $0.flatMap { known.sources(of: $0.identity) } }
      ?? Array(known.sources(in: 0..<known.count))
    return sourceContext.objects(identities)
  }

  /// Calls a body on the migration's thread with how much is complete, from 0 to 1.
  final func observe(_ body: @escaping (Double) -> Void) {
    observer = body
  }

  /// The hubs of the events of both contexts.
  final var eventHubs: [EventHub] { stacks.eventHubs }

  /// Returns the resolved form of a mapping of the running migration; `nil` for another mapping.
  final func plan(for mapping: NSEntityMapping) throws -> EntityMappingPlan? {
    run?.plan(for: mapping)
  }
}
