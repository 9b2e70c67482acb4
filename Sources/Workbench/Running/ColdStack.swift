import OpenCoreData
import ProfileEvents

/// A coordinator with nothing cached, its one context, and what listens to it.
final class ColdStack {
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext
  // Binds stay in the recording: advice runs the statements again with the values they had.
  let recorder = Recorder(detail: [.work, .binds])

  /// Opens a store.
  ///
  /// - Parameter sinks: what listens beside the recorder, from the opening on.
  /// - Throws: the coordinator's `NSError`.
  init(
    storeURL: URL, model: NSManagedObjectModel, isReadOnly: Bool, sinks: [any EventSink]
  ) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    coordinator.eventHub.add(recorder)
    for sink in sinks { coordinator.eventHub.add(sink) }
    try coordinator.addPersistentStore(
      type: .sqlite, at: storeURL,
      options: isReadOnly ? [NSReadOnlyPersistentStoreOption: true] : nil)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.name = StepCheck.mainContext
  }
}
