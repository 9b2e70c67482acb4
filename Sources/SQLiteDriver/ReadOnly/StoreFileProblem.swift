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
    case .notADatabase:
      FileStamp(path: path)?.size == 0 ? .empty(path: path) : .notADatabase(path: path)
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
