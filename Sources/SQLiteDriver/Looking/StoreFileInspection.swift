import Foundation

/// What lies around a database file, and how it can be read without touching any of it.
///
/// Nothing is opened but the first byte of a journal. Four calls of `stat`, some microseconds.
package struct StoreFileInspection: Sendable, Hashable {
  /// How to look at the file.
  package enum Method: Sendable, Hashable {
    /// Everything is in the database file: SQLite is told that nobody changes it.
    case immutable
    /// Committed rows are in the `-wal` file: it is read with its index in memory.
    case writeAheadLog
    /// A transaction was cut off and must be rolled back, which writes: a copy is read instead.
    case privateCopy
  }

  /// The path with links resolved; the neighbours are beside it.
  package let path: String
  package let database: FileStamp
  /// The write-ahead log.
  package let log: FileStamp?
  /// The rollback journal.
  package let journal: FileStamp?
  /// Whether the journal holds pages to roll back.
  ///
  /// True also while another process is in the middle of a transaction with a rollback journal.
  package let journalIsHot: Bool

  /// Throws `SQLITE_CANTOPEN`, with a sentence that says why, when there is no such file.
  package init(path: String) throws(SQLiteError) {
    if let problem = StoreFileProblem.ofPath(path) {
      throw SQLiteError(code: problem.code, message: problem.description)
    }
    let resolved = StoreFileInspection.resolved(path)
    guard let database = FileStamp(path: resolved) else {
      let problem = StoreFileProblem.missing(path: path)
      throw SQLiteError(code: problem.code, message: problem.description)
    }
    // SQLite follows no link there either, and waits for the writer of a FIFO.
    for suffix in ["-wal", "-journal"] where FileStamp.isSpecial(path: resolved + suffix) {
      let problem = StoreFileProblem.notAFile(path: path + suffix)
      throw SQLiteError(code: problem.code, message: problem.description)
    }
    self.path = resolved
    self.database = database
    log = FileStamp(path: resolved + "-wal", followsLinks: false)
    journal = FileStamp(path: resolved + "-journal", followsLinks: false)
    journalIsHot = StoreFileInspection.isHot(journal, path: resolved + "-journal")
  }

  /// An empty database file is always read as it is: with a log or a journal beside it SQLite would
  /// delete those.
  package var method: Method {
    if database.size == 0 { return .immutable }
    if journalIsHot { return .privateCopy }
    if let log, log.size > 0 { return .writeAheadLog }
    return .immutable
  }

  /// Whether the files changed since, or cannot be found any more.
  ///
  /// Three calls of `stat`.
  package var isStale: Bool {
    FileStamp(path: path) != database
      || FileStamp(path: path + "-wal", followsLinks: false) != log
      || FileStamp(path: path + "-journal", followsLinks: false) != journal
  }

  /// Whether a write from now on is sure to show in the stamps.
  ///
  /// A file system's clock ticks every few milliseconds. A file written within the last tick may
  /// be written again without a change of its time. Times that lie ahead are taken as settled.
  var isSettled: Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let time = Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec)
    return [database, log, journal].allSatisfy { stamp in
      guard let stamp else { return true }
      return !(0..<StoreFileInspection.settlingTime).contains(time - stamp.modified)
    }
  }

  /// In nanoseconds; twice the longest tick of Linux.
  private static let settlingTime: Int64 = 20_000_000

  /// The folder the files are in.
  var folder: String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  static func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  /// SQLite's own test: a journal without content, or with a first byte of zero, is over.
  ///
  /// One that cannot be read counts as hot, so that it is not passed over in silence.
  private static func isHot(_ journal: FileStamp?, path: String) -> Bool {
    guard let journal, journal.size > 0 else { return false }
    let file = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return true }
    defer { Foundation.close(file) }
    var first: UInt8 = 0
    return Foundation.read(file, &first, 1) != 1 || first != 0
  }
}
