import Foundation

/// Connections over one file: one that writes, and readers that are leased one thread at a time.
///
/// All methods may be called from any thread. No connection is ever with two threads at once.
// Sendable unchecked: `lock` guards the mutable state, `writerLock` whoever uses the writer.
package final class ConnectionPool: @unchecked Sendable {
  package typealias Configure = @Sendable (Connection) throws(SQLiteError) -> Void

  package let path: String
  package let access: Connection.Access
  private let options: Connection.Options
  private let maximumReaders: Int
  private let configure: Configure

  private let writer: Connection?
  private let writerLock = NSLock()
  /// The thread inside `withWriter`; nil between two uses. Guarded by `lock`.
  private var writingThread: ObjectIdentifier?

  private let lock = NSLock()
  /// Readers nobody has leased. Guarded by `lock`.
  private var idle: [Connection] = []
  /// Guarded by `lock`.
  private var isClosed = false

  /// Opens the first connection: the writer, or for `.looking` a reader, so that a file that
  /// cannot be used fails here.
  ///
  /// `access` is that of the pool as a whole: with `.writing` readers are opened as `.reading`;
  /// with `.looking` or `.reading` there is no writer. `configure` runs once on each connection,
  /// before anyone gets it: functions, collations, timing. At most `maximumReaders` readers are
  /// kept when nobody uses them; a burst opens more.
  package init(
    path: String, access: Connection.Access, options: Connection.Options = .init(),
    maximumReaders: Int = 4, configure: @escaping Configure = { _ in }
  ) throws(SQLiteError) {
    self.path = path
    self.access = access
    self.options = options
    self.maximumReaders = maximumReaders
    self.configure = configure
    let first = try Connection(path: path, access: access, options: options)
    try configure(first)
    if access == .writing {
      writer = first
    } else {
      writer = nil
      idle = [first]
    }
  }

  deinit {
    close()
  }

  /// A reader for the calling thread alone, until it is given back. Never waits.
  ///
  /// Opening one costs some 100 µs; an idle one costs a lock. Traps after `close()`.
  package func lease() throws(SQLiteError) -> Connection {
    if let connection = takeIdle() { return connection }
    let readerAccess: Connection.Access = access == .writing ? .reading : access
    let connection = try Connection(path: path, access: readerAccess, options: options)
    try configure(connection)
    return connection
  }

  /// Takes a reader back: ends its runs and its transaction, and keeps it or closes it.
  package func giveBack(_ connection: Connection) {
    connection.rest()
    let isKept = lock.withLock {
      guard !isClosed, idle.count < maximumReaders else { return false }
      idle.append(connection)
      return true
    }
    if !isKept { connection.close() }
  }

  /// Runs the closure with the writer; others wait until it returns.
  ///
  /// Traps when the pool has no writer or is closed, and when it is called inside itself.
  /// A transaction the closure leaves open stays open for the next caller.
  package func withWriter<Result>(
    _ body: (Connection) throws -> Result
  ) rethrows -> Result {
    guard let writer else {
      preconditionFailure("The store at \(path) was opened for reading: it has no writer.")
    }
    let thread = ObjectIdentifier(Thread.current)
    let isNested = lock.withLock { writingThread == thread }
    precondition(!isNested, "withWriter was called inside withWriter; pass the connection on.")
    writerLock.lock()
    lock.withLock { writingThread = thread }
    defer {
      lock.withLock { writingThread = nil }
      writerLock.unlock()
    }
    return try body(writer)
  }

  /// Closes the writer, once nobody uses it, and the idle readers. A leased reader is closed when
  /// it is given back. Closing twice is harmless.
  package func close() {
    let readers = lock.withLock {
      isClosed = true
      defer { idle = [] }
      return idle
    }
    for reader in readers { reader.close() }
    // Last: the last connection to close checkpoints the log and removes it.
    writerLock.withLock { writer?.close() }
  }

  private func takeIdle() -> Connection? {
    lock.withLock {
      precondition(!isClosed, "The store at \(path) was read after it was closed.")
      return idle.popLast()
    }
  }
}
