import Foundation
import ProfileEvents

/// A pool of connections to one file: a writer, and readers that are checked out by one thread at a
/// time.
///
/// All methods can be called from any thread. A connection is never used by two threads at once.
// Sendable is unchecked: `lock` guards the mutable state, `writerLock` the use of the writer.
package final class ConnectionPool: @unchecked Sendable {
  /// A closure that configures a new connection before its first use.
  ///
  /// A closure with several statements needs the signature `connection throws(SQLiteError) in`.
  package typealias Configure = @Sendable (Connection) throws(SQLiteError) -> Void

  /// The default number of idle readers to keep.
  package static let usualReaders = 4

  package let path: String
  package let access: Connection.Access
  private let options: Connection.Options
  private let maximumReaders: Int
  private let configure: Configure

  /// Whether the connections share an in-memory database.
  package var isInMemory: Bool { options.isInMemory }

  private let writer: Connection?
  private let writerLock = NSLock()
  /// The thread that is running `withWriter`, or `nil`.
  ///
  /// Guarded by `lock`.
  private var writingThread: UInt64?

  private let lock = NSLock()
  /// Readers that aren't checked out.
  ///
  /// Guarded by `lock`.
  private var idle: [Connection] = []
  /// The state of the files that read-only readers use, or `nil` for other kinds of access.
  ///
  /// Guarded by `lock`.
  private var inspection: StoreFileInspection?
  /// The temporary copy that all readers share, if there is one.
  ///
  /// Guarded by `lock`.
  private var copy: TemporaryCopy?
  /// Guarded by `lock`.
  private var isClosed = false
  /// The interruptions of all open connections, in use or idle.
  ///
  /// Guarded by `lock`.
  private var interruptions: [Interruption] = []

  /// Opens the first connection, so that opening a file that can't be used fails.
  ///
  /// This is the writer, or a reader for `.inspecting`.
  ///
  /// `access` applies to the entire pool: with `.writing`, readers are opened as `.reading`; with
  /// `.inspecting` or `.reading`, there's no writer. `configure` runs once for each connection
  /// before its first use, for example to register functions and collations. At most
  /// `maximumReaders` idle readers are kept; more are opened as needed. `:memory:` isn't a valid
  /// path, because each connection would have a separate database.
  package init(
    path: String, access: Connection.Access, options: Connection.Options = .init(),
    maximumReaders: Int = usualReaders, configure: @escaping Configure = { _ in }
  ) throws(SQLiteError) {
    guard path != ":memory:" else {
      fatalError("A pool needs a file; :memory: is private to a connection.")
    }
    self.path = path
    self.access = access
    self.options = options
    self.maximumReaders = maximumReaders
    self.configure = configure
    let first = try Connection(path: path, access: access, options: options)
    do {
      try configure(first)
    } catch {
      first.close()
      throw error
    }
    if access == .writing {
      writer = first
    } else {
      writer = nil
      idle = [first]
      inspection = first.inspection
      copy = first.copy
    }
    interruptions = [first.interruption]
  }

  /// Interrupts the running statements of all connections; each fails with `SQLITE_INTERRUPT`.
  ///
  /// Call this method from any thread. It has no effect on connections without a running statement.
  package func interrupt() {
    for interruption in lock.withLock({ interruptions }) { interruption.send() }
  }

  /// Interrupts the running statement of the writer, which fails with `SQLITE_INTERRUPT`.
  ///
  /// Readers aren't affected.
  ///
  /// Call this method from any thread. It has no effect if the writer isn't running a statement.
  /// SQLite rolls back the changes of the statement and of its transaction.
  package func interruptWriter() { writer?.interrupt() }

  /// Stores the interruption of a new connection, and removes those of closed ones.
  private func note(_ connection: Connection) {
    lock.withLock {
      interruptions.removeAll(where: \.isEnded)
      interruptions.append(connection.interruption)
    }
  }

  deinit {
    close()
  }

  /// Checks out a reader for exclusive use by the calling thread until it's returned.
  ///
  /// Never waits for another user. A `.inspecting` reader opened later than the first can read a
  /// newer state; see `reopenIfChanged()`. In memory, a reader can't read during an open write
  /// transaction: on the thread inside `withWriter`, this method returns the writer itself.
  ///
  /// **Cost:** a lock if a reader is idle, or about 100 µs to open one.
  ///
  /// - Throws: `SQLITE_MISUSE` after `close()`, which another thread can have called.
  package func lease() throws(SQLiteError) -> Connection {
    if let writer = borrowedWriter { return writer }
    let (reader, copy) = try takeIdle()
    if let reader { return reader }
    let readerAccess: Connection.Access = access == .writing ? .reading : access
    return try open(readerAccess, sharing: copy)
  }

  /// Opens and configures a connection that isn't in the pool yet.
  private func open(
    _ access: Connection.Access, sharing copy: TemporaryCopy?
  ) throws(SQLiteError) -> Connection {
    let connection = try Connection(path: path, access: access, options: options, sharing: copy)
    do {
      try configure(connection)
    } catch {
      connection.close()
      throw error
    }
    note(connection)
    return connection
  }

  /// The writer, for reads on the thread that uses it when no other connection can read.
  private var borrowedWriter: Connection? {
    guard isInMemory, let writer else { return nil }
    let thread = MonotonicClock.threadID()
    return lock.withLock { writingThread == thread } ? writer : nil
  }

  /// Returns whether a checked-out connection is the writer, which must be returned before
  /// `withWriter` ends.
  package func isWriter(_ connection: Connection) -> Bool { connection === writer }

  /// Returns a separate copy of the in-memory database, configured like every connection.
  ///
  /// The caller closes it.
  ///
  /// **Cost:** copies the entire database.
  package func copyInMemory() throws(SQLiteError) -> Connection {
    let copy = try Connection(path: ":memory:", access: .writing)
    do {
      try configure(copy)
      let reader = try lease()
      defer { returnToPool(reader) }
      try reader.copy(into: copy)
      return copy
    } catch {
      copy.close()
      throw error
    }
  }

  /// Returns a reader to the pool.
  ///
  /// Resets its statements, rolls back its transaction, and keeps or closes it. One that can't be
  /// rolled back is closed.
  package func returnToPool(_ connection: Connection) {
    if connection === writer { return }
    connection.rest()
    let isKept = lock.withLock {
      guard !isClosed, connection.handle != nil, !connection.isInTransaction,
        idle.count < maximumReaders, connection.inspection == inspection
      else { return false }
      idle.append(connection)
      return true
    }
    if !isKept { connection.close() }
  }

  /// Reopens the store if it was written to since the pool opened it read-only.
  ///
  /// **Cost:** several microseconds, or the cost of opening.
  ///
  /// - Returns: `true` if readers checked out from now on read the new state; those that are in use
  ///   keep the previous one until they're returned. `false` if nothing changed.
  package func reopenIfChanged() throws(SQLiteError) -> Bool {
    guard let seen = lock.withLock({ inspection }), seen.isStale else { return false }
    let connection = try open(access, sharing: nil)
    let old = lock.withLock {
      defer { idle = [connection] }
      inspection = connection.inspection
      copy = connection.copy
      return idle
    }
    for reader in old { reader.close() }
    return true
  }

  /// Runs a closure with exclusive use of the writer.
  ///
  /// Other callers wait until the closure returns. A transaction that the closure leaves open,
  /// because a ROLLBACK failed, is rolled back before the next call. It's a programmer error to
  /// call this method if the pool has no writer, or from inside the closure.
  ///
  /// - Throws: `SQLITE_MISUSE` after `close()`, which another thread can have called.
  package func withWriter<Result>(
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    guard let writer else {
      fatalError("The store at \(path) was opened for reading: it has no writer.")
    }
    let thread = MonotonicClock.threadID()
    let isNested = lock.withLock { writingThread == thread }
    guard !isNested else {
      fatalError("withWriter was called inside withWriter; pass the connection on.")
    }
    writerLock.lock()
    lock.withLock { writingThread = thread }
    defer {
      lock.withLock { writingThread = nil }
      writerLock.unlock()
    }
    if lock.withLock({ isClosed }) { throw closedError }
    if writer.isInTransaction { try writer.execute("ROLLBACK") }
    return try body(writer)
  }

  /// Closes the idle readers, and the writer as soon as it isn't in use.
  ///
  /// A checked-out reader is closed when it's returned. Subsequent calls have no effect.
  package func close() {
    let readers = lock.withLock {
      isClosed = true
      copy = nil
      defer { idle = [] }
      return idle
    }
    for reader in readers { reader.close() }
    // Last, because the last connection to close checkpoints the WAL and removes it.
    writerLock.withLock { writer?.close() }
  }

  private func takeIdle() throws(SQLiteError) -> (Connection?, TemporaryCopy?) {
    lock.lock()
    defer { lock.unlock() }
    if isClosed { throw closedError }
    return (idle.popLast(), copy)
  }

  private var closedError: SQLiteError {
    SQLiteError(code: .misuse, message: "the store at \(path) was closed")
  }
}
