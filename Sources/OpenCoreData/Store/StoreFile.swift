import ManagedModel
package import SQLiteDriver

/// A store as files: the database, what SQLite keeps beside it, and large values kept outside.
package enum StoreFile {
  private static let companions = ["-wal", "-journal"]

  /// Copies a store that nobody has open for writing.
  ///
  /// Committed rows that are still in a write-ahead log are copied with it, and a hot journal is rolled
  /// back in the copy; a store at the destination is replaced. Nothing in the original's folder changes.
  /// Only regular files are copied: no link is followed.
  /// - Throws: an `NSError`: 640 when the disk is full, 134080 when the file can't be copied.
  package static func copy(from source: URL, to destination: URL) throws {
    try remove(at: destination)
    do {
      try SettledCopy.copyStore(from: source.path, to: destination.path)
    } catch {
      throw copyError(error.message, source, isOutOfSpace: error.code.primary == .full)
    }
    do {
      try ExternalStorage(storeURL: source)
        .copyFiles(to: ExternalStorage(storeURL: destination))
    } catch {
      throw copyError(
        "an externally stored value: \(error.reason)", source, isOutOfSpace: error.isOutOfSpace)
    }
  }

  private static func copyError(
    _ reason: String, _ source: URL, isOutOfSpace: Bool
  ) -> NSError {
    NSError.coreData(
      isOutOfSpace
        ? CocoaError.Code.fileWriteOutOfSpace.rawValue : NSPersistentStoreOpenError,
      "\(source.path) can't be copied: \(reason).", [NSFilePathErrorKey: source.path])
  }

  /// Copies a store that others may have open, once nobody wrote to it in between.
  ///
  /// - Throws: 134070 when somebody writes to it all the time; as `copy(from:to:)`.
  static func copySettled(from source: URL, to destination: URL) throws {
    for _ in 0..<maximumTries {
      let inspection = try StoreFileInspection(path: source.path)
      try copy(from: source, to: destination)
      if !inspection.isStale { return }
    }
    try remove(at: destination)
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "\(source.path) is being written to; close it in other programs and try again.",
      [NSFilePathErrorKey: source.path])
  }

  private static let maximumTries = 6

  /// Moves a store to a place on the same volume, in place of one that was there.
  ///
  /// The database is replaced in one go, with the rows that were in its log. What lies beside the one that
  /// was there goes with it, and is put back when the move fails.
  /// - Throws: the file system's `NSError`; 134070 when the log cannot be brought into the database.
  package static func move(from source: URL, to destination: URL) throws {
    try carryOutLog(of: source)
    let files = FileManager.default
    let (support, moved) = (supportFolder(of: source), supportFolder(of: destination))
    var aside: [(path: String, kept: String)] = []
    do {
      for path in (companions + ["-shm"]).map({ destination.path + $0 }) + [moved.path]
      where files.fileExists(atPath: path) {
        let kept = "\(path).\(UUID().uuidString)"
        try files.moveItem(atPath: path, toPath: kept)
        aside.append((path, kept))
      }
      guard rename(source.path, destination.path) == 0 else {
        throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
      }
    } catch {
      for (path, kept) in aside { try? files.moveItem(atPath: kept, toPath: path) }
      throw error
    }
    if files.fileExists(atPath: support.path) { try files.moveItem(at: support, to: moved) }
    for (_, kept) in aside { try files.removeItem(atPath: kept) }
  }

  /// Brings what lies in a write-ahead log or a journal into the database, which is the whole store then.
  private static func carryOutLog(of store: URL) throws {
    guard companions.contains(where: { FileManager.default.fileExists(atPath: store.path + $0) })
    else { return }
    do {
      let connection = try Connection(path: store.path, access: .writing)
      // A journal is carried out by the first read, a log goes when the connection is closed.
      _ = try connection.values("SELECT count(*) FROM sqlite_master")
      _ = try connection.values("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      throw NSError.store("The WAL of \(store.path) could not be checkpointed: \(error)")
    }
  }

  /// Removes the files of a store; those that don't exist are removed already.
  ///
  /// A folder of one of the names stays.
  /// - Throws: an `NSError` of the POSIX domain.
  package static func remove(at url: URL) throws {
    for path in [url.path] + (companions + ["-shm"]).map({ url.path + $0 })
    where unlink(path) != 0 && errno != ENOENT {
      throw NSError(
        domain: NSPOSIXErrorDomain, code: Int(errno),
        userInfo: [
          NSLocalizedDescriptionKey:
            "\(path) can't be removed: \(String(cString: strerror(errno)))",
          NSFilePathErrorKey: path,
        ])
    }
    try ExternalStorage(storeURL: url).removeFolder()
  }

  /// The hidden folder beside a store in which the framework keeps large values.
  private static func supportFolder(of url: URL) -> URL {
    ExternalStorage(storeURL: url).folder.deletingLastPathComponent()
  }
}

/// Opens a store's file for those who ask SQLite itself, with what Core Data's SQL takes for granted.
package enum StoreConnection {
  /// A connection with the SQL functions and collations that captured statements, triggers and
  /// indexes name; without them they neither run nor explain.
  ///
  /// Its statements can't reach outside of the store: see `Connection.confine()`. Each takes at most
  /// 1,000,000,000 VM steps, about ten seconds; one that goes beyond it throws.
  ///
  /// The caller closes it. Cost: no statement; nothing is reported as an event.
  /// - Parameters:
  ///   - access: `looking` for a store nobody writes now, `reading` beside one who does.
  ///   - pragmas: run on the connection; a writing one turns to WAL unless `journal_mode` is among them.
  /// - Throws: when the file cannot be opened.
  package static func open(
    path: String, access: Connection.Access, pragmas: [(String, String)] = []
  ) throws(SQLiteError) -> Connection {
    let connection = try Connection(
      path: path, access: access, options: Connection.Options(pragmas: pragmas))
    do {
      connection.confine()
      connection.limitSteps(steps)
      try StoreFunctions.register(on: connection)
    } catch {
      connection.close()
      throw error
    }
    return connection
  }

  /// VM steps that a statement may take.
  private static let steps = 1_000_000_000
}
