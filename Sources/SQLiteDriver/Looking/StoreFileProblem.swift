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
  /// The header tells of more bytes than there are, as after a copy that was cut off.
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
      "there is no file \(path)"
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
      "\(path) is a store of the XML kind, and stores of SQLite alone are read"
    case .truncated(let path, let expected, let found):
      "\(path) is cut off: \(found) of \(expected) bytes are there"
    case .corrupt(let path, let reason):
      "\(path) is damaged: \(reason)"
    }
  }
}

extension StoreFileProblem {
  /// Looks at a file and says what is wrong with it; nil when it opens and its schema can be read.
  ///
  /// Changes nothing in the folder and waits for nobody. Reads the header and the schema, not every
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

  /// What header and schema tell.
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

  /// What the file system alone can tell.
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
