import Synchronization

/// The contexts that automatically merge what is saved to a coordinator or to a parent context.
///
/// Keeps no strong references. Any thread may use it.
final class AutomaticMergeObservers<Context: AnyObject & Sendable>: Sendable {
  private struct Observer {
    weak var context: Context?
  }

  private let observers = Mutex<[Observer]>([])

  var contexts: [Context] {
    observers.withLock { $0.compactMap(\.context) }
  }

  func add(_ context: Context) {
    observers.withLock { observers in
      observers.removeAll { $0.context == nil }
      observers.append(Observer(context: context))
    }
  }

  func remove(_ context: Context) {
    observers.withLock { $0.removeAll { $0.context == nil || $0.context === context } }
  }
}
