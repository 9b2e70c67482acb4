import Synchronization

/// A loop that starts the operations of several queues, with a limit of how many run at once.
///
/// Whenever an operation can start, the loop takes one from the first queue that has any, so that
/// earlier queues have precedence. It's for protocols that can't order requests themselves, such as
/// HTTP/1.1; see chapter 9 of the book.
public final class OperationLoop: Sendable {
  /// An operation, which calls its argument when it's done, on any queue.
  public typealias Operation = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  private struct State: Sendable {
    var pending: [[Operation]]
    /// The numbers of the running operations.
    var running: Set<Int> = []
    var started = 0
  }

  private let limit: Int
  private let state: Mutex<State>

  /// Creates a loop without operations.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of operations that run at once, 1 or more.
  ///   - queues: The number of queues.
  public init(limit: Int, queues: Int) {
    precondition(limit > 0, "an operation loop runs at least one operation")
    self.limit = limit
    state = Mutex(State(pending: Array(repeating: [], count: queues)))
  }

  /// Adds an operation to a queue, and starts it if the limit and earlier operations allow it.
  public func add(to queue: Int, _ operation: @escaping Operation) {
    state.withLock { $0.pending[queue].append(operation) }
    startOperations()
  }

  private func startOperations() {
    while let (number, operation) = state.withLock({ nextOperation(&$0) }) {
      operation { [self] in
        let wasRunning = state.withLock { $0.running.remove(number) != nil }
        if wasRunning { startOperations() }
      }
    }
  }

  private func nextOperation(_ state: inout State) -> (number: Int, operation: Operation)? {
    guard state.running.count < limit,
      let queue = state.pending.firstIndex(where: { !$0.isEmpty })
    else { return nil }
    state.started += 1
    state.running.insert(state.started)
    return (state.started, state.pending[queue].removeFirst())
  }
}
