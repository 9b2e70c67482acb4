import CSQLite
import Foundation

/// Why a file cannot be used as a store, found out before or after SQLite refused it.
package enum StoreFileProblem: Error, Sendable, Hashable {
  case missing(path: String)
  case directory(path: String)
  /// A socket, a pipe or a device.
  case notAFile(path: String)
  /// The file is there; the system does not let us read it.
  case unreadable(path: String, reason: String)
  /// Nothing was ever written to it.
  case empty(path: String)
  /// No SQLite header. An encrypted database looks the same.
  case notADatabase(path: String)
  /// The whole graph as one XML document, as Apple's framework writes it on macOS.
  case documentStore(path: String)
  /// The header gives more bytes than the file has, as in a truncated copy.
  case truncated(path: String, expectedBytes: Int64, foundBytes: Int64)
  /// A SQLite file whose content contradicts itself.
  case corrupt(path: String, reason: String)

  /// The closest result code, for callers that pass on SQLite's errors.
  package var code: ResultCode {
    switch self {
    case .missing, .notAFile, .unreadable: .cantOpen
    case .directory: .cantOpenIsDirectory
    case .empty, .notADatabase, .documentStore: .notADatabase
    case .truncated, .corrupt: .corrupt
    }
  }
}

extension StoreFileProblem: CustomStringConvertible {
  /// What is wrong with which file, as a sentence without a full stop.
  package var description: String {
    switch self {
    case .missing(let path):
      "there's no file \(path)"
    case .directory(let path):
      "\(path) is a folder"
    case .notAFile(let path):
      "\(path) isn't a regular file"
    case .unreadable(let path, let reason):
      "\(path) cannot be read: \(reason)"
    case .empty(let path):
      "\(path) is empty"
    case .notADatabase(let path):
      "\(path) is not a SQLite database, or it is encrypted"
    case .documentStore(let path):
      "\(path) is an XML store; only SQLite stores can be read"
    case .truncated(let path, let expected, let found):
      "\(path) is truncated: \(found) of \(expected) bytes are left"
    case .corrupt(let path, let reason):
      "\(path) is damaged: \(reason)"
    }
  }
}

extension StoreFileProblem {
  /// Looks at a file and says what is wrong with it; nil when it opens and its schema can be read.
  ///
  /// Changes nothing in the folder and doesn't wait. Reads the header and the schema, not every
  /// page: damage further in shows when it is read. A file with a transaction to roll back is not
  /// opened, and one that is written to meanwhile gets the benefit of the doubt.
  package static func examine(path: String) -> StoreFileProblem? {
    for _ in 0..<maximumTries {
      if let problem = ofPath(path) { return problem }
      let inspection: StoreFileInspection
      do throws(SQLiteError) {
        inspection = try StoreFileInspection(path: path)
      } catch {
        if let problem = ofNeighbors(path) { return problem }
        continue
      }
      let problem = ofFiles(inspection, path: path)
      if problem == nil || !inspection.isStale { return problem }
    }
    return nil
  }

  /// A journal or WAL that isn't a regular file.
  private static func ofNeighbors(_ path: String) -> StoreFileProblem? {
    let resolved = StoreFileInspection.resolved(path)
    return ["-wal", "-journal"].first { FileStamp.isSpecial(path: resolved + $0) }
      .map { .notAFile(path: path + $0) }
  }

  private static let maximumTries = 6

  /// What the header and the schema contain.
  private static func ofFiles(
    _ inspection: StoreFileInspection, path: String
  ) -> StoreFileProblem? {
    if inspection.database.size == 0 { return .empty(path: path) }
    do {
      let header = try DatabaseHeader(path: inspection.path)
      if let problem = header.problem(path: path, inspection) { return problem }
      if inspection.method == .privateCopy { return nil }
      let handle = try Connection.openFiles(inspection).handle
      defer { sqlite3_close_v2(handle) }
      try Connection.run("SELECT count(*) FROM sqlite_master", on: handle)
      return nil
    } catch {
      return of(error, path: path)
    }
  }

  /// The problem behind an error SQLite gave for the file; nil when the file is not to blame.
  package static func of(_ error: SQLiteError, path: String) -> StoreFileProblem? {
    switch error.code.primary {
    case .notADatabase: .notADatabase(path: path)
    case .corrupt: .corrupt(path: path, reason: error.message)
    case .cantOpen, .inputOutput, .permission:
      ofPath(path) ?? ofNeighbors(path) ?? .unreadable(path: path, reason: error.message)
    default: nil
    }
  }

  /// What the file system provides.
  package static func ofPath(_ path: String) -> StoreFileProblem? {
    if path.isEmpty || path.utf8.contains(0) { return .missing(path: path) }
    var info = stat()
    guard stat(path, &info) == 0 else {
      let reason = errno
      if reason == ENOENT || reason == ENOTDIR { return .missing(path: path) }
      return .unreadable(path: path, reason: String(cString: strerror(reason)))
    }
    switch info.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: return .directory(path: path)
    default: return .notAFile(path: path)
    }
    if access(path, R_OK) != 0 {
      return .unreadable(path: path, reason: String(cString: strerror(errno)))
    }
    return nil
  }
}

/// What lies around a database file, and how it can be read without touching any of it.
///
/// Nothing is opened but the first byte of a journal. Four calls of `stat`, some microseconds.
package struct StoreFileInspection: Sendable, Hashable {
  /// How to look at the file.
  package enum Method: Sendable, Hashable {
    /// Everything is in the database file, which is opened as immutable.
    case immutable
    /// Committed rows are in the `-wal` file: it is read with its index in memory.
    case writeAheadLog
    /// A hot journal must be rolled back, which writes: a copy is read instead.
    case privateCopy
  }

  /// The path with links resolved; the WAL and the journal are next to it.
  package let path: String
  package let database: FileStamp
  /// The write-ahead log.
  package let log: FileStamp?
  /// The rollback journal.
  package let journal: FileStamp?
  /// Whether the journal contains pages to roll back.
  ///
  /// True also while another process is in the middle of a transaction with a rollback journal.
  package let journalIsHot: Bool

  /// Throws `SQLITE_CANTOPEN`, with a sentence that says why, when there's no such file.
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

  /// An empty database file is always read as it is: with a WAL or a journal next to it, SQLite would
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
