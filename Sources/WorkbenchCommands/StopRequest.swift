import Synchronization

/// Whether Ctrl-C was pressed.
final class StopRequest: Sendable {
  private let flag = Atomic(false)

  var isRequested: Bool { flag.load(ordering: .relaxed) }

  /// Requests a stop, and returns whether one was requested before.
  func request() -> Bool { flag.exchange(true, ordering: .relaxed) }
}
