import CSQLite
import Foundation

/// The reason a file can't be used as a store, determined before or after SQLite rejects it.
package enum StoreFileProblem: Error, Sendable, Hashable {
  case missing(path: String)
  case directory(path: String)
  /// The path refers to a socket, a pipe, or a device.
  case notAFile(path: String)
  /// The file exists, but the process isn't allowed to read it.
  case unreadable(path: String, reason: String)
  /// The file is empty.
  case empty(path: String)
  /// The file has no SQLite header.
  ///
  /// An encrypted database has none either.
  case notADatabase(path: String)
  /// The store is a single XML document, as written by Core Data on macOS.
  case documentStore(path: String)
  /// The header specifies more bytes than the file has, as in a truncated copy.
  case truncated(path: String, expectedBytes: Int64, foundBytes: Int64)
  /// The contents of the SQLite file are inconsistent.
  case corrupt(path: String, reason: String)

  /// The closest result code, for callers that forward SQLite's errors.
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
  /// The problem and the file, as a message without a period.
  package var description: String {
    switch self {
    case .missing(let path):
      "there's no file \(path)"
    case .directory(let path):
      "\(path) is a folder"
    case .notAFile(let path):
      "\(path) isn't a regular file"
    case .unreadable(let path, let reason):
      "\(path) can't be read: \(reason)"
    case .empty(let path):
      "\(path) is empty"
    case .notADatabase(let path):
      "\(path) isn't a SQLite database, or it is encrypted"
    case .documentStore(let path):
      "\(path) is an XML store; only SQLite stores can be read"
    case .truncated(let path, let expected, let found):
      "\(path) is truncated: \(found) of \(expected) bytes are left"
    case .corrupt(let path, let reason):
      "\(path) is corrupt: \(reason)"
    }
  }
}

extension StoreFileProblem {
  /// Returns the problem of a file, or `nil` if it can be opened and its schema can be read.
  ///
  /// Doesn't modify the folder and doesn't wait. Reads the header and the schema, not every page:
  /// other corruption is detected when it's read. A file with a transaction to roll back isn't
  /// opened, and one that is written to at the same time is assumed to be valid.
  ///
  /// - Parameter isOpenedNext: Whether a connection that can write is opened next. The schema of a
  ///   file in WAL mode without a WAL isn't read then: opening such a file doesn't change it, and
  ///   reports the problem.
  package static func examine(path: String, isOpenedNext: Bool = false) -> StoreFileProblem? {
    for _ in 0..<maximumTries {
      if let problem = ofPath(path) { return problem }
      let inspection: StoreFileInspection
      do throws(SQLiteError) {
        inspection = try StoreFileInspection(path: path)
      } catch {
        if let problem = ofNeighbors(path) { return problem }
        continue
      }
      let problem = ofFiles(inspection, path: path, isOpenedNext)
      if problem == nil || !inspection.isStale { return problem }
    }
    return nil
  }

  /// Returns the problem of a journal or WAL that isn't a regular file.
  private static func ofNeighbors(_ path: String) -> StoreFileProblem? {
    let resolved = StoreFileInspection.resolved(path)
    return ["-wal", "-journal"].first { FileStamp.isSpecial(path: resolved + $0) }
      .map { .notAFile(path: path + $0) }
  }

  private static let maximumTries = 6

  /// Returns the problem of the header or the schema.
  private static func ofFiles(
    _ inspection: StoreFileInspection, path: String, _ isOpenedNext: Bool
  ) -> StoreFileProblem? {
    if inspection.database.size == 0 { return .empty(path: path) }
    do {
      let header = try DatabaseHeader(path: inspection.path)
      if let problem = ofHeader(header, inspection, path: path) { return problem }
      if inspection.method == .temporaryCopy { return nil }
      let isUnchanged = header.usesLog && inspection.log == nil && inspection.journal == nil
      if isOpenedNext, isUnchanged { return nil }
      let handle = try Connection.openFiles(inspection).handle
      defer { sqlite3_close_v2(handle) }
      try Connection.run("SELECT count(*) FROM sqlite_master", on: handle)
      return nil
    } catch {
      return of(error, path: path)
    }
  }

  /// Returns the problem of the header.
  ///
  /// A journal that's rolled back can contain it: if the power was lost while a new file was
  /// written, the file has none.
  private static func ofHeader(
    _ header: DatabaseHeader, _ inspection: StoreFileInspection, path: String
  ) -> StoreFileProblem? {
    if inspection.journalIsHot, inspection.journalHasHeader { return nil }
    return header.problem(path: path, inspection)
  }

  /// Returns the problem of the header of inspected files, such as a file that's too short.
  ///
  /// SQLite reads a truncated file until it requires a page that's missing.
  package static func ofHeader(
    _ inspection: StoreFileInspection, path: String
  ) -> StoreFileProblem? {
    if inspection.database.size == 0 { return .empty(path: path) }
    do {
      return ofHeader(try DatabaseHeader(path: inspection.path), inspection, path: path)
    } catch {
      return of(error, path: path)
    }
  }

  /// Returns the problem that caused an error of SQLite, or `nil` if the file isn't the cause.
  package static func of(_ error: SQLiteError, path: String) -> StoreFileProblem? {
    switch error.code.primary {
    case .notADatabase: .notADatabase(path: path)
    case .corrupt: .corrupt(path: path, reason: error.message)
    case .cantOpen, .inputOutput, .permission:
      ofPath(path) ?? ofNeighbors(path) ?? .unreadable(path: path, reason: error.message)
    default: nil
    }
  }

  /// Returns the problem that the file system reports for a path.
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

/// The state of a database file and the files next to it, which determines how to read it without
/// modifying any of them.
///
/// **Cost:** four calls of `stat`, several microseconds. Of a journal, only the head is read.
package struct StoreFileInspection: Sendable, Hashable {
  /// The ways to read the file.
  package enum Method: Sendable, Hashable {
    /// All data is in the database file, which is opened as immutable.
    case immutable
    /// The `-wal` file contains committed rows and is read with its index in memory.
    case writeAheadLog
    /// A hot journal must be rolled back, which writes: a temporary copy is read instead.
    case temporaryCopy
  }

  /// The path with links resolved.
  ///
  /// The WAL and the journal are next to it.
  package let path: String
  package let database: FileStamp
  /// The WAL.
  package let log: FileStamp?
  /// The rollback journal.
  package let journal: FileStamp?
  /// Whether the journal contains pages to roll back.
  ///
  /// It's also `true` while another process has an open transaction with a rollback journal.
  package let journalIsHot: Bool
  /// Whether the journal begins as SQLite's do.
  let journalHasHeader: Bool

  /// Inspects the files at a path.
  ///
  /// - Throws: `SQLITE_CANTOPEN` with the reason if the file doesn't exist.
  package init(path: String) throws(SQLiteError) {
    if let problem = StoreFileProblem.ofPath(path) {
      throw SQLiteError(code: problem.code, message: problem.description)
    }
    let resolved = StoreFileInspection.resolved(path)
    guard let database = FileStamp(path: resolved) else {
      let problem = StoreFileProblem.missing(path: path)
      throw SQLiteError(code: problem.code, message: problem.description)
    }
    // SQLite doesn't follow links for these files either, and would wait for the writer of a FIFO.
    for suffix in ["-wal", "-journal"] where FileStamp.isSpecial(path: resolved + suffix) {
      let problem = StoreFileProblem.notAFile(path: path + suffix)
      throw SQLiteError(code: problem.code, message: problem.description)
    }
    self.path = resolved
    self.database = database
    log = FileStamp(path: resolved + "-wal", followsLinks: false)
    journal = FileStamp(path: resolved + "-journal", followsLinks: false)
    let head = StoreFileInspection.head(of: journal, path: resolved + "-journal")
    journalIsHot = head.first != 0
    journalHasHeader = head == StoreFileInspection.journalMagic
  }

  /// The way to read the file.
  ///
  /// An empty database file is always read as immutable, because SQLite would delete a WAL or
  /// journal next to it.
  package var method: Method {
    if database.size == 0 { return .immutable }
    if journalIsHot { return .temporaryCopy }
    if let log, log.size > 0 { return .writeAheadLog }
    return .immutable
  }

  /// Whether the files changed since the inspection, or no longer exist.
  ///
  /// **Cost:** three calls of `stat`.
  package var isStale: Bool {
    FileStamp(path: path) != database
      || FileStamp(path: path + "-wal", followsLinks: false) != log
      || FileStamp(path: path + "-journal", followsLinks: false) != journal
  }

  /// The time in nanoseconds until any later write is detectable in the stamps; 0 if it is already.
  ///
  /// A file system's clock ticks every few milliseconds. A file written within the last tick can be
  /// written again without a change of its modification time. Times in the future are assumed to be
  /// settled.
  var settlingTime: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let time = Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec)
    return [database, log, journal].reduce(0) { longest, stamp in
      guard let stamp, case let age = time &- stamp.modified,
        (0..<StoreFileInspection.detectableAge).contains(age)
      else { return longest }
      return max(longest, StoreFileInspection.detectableAge - age)
    }
  }

  /// The age in nanoseconds from which a write is followed by detectable ones: two ticks of the
  /// clock that stamps files.
  private static let detectableAge: Int64 = {
    #if canImport(Darwin)
      return 20_000_000
    #else
      var tick = timespec()
      guard clock_getres(CLOCK_REALTIME_COARSE, &tick) == 0, tick.tv_sec == 0 else {
        return 20_000_000
      }
      return 2 * Int64(tick.tv_nsec)
    #endif
  }()

  /// The folder that contains the files.
  var folder: String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  static func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }

  private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

  /// Returns the first bytes of a journal, at most as many as `journalMagic` has.
  ///
  /// By SQLite's own test, a journal that's empty or starts with a zero byte isn't hot. One that
  /// can't be read is considered hot, so that it isn't silently ignored.
  private static func head(of journal: FileStamp?, path: String) -> [UInt8] {
    guard let journal, journal.size > 0 else { return [0] }
    let file = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { Foundation.close(file) }
    var head = [UInt8](repeating: 0, count: journalMagic.count)
    let count = Foundation.read(file, &head, head.count)
    return Array(head.prefix(max(0, count)))
  }
}
