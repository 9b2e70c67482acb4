public import OpenCoreData
import ProfileEvents
import Synchronization

/// An observation of the operations of all contexts of a coordinator.
///
/// It ends when it's canceled or released. Its operations can be converted to spans, metrics, and
/// lines of a log; the package in `Integrations/Observability` does so.
///
/// **Cost:** none without an observation. With one, each fetch, save, fault, and statement is
/// reported, a fault that has its row as well: about a microsecond each, and the time of the body.
/// An operation has up to 1,000 operations in it; the others are only counted.
public final class CoreDataObservation: Sendable {
  private let hub: EventHub
  private let collector: OperationCollector

  init(_ hub: EventHub, _ body: @escaping @Sendable (CoreDataOperation) -> Void) {
    self.hub = hub
    collector = OperationCollector(body)
    hub.add(collector)
  }

  deinit {
    cancel()
  }

  /// Ends the observation; a second call does nothing.
  ///
  /// It doesn't wait for a body that's running on another thread.
  public func cancel() {
    hub.remove(collector)
  }
}

extension NSPersistentStoreCoordinator {
  /// Reports what all contexts of the coordinator do, from now on.
  ///
  /// Several observations are independent of each other.
  ///
  /// - Parameter body: Receives each operation that no other one caused, when it has ended, on the
  ///   thread on which it ended: that of the block of a context, so it has the task-local values of
  ///   that block. The context waits for it. Don't use a context in it. A fetch or fault that
  ///   fails is reported at the end of the block of its context, and only inside of one.
  /// - Returns: The observation, which ends when it's released.
  public func observeOperations(
    _ body: @escaping @Sendable (CoreDataOperation) -> Void
  ) -> CoreDataObservation {
    CoreDataObservation(eventHub, body)
  }
}

extension NSPersistentContainer {
  /// Reports what all contexts of the container do, from now on.
  ///
  /// - Parameter body: As for a coordinator.
  /// - Returns: The observation, which ends when it's released.
  public func observeOperations(
    _ body: @escaping @Sendable (CoreDataOperation) -> Void
  ) -> CoreDataObservation {
    persistentStoreCoordinator.observeOperations(body)
  }
}
