import OpenCoreData
import ProfileEvents
import RunResults
import ScenarioLanguage

/// A cold Core Data stack: coordinators with empty row caches for one store file, their contexts,
/// and their event sinks.
///
/// All coordinators emit events to one recorder, so that the events have a common order.
final class ColdStack {
  /// A context with its name.
  struct Named {
    let name: String
    let context: NSManagedObjectContext
  }

  // Bound values are recorded because index advice reruns the statements with them.
  let recorder = Recorder(detail: [.work, .binds])
  let hub = EventHub()
  /// The contexts, where a parent precedes its children.
  private(set) var contexts: [Named] = []
  private(set) var shapes: [String: ContextShape] = [:]
  /// The values of `peak` of contexts that no longer exist.
  private(set) var formerPeaks: [ScopedMetric: Int] = [:]
  private let storeURL: URL
  private let engine: any StoreEngine
  private var model: NSManagedObjectModel
  /// The configuration of the model that the store contains; `nil` for all entities.
  private(set) var configuration: String?
  private let isReadOnly: Bool
  /// Whether the store is opened with a model that isn't its own.
  private let ignoresVersions: Bool
  /// Receives the rows that are skipped in a read-only store.
  private let skippedRows: SkippedRows
  private var coordinators: [String: NSPersistentStoreCoordinator] = [:]
  /// The pragmas that the file was opened with.
  private(set) var pragmas: [String: String] = [:]
  /// Whether the file was opened with persistent history.
  private var tracksHistory = false

  /// Opens a store and creates the main context.
  ///
  /// - Parameters:
  ///   - storeURL: The store file, or the URL of a store on a server.
  ///   - engine: The engine of the store.
  ///   - model: The model to open the store with.
  ///   - configuration: The configuration of the model that the store contains; `nil` for all
  ///     entities.
  ///   - isReadOnly: Whether to open the store read-only.
  ///   - ignoresVersions: Whether the model isn't the store's own.
  ///   - skippedRows: Receives the rows that are skipped in a read-only store.
  ///   - sinks: Additional event sinks, which also receive the events of opening the store.
  /// - Throws: The coordinator's `NSError`.
  init(
    storeURL: URL, engine: any StoreEngine, model: NSManagedObjectModel,
    configuration: String? = nil, isReadOnly: Bool,
    ignoresVersions: Bool = false, skippedRows: SkippedRows, sinks: [any EventSink]
  ) throws {
    self.skippedRows = skippedRows
    self.storeURL = storeURL
    self.engine = engine
    self.model = model
    self.configuration = configuration
    self.isReadOnly = isReadOnly
    self.ignoresVersions = ignoresVersions
    hub.add(recorder)
    for sink in sinks { hub.add(sink) }
    try set(ContextShape(), for: ContextShape.main)
  }

  /// The main context, which always exists.
  var main: NSManagedObjectContext { contexts[0].context }

  /// Returns the context with a name, or the main context if the name is unknown.
  func context(_ name: String) -> NSManagedObjectContext {
    contexts.first { $0.name == name }?.context ?? main
  }

  /// Creates a context with a configuration, or changes an existing context.
  ///
  /// If the configuration names a new coordinator, this method creates it, which reopens the file.
  ///
  /// - Throws: The coordinator's `NSError`.
  func set(_ shape: ContextShape, for name: String) throws {
    if !contexts.contains(where: { $0.name == name }) {
      contexts.append(Named(name: name, context: try makeContext(shape, name)))
    }
    let context = context(name)
    context.performAndWait { shape.apply(to: context) }
    shapes[name] = shape
  }

  /// Releases a context, whose objects must already be released.
  func remove(_ name: String) {
    for named in contexts where named.name == name { keepPeaks(of: named) }
    contexts.removeAll { $0.name == name }
    shapes[name] = nil
  }

  private func keepPeaks(of named: Named) {
    let context = named.context
    context.performAndWait {
      var peaks: [(MetricScope, Int)] = [
        (.all, context.peakRegisteredCount), (.context(named.name), context.peakRegisteredCount),
      ]
      for name in model.entities.filter({ !$0.isAbstract }).compactMap(\.name) {
        peaks.append((.entity(name), context.peakRegisteredCount(ofEntity: name)))
      }
      for (scope, peak) in peaks {
        let metric = ScopedMetric(.peak, scope)
        formerPeaks[metric] = max(formerPeaks[metric] ?? 0, peak)
      }
    }
  }

  /// Waits until the contexts have completed the work they do for each other, such as merging
  /// changes into child contexts and releasing a parent's objects.
  func waitForContexts() {
    guard contexts.count > 1 else { return }
    for named in contexts + contexts.reversed() { named.context.performAndWait {} }
  }

  /// Sets the call site of the events that follow, for all contexts.
  func setCallSite(_ location: CallSite) {
    for named in contexts {
      named.context.performAndWait { named.context.callSite = location }
    }
  }

  /// Reopens the file with a pragma, and re-creates all contexts without their objects.
  ///
  /// - Throws: The coordinator's `NSError`. The file is then open without the pragma.
  func reopen(pragma name: String, _ value: String) throws {
    try reopen { $0.pragmas[name] = value }
  }

  /// Reopens the file with persistent history, and re-creates all contexts without their objects.
  ///
  /// - Throws: The coordinator's `NSError`. The file is then open without the option.
  func reopenTrackingHistory() throws {
    try reopen { $0.tracksHistory = true }
  }

  private func reopen(setting change: (ColdStack) -> Void) throws {
    let former = (pragmas: pragmas, tracksHistory: tracksHistory, contexts: contexts)
    let known = contexts.map { ($0.name, shapes[$0.name] ?? ContextShape()) }
    change(self)
    do {
      try reopen(known)
    } catch {
      (pragmas, tracksHistory) = (former.pragmas, former.tracksHistory)
      // Without a store, the next fetch fails, but the main context must always exist.
      do { try reopen(known) } catch { contexts = former.contexts }
      throw error
    }
  }

  /// Closes the file, runs a body that migrates it, and reopens it with the new model; all contexts
  /// are re-created without their objects.
  ///
  /// - Throws: The error of the body; the file is then open with the former model. The
  ///   coordinator's `NSError`; the contexts then have no store.
  func reopen(
    with model: NSManagedObjectModel, after migrate: (NSPersistentStoreCoordinator) throws -> Void
  ) throws {
    let known = contexts.map { ($0.name, shapes[$0.name] ?? ContextShape()) }
    let former = contexts
    do {
      try close()
      try migrate(NSPersistentStoreCoordinator(managedObjectModel: model, sharing: hub))
    } catch {
      // Without a store, the next fetch fails, but the main context must always exist.
      do { try reopen(known) } catch { contexts = former }
      throw error
    }
    self.model = model
    do {
      if configuration != nil { configuration = try model.configuration(ofStoreAt: storeURL) }
      try reopen(known)
    } catch {
      contexts = former
      throw error
    }
  }

  private func close() throws {
    contexts.forEach(keepPeaks)
    contexts = []
    for coordinator in coordinators.values {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
    coordinators = [:]
  }

  private func reopen(_ known: [(String, ContextShape)]) throws {
    try close()
    for (name, shape) in known { try set(shape, for: name) }
  }

  private func makeContext(_ shape: ContextShape, _ name: String) throws -> NSManagedObjectContext {
    let context = NSManagedObjectContext(
      concurrencyType: shape.queue == .main
        ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
    if let parent = shape.parent {
      context.parent = self.context(parent)
    } else {
      context.persistentStoreCoordinator = try coordinator(shape.coordinator)
    }
    context.name = name
    return context
  }

  private func coordinator(_ name: String) throws -> NSPersistentStoreCoordinator {
    if let known = coordinators[name] { return known }
    let made = NSPersistentStoreCoordinator(managedObjectModel: model, sharing: hub)
    var options: [String: Any] = engine.storeOptions
    if isReadOnly {
      options[NSReadOnlyPersistentStoreOption] = true
      options[SkippedRows.option] = skippedRows
    }
    if ignoresVersions { options[NSIgnorePersistentStoreVersioningOption] = true }
    if tracksHistory { options[NSPersistentHistoryTrackingKey] = true }
    if !pragmas.isEmpty { options[NSSQLitePragmasOption] = pragmas }
    try made.addPersistentStore(
      type: engine.storeType, configuration: configuration, at: storeURL, options: options)
    coordinators[name] = made
    return made
  }
}

extension MergePolicyName {
  /// The merge policy.
  fileprivate var policy: NSMergePolicy {
    switch self {
    case .error: .error
    case .rollback: .rollback
    case .overwrite: .overwrite
    case .store: .mergeByPropertyStoreTrump
    case .object: .mergeByPropertyObjectTrump
    }
  }
}

extension ContextShape {
  /// Sets the properties of a context that can change at any time, on the context's queue.
  fileprivate func apply(to context: NSManagedObjectContext) {
    if let policy { context.mergePolicy = policy.policy }
    if let mergesAutomatically {
      context.automaticallyMergesChangesFromParent = mergesAutomatically
    }
    if let staleness { context.stalenessInterval = staleness }
    if let retainsObjects { context.retainsRegisteredObjects = retainsObjects }
    if let isUndoable, isUndoable != (context.undoManager != nil) {
      context.undoManager = isUndoable ? UndoManager() : nil
    }
  }
}
