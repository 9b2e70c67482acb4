/// A loop that starts the operations of several queues, with a limit of how many run at once.
///
/// Whenever an operation can start, the loop takes one from the first queue that has any, so that
/// earlier queues have precedence. It's for protocols that can't order requests themselves, such as
/// HTTP/1.1; see chapter 9 of the book. A loop belongs to the queue it's used on.
public final class OperationLoop {
  /// An operation, which calls its argument when it's done, on the loop's queue.
  public typealias Operation = (_ done: @escaping () -> Void) -> Void

  private let limit: Int
  private var pending: [[Operation]]
  private var running = 0

  /// Creates a loop without operations.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of operations that run at once, 1 or more.
  ///   - queues: The number of queues.
  public init(limit: Int, queues: Int) {
    precondition(limit > 0, "an operation loop runs at least one operation")
    self.limit = limit
    pending = Array(repeating: [], count: queues)
  }

  /// Adds an operation to a queue, and starts it if the limit and earlier operations allow it.
  public func add(to queue: Int, _ operation: @escaping Operation) {
    pending[queue].append(operation)
    startOperations()
  }

  private func startOperations() {
    while running < limit, let queue = pending.firstIndex(where: { !$0.isEmpty }) {
      running += 1
      let operation = pending[queue].removeFirst()
      var isDone = false
      operation { [self] in
        guard !isDone else { return }
        isDone = true
        running -= 1
        startOperations()
      }
    }
  }
}
