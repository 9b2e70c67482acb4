import Foundation

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
  /// - Throws: `SQLITE_CANTOPEN` with the reason if the file doesn't exist, its links can't be
  ///   resolved, or the attributes of the WAL or the journal can't be read.
  package init(path: String) throws(SQLiteError) {
    if let problem = StoreFileProblem.ofPath(path) {
      throw SQLiteError(code: problem.code, message: problem.description)
    }
    // Next to a link, there's no WAL and no journal.
    guard let resolved = StoreFileInspection.realPath(path) else {
      let reason = errno
      let problem: StoreFileProblem =
        [ENOENT, ENOTDIR].contains(reason)
        ? .missing(path: path)
        : .unreadable(path: path, reason: String(cString: strerror(reason)))
      throw SQLiteError(code: problem.code, message: problem.description)
    }
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
    log = try StoreFileInspection.stamp(of: resolved + "-wal")
    journal = try StoreFileInspection.stamp(of: resolved + "-journal")
    let head = StoreFileInspection.head(of: journal, path: resolved + "-journal")
    journalIsHot = head.first != 0
    journalHasHeader = head == StoreFileInspection.journalMagic
  }

  /// Returns the stamp of a WAL or journal; `nil` if there's none.
  ///
  /// - Throws: `SQLITE_CANTOPEN` if its attributes can't be read: without it, the database is
  ///   another version of the store.
  private static func stamp(of path: String) throws(SQLiteError) -> FileStamp? {
    errno = 0
    if let stamp = FileStamp(path: path, followsLinks: false) { return stamp }
    let reason = errno
    guard [0, ENOENT, ENOTDIR].contains(reason) else {
      throw SQLiteError(
        code: .cantOpen, message: "\(path) can't be read: \(String(cString: strerror(reason)))")
    }
    return nil
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

  static func resolved(_ path: String) -> String { realPath(path) ?? path }

  /// Returns a path without links; `nil` if it can't be resolved, for the reason in `errno`.
  private static func realPath(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
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
