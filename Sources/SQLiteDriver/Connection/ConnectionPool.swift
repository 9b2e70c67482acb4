import Foundation
import ProfileEvents

/// Connections over one file: one that writes, and readers that are leased one thread at a time.
///
/// All methods may be called from any thread. No connection is ever with two threads at once.
// Sendable unchecked: `lock` guards the mutable state, `writerLock` the use of the writer.
package final class ConnectionPool: @unchecked Sendable {
  /// What a new connection gets before anyone uses it.
  ///
  /// A closure of several lines must say `connection throws(SQLiteError) in`.
  package typealias Configure = @Sendable (Connection) throws(SQLiteError) -> Void

  /// The number of readers that are kept by default.
  package static let usualReaders = 4

  package let path: String
  package let access: Connection.Access
  private let options: Connection.Options
  private let maximumReaders: Int
  private let configure: Configure

  /// Whether the connections share a database in memory.
  package var isInMemory: Bool { options.isInMemory }

  private let writer: Connection?
  private let writerLock = NSLock()
  /// The thread inside `withWriter`; nil between two uses.
  ///
  /// Guarded by `lock`.
  private var writingThread: UInt64?

  private let lock = NSLock()
  /// Readers that aren't checked out.
  ///
  /// Guarded by `lock`.
  private var idle: [Connection] = []
  /// The state of the files the readers look at; nil unless looking.
  ///
  /// Guarded by `lock`.
  private var lookedAt: StoreFileInspection?
  /// The copy all readers share, if there is one.
  ///
  /// Guarded by `lock`.
  private var copy: PrivateCopy?
  /// Guarded by `lock`.
  private var isClosed = false
  /// The ways to the connections that are open, in use or not.
  ///
  /// Guarded by `lock`.
  private var interruptions: [Interruption] = []

  /// Opens the first connection: the writer, or for `.looking` a reader, so that a file that
  /// cannot be used fails here.
  ///
  /// `access` is that of the pool as a whole: with `.writing` readers are opened as `.reading`;
  /// with `.looking` or `.reading` there's no writer. `configure` runs once on each connection,
  /// before anyone gets it: functions, collations, timing. At most `maximumReaders` readers are
  /// kept when they aren't in use; more are opened as needed. `:memory:` isn't a path for a pool: each of its
  /// connections would have a database of its own.
  package init(
    path: String, access: Connection.Access, options: Connection.Options = .init(),
    maximumReaders: Int = usualReaders, configure: @escaping Configure = { _ in }
  ) throws(SQLiteError) {
    precondition(path != ":memory:", "A pool needs a file; :memory: is private to a connection.")
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
      lookedAt = first.inspection
      copy = first.copy
    }
    interruptions = [first.interruption]
  }

  /// Stops the statements that run now, on all connections; each fails with `SQLITE_INTERRUPT`.
  ///
  /// From any thread. Where no statement runs, nothing happens.
  package func interrupt() {
    for interruption in lock.withLock({ interruptions }) { interruption.send() }
  }

  /// Stops the statement that the writer runs now, which fails with `SQLITE_INTERRUPT`; readers go on.
  ///
  /// From any thread. Where it runs none, nothing happens. SQLite rolls back what the statement has
  /// written, with the transaction around it.
  package func interruptWriter() { writer?.interrupt() }

  /// Keeps the way to a new connection, and forgets those to closed ones.
  private func note(_ connection: Connection) {
    lock.withLock {
      interruptions.removeAll(where: \.isEnded)
      interruptions.append(connection.interruption)
    }
  }

  deinit {
    close()
  }

  /// A reader for the calling thread alone, until it is given back.
  ///
  /// Never waits for another user.
  ///
  /// Opening one costs some 100 µs; an idle one costs a lock. Throws `SQLITE_MISUSE` after
  /// `close()`, which another thread may have called.
  /// A looking reader opened later than the first may see a newer state; see `reopenIfChanged()`.
  /// In memory, a reader can't read during an open write transaction: on the thread inside
  /// `withWriter`, the writer itself is leased.
  package func lease() throws(SQLiteError) -> Connection {
    if let writer = borrowedWriter { return writer }
    let (reader, copy) = try takeIdle()
    if let reader { return reader }
    let readerAccess: Connection.Access = access == .writing ? .reading : access
    let connection = try Connection(
      path: path, access: readerAccess, options: options, sharing: copy)
    do {
      try configure(connection)
    } catch {
      connection.close()
      throw error
    }
    note(connection)
    return connection
  }

  /// The writer, for reads of the thread that uses it while nothing else could read.
  private var borrowedWriter: Connection? {
    guard isInMemory, let writer else { return nil }
    let thread = MonotonicClock.threadID()
    return lock.withLock { writingThread == thread } ? writer : nil
  }

  /// Whether a leased connection is the writer, which must be returned before `withWriter` ends.
  package func isWriter(_ connection: Connection) -> Bool { connection === writer }

  /// A private copy of the database in memory, configured like every connection.
  ///
  /// The caller closes it. Cost: as many bytes as the database has.
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

  /// Takes a reader back: ends its runs and its transaction, and keeps it or closes it.
  package func returnToPool(_ connection: Connection) {
    if connection === writer { return }
    connection.rest()
    let isKept = lock.withLock {
      guard !isClosed, connection.handle != nil, idle.count < maximumReaders,
        connection.inspection == lookedAt
      else { return false }
      idle.append(connection)
      return true
    }
    if !isKept { connection.close() }
  }

  /// Looks again when the store was written to since the pool began to look.
  ///
  /// True: readers leased from now on see the new state, those that are out keep the old one until
  /// they are given back. False: nothing changed. Costs some microseconds, or an opening.
  package func reopenIfChanged() throws(SQLiteError) -> Bool {
    guard let seen = lock.withLock({ lookedAt }), seen.isStale else { return false }
    let connection = try Connection(path: path, access: access, options: options)
    do {
      try configure(connection)
    } catch {
      connection.close()
      throw error
    }
    note(connection)
    let old = lock.withLock {
      defer { idle = [connection] }
      lookedAt = connection.inspection
      copy = connection.copy
      return idle
    }
    for reader in old { reader.close() }
    return true
  }

  /// Runs the closure with the writer; others wait until it returns.
  ///
  /// Throws `SQLITE_MISUSE` after `close()`, which another thread may have called. Traps when the
  /// pool has no writer, and when it is called inside itself.
  /// A transaction the closure leaves open stays open for the next caller.
  package func withWriter<Result>(
    _ body: (Connection) throws -> Result
  ) throws -> Result {
    guard let writer else {
      preconditionFailure("The store at \(path) was opened for reading: it has no writer.")
    }
    let thread = MonotonicClock.threadID()
    let isNested = lock.withLock { writingThread == thread }
    precondition(!isNested, "withWriter was called inside withWriter; pass the connection on.")
    writerLock.lock()
    lock.withLock { writingThread = thread }
    defer {
      lock.withLock { writingThread = nil }
      writerLock.unlock()
    }
    if lock.withLock({ isClosed }) { throw closedError }
    return try body(writer)
  }

  /// Closes the writer, once it isn't in use, and the idle readers.
  ///
  /// A leased reader is closed when it is given back. Closing twice is harmless.
  package func close() {
    let readers = lock.withLock {
      isClosed = true
      copy = nil
      defer { idle = [] }
      return idle
    }
    for reader in readers { reader.close() }
    // Last: the last connection to close checkpoints the log and removes it.
    writerLock.withLock { writer?.close() }
  }

  private func takeIdle() throws(SQLiteError) -> (Connection?, PrivateCopy?) {
    lock.lock()
    defer { lock.unlock() }
    if isClosed { throw closedError }
    return (idle.popLast(), copy)
  }

  private var closedError: SQLiteError {
    SQLiteError(code: .misuse, message: "the store at \(path) was closed")
  }
}
