import OpenCoreData
import ProfileEvents
import ScenarioLanguage

/// Coordinators with nothing cached over one store file, their contexts, and what listens to them.
///
/// All coordinators emit to one recorder, so that events have one order.
final class ColdStack {
  /// A context by its name.
  struct Named {
    let name: String
    let context: NSManagedObjectContext
  }

  // Binds stay in the recording: advice runs the statements again with the values they had.
  let recorder = Recorder(detail: [.work, .binds])
  let hub = EventHub()
  /// Parents before their children.
  private(set) var contexts: [Named] = []
  private(set) var shapes: [String: ContextShape] = [:]
  private let storeURL: URL
  private let model: NSManagedObjectModel
  private let isReadOnly: Bool
  /// Whether the model is none of those that the store was made with.
  private let ignoresVersions: Bool
  /// Receives the rows that are skipped in a read-only store.
  private let damagedRows: SkippedRows
  private var coordinators: [String: NSPersistentStoreCoordinator] = [:]
  /// What the file was opened with.
  private(set) var pragmas: [String: String] = [:]

  /// Opens a store, and makes the main context over it.
  ///
  /// - Parameters:
  ///   - damagedRows: receives the rows that are skipped in a read-only store.
  ///   - sinks: additional sinks, from the opening on.
  /// - Throws: the coordinator's `NSError`.
  init(
    storeURL: URL, model: NSManagedObjectModel, isReadOnly: Bool, ignoresVersions: Bool = false,
    damagedRows: SkippedRows, sinks: [any EventSink]
  ) throws {
    self.damagedRows = damagedRows
    self.storeURL = storeURL
    self.model = model
    self.isReadOnly = isReadOnly
    self.ignoresVersions = ignoresVersions
    hub.add(recorder)
    for sink in sinks { hub.add(sink) }
    try set(ContextShape(), for: ContextShape.main)
  }

  /// The context that is there from the beginning.
  var main: NSManagedObjectContext { contexts[0].context }

  /// The context of a name; the main one for an unknown name.
  func context(_ name: String) -> NSManagedObjectContext {
    contexts.first { $0.name == name }?.context ?? main
  }

  /// Makes a context of a shape, or changes one that is there.
  ///
  /// A coordinator with a new name is created, which opens the file again.
  /// - Throws: the coordinator's `NSError`.
  func set(_ shape: ContextShape, for name: String) throws {
    if !contexts.contains(where: { $0.name == name }) {
      contexts.append(Named(name: name, context: try makeContext(shape, name)))
    }
    let context = context(name)
    context.performAndWait { shape.apply(to: context) }
    shapes[name] = shape
  }

  /// Lets a context go; its objects must be gone by then.
  func remove(_ name: String) {
    contexts.removeAll { $0.name == name }
    shapes[name] = nil
  }

  /// Waits for what contexts do on each other's behalf: merges propagate to children, and parents release objects.
  func settle() {
    guard contexts.count > 1 else { return }
    for named in contexts + contexts.reversed() { named.context.performAndWait {} }
  }

  /// Names the step that causes whatever happens now.
  func setCallSite(_ location: CallSite) {
    for named in contexts {
      named.context.performAndWait { named.context.callSite = location }
    }
  }

  /// Opens the file again with a pragma: cold, all contexts as they were, without their objects.
  ///
  /// - Throws: the coordinator's `NSError`; the file is open without the pragma then.
  func reopen(pragma name: String, _ value: String) throws {
    let former = (pragmas: pragmas, contexts: contexts)
    let known = contexts.map { ($0.name, shapes[$0.name] ?? ContextShape()) }
    pragmas[name] = value
    do {
      try reopen(known)
    } catch {
      pragmas = former.pragmas
      // Contexts without a store fail at the next fetch; the main one has to be there.
      do { try reopen(known) } catch { contexts = former.contexts }
      throw error
    }
  }

  private func reopen(_ known: [(String, ContextShape)]) throws {
    contexts = []
    for coordinator in coordinators.values {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
    coordinators = [:]
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
    var options: [String: Any] =
      isReadOnly ? [NSReadOnlyPersistentStoreOption: true, SkippedRows.option: damagedRows] : [:]
    if ignoresVersions { options[NSIgnorePersistentStoreVersioningOption] = true }
    if !pragmas.isEmpty { options[NSSQLitePragmasOption] = pragmas }
    try made.addPersistentStore(type: .sqlite, at: storeURL, options: options)
    coordinators[name] = made
    return made
  }
}

extension ContextShape {
  /// Sets what can be set at any time; on the context's queue.
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
