import Foundation

/// A bounded number of connections to one server, which are established when they're needed.
///
/// Any thread may use it.
package final class PostgresPool: @unchecked Sendable {  // the state is used under `condition`
  private let settings: ConnectionSettings
  private let size: Int
  private let wait: Double
  private let observer: (@Sendable (PostgresExchange) -> Void)?
  private let condition = NSCondition()
  private var idle: [PostgresConnection] = []
  private var inUse = 0
  private var isClosed = false

  /// Creates a pool without a connection.
  ///
  /// - Parameters:
  ///   - size: The maximum number of connections, at least 1.
  ///   - wait: The seconds that a caller waits for a free connection.
  ///   - observer: Called after each statement of a connection.
  package init(
    _ settings: ConnectionSettings, size: Int, wait: Double = 30,
    observer: (@Sendable (PostgresExchange) -> Void)? = nil
  ) {
    self.settings = settings
    self.size = max(1, size)
    self.wait = wait
    self.observer = observer
  }

  /// The number of open connections.
  package var connectionCount: Int {
    condition.lock()
    defer { condition.unlock() }
    return idle.count + inUse
  }

  /// Calls a body with a connection that no other thread uses.
  ///
  /// - Throws: The body's errors; those of connecting; an error of the kind `exhausted` after the
  ///   wait. A call inside of another one uses a second connection.
  package func withConnection<R>(_ body: (PostgresConnection) throws -> R) throws -> R {
    let connection = try take()
    defer { give(back: connection) }
    return try body(connection)
  }

  /// Closes the free connections now, and the others when they're returned.
  package func close() {
    condition.lock()
    defer { condition.unlock() }
    isClosed = true
    idle = []
    condition.broadcast()
  }

  private func take() throws(PostgresError) -> PostgresConnection {
    condition.lock()
    let deadline = Date(timeIntervalSinceNow: wait)
    while idle.isEmpty, inUse >= size, !isClosed {
      guard condition.wait(until: deadline) else { break }
    }
    if isClosed {
      condition.unlock()
      throw PostgresError(.connection, "The connections are closed.")
    }
    if let connection = idle.popLast() {
      inUse += 1
      condition.unlock()
      return connection
    }
    guard inUse < size else {
      condition.unlock()
      throw PostgresError(
        .exhausted, "All \(size) connections are in use, and none became free in \(wait) seconds.")
    }
    inUse += 1
    condition.unlock()
    do {
      return try PostgresConnection(settings, observer: observer)
    } catch {
      give(back: nil)
      throw error
    }
  }

  private func give(back connection: PostgresConnection?) {
    condition.lock()
    defer { condition.unlock() }
    inUse -= 1
    if let connection, connection.isUsable, !isClosed { idle.append(connection) }
    condition.signal()
  }
}
