public import Dispatch
import Moody
public import OpenCoreData

/// An owner of the view context and the sync context.
///
/// It merges the changes of each context into the other, and passes the objects that either has
/// saved to the code that synchronizes them.
public protocol ContextOwner: AnyObject, Sendable {
  /// The context of the user interface.
  var viewContext: NSManagedObjectContext { get }
  /// The context on whose queue all synchronizing is done.
  var syncContext: NSManagedObjectContext { get }
  /// The group of all work on the sync context's queue.
  var syncGroup: DispatchGroup { get }

  /// Keeps an observation active as long as the owner exists.
  func addObservation(_ observation: Observation)

  /// Processes objects that a context has inserted or updated, on the sync context's queue.
  func processChangedLocalObjects(_ objects: [NSManagedObject])
}

/// An observation of a notification, which ends when it's released.
public final class Observation: @unchecked Sendable {  // immutable; the center is thread-safe
  private let token: any NSObjectProtocol

  /// Observes a notification of a context, on the queue that the context posts it on.
  public init(
    of name: Notification.Name, from context: NSManagedObjectContext,
    _ block: @escaping @Sendable (Notification) -> Void
  ) {
    token = NotificationCenter.default.addObserver(
      forName: name, object: context, queue: nil, using: block)
  }

  deinit {
    NotificationCenter.default.removeObserver(token)
  }
}

extension ContextOwner {
  /// Pins both contexts to the current query generation, marks the view context as the user's, and
  /// starts observing saves.
  ///
  /// Waits for the contexts' queues. Merging and saving move a context to the new generation.
  public func setupContexts() {
    for context in [viewContext, syncContext] {
      context.performAndWait {
        // Stores other than SQLite's have no generations.
        try? context.setQueryGenerationFrom(.current)
        // The observations merge saves before they're processed.
        context.automaticallyMergesChangesFromParent = false
        context.tracksLocalChanges = context === viewContext
      }
    }
    for (source, destination) in [(viewContext, syncContext), (syncContext, viewContext)] {
      addObservation(
        Observation(of: .NSManagedObjectContextDidSave, from: source) { [weak self] note in
          let changes = SavedChanges(note)
          destination.performMergeChanges(from: changes)
          self?.notifyAboutChangedObjects(from: changes)
        })
    }
  }

  /// Passes inserted and updated objects to `processChangedLocalObjects(_:)`.
  ///
  /// Neither the context that saved them nor whether they were inserted makes a difference, because
  /// neither is known after the program has quit.
  private func notifyAboutChangedObjects(from changes: SavedChanges) {
    syncContext.perform(group: syncGroup) { [weak self] in
      guard let self else { return }
      let objects =
        changes.updated.remap(to: syncContext) + changes.inserted.remap(to: syncContext)
      guard !objects.isEmpty else { return }
      processChangedLocalObjects(objects)
    }
  }
}
