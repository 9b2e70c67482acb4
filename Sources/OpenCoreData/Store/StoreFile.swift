import ManagedModel
package import SQLiteDriver

/// A store as files: the database, SQLite's auxiliary files, and external storage.
package enum StoreFile {
  private static let companions = ["-wal", "-journal"]

  /// Copies a store that isn't open for writing.
  ///
  /// Committed rows that are still in a WAL are copied with it, and a hot journal is rolled back in
  /// the copy; a store at the destination is replaced. No file in the original's folder is
  /// modified. Only regular files are copied: no link is followed.
  ///
  /// - Parameter isSynced: Whether the copies of external data files are synced to disk; not needed
  ///   for a temporary copy.
  /// - Throws: An `NSError`: 640 if the disk is full, 512 if the copy can't be created, 134080 if
  ///   the file can't be copied.
  package static func copy(
    from source: URL, to destination: URL, isSynced: Bool = true
  ) throws {
    try remove(at: destination)
    do {
      try RolledBackCopy.copyStore(from: source.path, to: destination.path)
    } catch {
      let code: Int =
        switch error.code {
        case .writeFailed: CocoaError.Code.fileWriteUnknown.rawValue
        case let full where full.primary == .full: CocoaError.Code.fileWriteOutOfSpace.rawValue
        default: NSPersistentStoreOpenError
        }
      throw copyError(error.message, source, code)
    }
    try copyExternalFiles(from: source, to: destination, isSynced: isSynced)
  }

  /// Copies external data files of a store to the folder of another one, which is created.
  ///
  /// Only regular files are copied: no link is followed.
  /// - Parameters:
  ///   - names: The names of the files; `nil` for all.
  ///   - isSynced: Whether the copies are synced to disk.
  /// - Throws: An `NSError`: 640 if the disk is full, 134080 if a file can't be copied.
  package static func copyExternalFiles(
    named names: Set<String>? = nil, from source: URL, to destination: URL, isSynced: Bool = true
  ) throws {
    do {
      try ExternalStorage(storeURL: source)
        .copyFiles(
          to: ExternalStorage(storeURL: destination, isSynced: isSynced), named: names)
    } catch {
      throw copyError(
        "an externally stored value: \(error.reason)", source,
        error.isOutOfSpace
          ? CocoaError.Code.fileWriteOutOfSpace.rawValue : NSPersistentStoreOpenError)
    }
  }

  private static func copyError(_ reason: String, _ source: URL, _ code: Int) -> NSError {
    NSError.coreData(
      code, "\(source.relativePath) can't be copied: \(reason).", [NSFilePathErrorKey: source.path])
  }

  /// Copies a store that may be in use, after an attempt during which it wasn't written.
  ///
  /// - Throws: 134070 if it's being written continuously; as `copy(from:to:)`.
  static func copyConsistently(from source: URL, to destination: URL) throws {
    for _ in 0..<maximumTries {
      let inspection: StoreFileInspection
      do {
        inspection = try StoreFileInspection(path: source.path)
      } catch {
        throw copyError(error.message, source, NSPersistentStoreOpenError)
      }
      try copy(from: source, to: destination)
      if !inspection.isStale { return }
    }
    try remove(at: destination)
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "\(source.relativePath) is being written to; close it in other programs and try again.",
      [NSFilePathErrorKey: source.path])
  }

  private static let maximumTries = 6

  /// Moves a store to a URL on the same volume, replacing any store there.
  ///
  /// The database is replaced atomically, with the rows that were in its WAL. The replaced store's
  /// WAL is checkpointed first, unless it's in use; its other files are removed with it, and
  /// restored if the move fails. If the process ends at any point, the destination has the old or
  /// the new store.
  /// - Throws: 640 if the disk is full, 512, 513, or 642 if a file can't be moved; 134070 if the
  ///   WAL can't be checkpointed. The destination is unchanged then, unless `isOfUnsyncedFile` is
  ///   true: it has the new store, and what the next open removes.
  package static func move(from source: URL, to destination: URL) throws {
    try checkpoint(source)
    checkpointOrRollBack(destination)
    let remains = InterruptedMigrationFiles(of: destination)
    let (files, added) = (
      ExternalStorage(storeURL: destination), ExternalStorage(storeURL: source)
    )
    let aside = remains.temporaryStore()
    var (former, names): (Set<String>, Set<String>) = ([], [])
    var moved: [String] = []
    let unsynced: FileProblem?
    do {
      former = try files.listedNames()
      names = try added.listedNames()
      try remains.record(former.union(names))
      try added.shareFiles(with: files)
      for suffix in companions + ["-shm"] {
        if rename(destination.path + suffix, aside.path + suffix) == 0 {
          moved.append(suffix)
        } else if errno != ENOENT {
          throw FileProblem(errno)
        }
      }
      try sync(source)
      unsynced = try replace(destination, by: source)
    } catch {
      for suffix in moved { rename(aside.path + suffix, destination.path + suffix) }
      if files.remove(named: names.subtracting(former)) {
        files.removeEmptyFolder()
        remains.finish()
      }
      let number = (error as? FileProblem)?.number ?? 0
      throw NSError.file(destination.path, "replaced", number == 0 ? EIO : number)
    }
    // Either store may be there after a power loss, and needs its external data files.
    if let unsynced { throw NSError.unsynced(destination, unsynced) }
    // The destination is complete: what can't be removed now is removed when it's opened.
    let isEmpty = files.remove(named: former.subtracting(names))
    files.removeEmptyFolder()
    if isEmpty, (try? remove(at: aside)) != nil, (try? remove(at: source)) != nil {
      remains.finish()
    }
  }

  /// Replaces a file by another one on the same volume, which is on disk, and syncs the name.
  ///
  /// - Returns: The reason why a power loss could bring back the old file; `nil` if it can't.
  /// - Throws: A `FileProblem`; the old file is unchanged then.
  static func replace(_ file: URL, by new: URL) throws -> FileProblem? {
    try FileDescriptors.changingName(in: file.deletingLastPathComponent().path) {
      guard rename(new.path, file.path) == 0 else { throw FileProblem(errno) }
    }
  }

  /// Moves a new store to a URL on the same volume at which there's no store.
  ///
  /// The database appears last, complete and synced to disk, and never replaces a file.
  /// - Throws: 516 if the file exists; 640 if the disk is full, 512, 513, or 642 if a file can't be
  ///   moved; 134070 if the WAL can't be checkpointed. Nothing is at the destination then, unless
  ///   `isOfUnsyncedFile` is true.
  package static func place(_ source: URL, at destination: URL) throws {
    try checkpoint(source)
    let (files, added) = (
      ExternalStorage(storeURL: destination), ExternalStorage(storeURL: source)
    )
    var names: Set<String> = []
    let unsynced: FileProblem?
    do {
      try sync(source)
      names = try added.listedNames()
      try added.shareFiles(with: files)
      unsynced = try FileDescriptors.changingName(
        in: destination.deletingLastPathComponent().path
      ) {
        if link(source.path, destination.path) != 0 {
          guard errno != EEXIST else { throw FileProblem(EEXIST) }
          try createAndRename(source, to: destination)
        }
      }
    } catch {
      files.remove(named: names)
      files.removeEmptyFolder()
      let number = (error as? FileProblem)?.number ?? EIO
      throw NSError.file(destination.path, "written", number == 0 ? EIO : number)
    }
    try? remove(at: source)
    if let unsynced { throw NSError.unsynced(destination, unsynced) }
  }

  /// Moves a file on a file system without hard links; an empty file reserves the name first.
  private static func createAndRename(
    _ source: URL, to destination: URL
  ) throws(FileProblem) {
    let file = open(destination.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw FileProblem(errno) }
    close(file)
    guard rename(source.path, destination.path) == 0 else {
      let problem = FileProblem(errno)
      unlink(destination.path)
      throw problem
    }
  }

  /// Checkpoints a WAL or rolls back a journal, so that the database is the whole store.
  ///
  /// - Throws: 134070 if that's impossible; a rename or a copy of the database would lose rows
  ///   then.
  package static func checkpoint(_ store: URL) throws {
    guard companions.contains(where: { FileStamp.exists(path: store.path + $0) }) else { return }
    do throws(SQLiteError) {
      let connection = try Connection(path: store.path, access: .writing)
      defer { connection.close() }
      // The first read rolls back a journal; closing the connection removes a WAL.
      _ = try connection.values("SELECT count(*) FROM sqlite_master")
      let result = try connection.values("PRAGMA wal_checkpoint(TRUNCATE)")
      guard result.first?.first == .integer(0) else {
        throw SQLiteError(code: .busy, message: "the store is open elsewhere")
      }
    } catch {
      throw NSError.coreData(
        NSPersistentStoreOperationError,
        "The WAL of \(store.relativePath) couldn't be checkpointed: \(error)",
        [NSFilePathErrorKey: store.path, NSSQLiteErrorDomain: Int(error.code.rawValue)])
    }
  }

  /// Checkpoints the WAL of a store that's to be replaced, or rolls back its journal: the database
  /// is the whole store then, even while its other files are removed.
  ///
  /// A corrupt store, and one that's in use, isn't changed.
  private static func checkpointOrRollBack(_ store: URL) {
    guard FileStamp.exists(path: store.path),
      companions.contains(where: { FileStamp.exists(path: store.path + $0) })
    else { return }
    // Leaving WAL mode removes the WAL.
    let settings = Connection.Options(
      busyTimeoutMilliseconds: 200, pragmas: [("journal_mode", "DELETE")])
    let connection = try? Connection(path: store.path, access: .writing, options: settings)
    connection?.close()
  }

  /// Removes the files of a store; ignores those that don't exist.
  ///
  /// A folder of one of the names is kept.
  /// - Throws: 512, 513, or 642 for a file that can't be removed.
  package static func remove(at url: URL) throws {
    for path in [url.path] + (companions + ["-shm"]).map({ url.path + $0 })
    where unlink(path) != 0 && errno != ENOENT {
      throw NSError.file(path, "removed", errno)
    }
    try ExternalStorage(storeURL: url).removeFolder()
  }

  /// Returns whether there's no database, but other files of a store that has been removed partly.
  ///
  /// External data files could belong to a database with another extension, if there's one.
  static func isPartlyRemoved(at url: URL) -> Bool {
    guard !FileStamp.exists(path: url.path) else { return false }
    if InterruptedMigrationFiles(of: url).exist
      || companions.contains(where: { FileStamp.exists(path: url.path + $0) })
    {
      return true
    }
    let support = ExternalStorage(storeURL: url).folder.deletingLastPathComponent()
    guard FileStamp.exists(path: support.path) else { return false }
    let stem = url.deletingPathExtension().lastPathComponent
    // Not the file manager's list, which lacks names if the folder can't be read to its end.
    guard
      let directory = try? FileDescriptors.openFolder(url.deletingLastPathComponent().path)
    else { return false }
    defer { close(directory) }
    let names = try? FileDescriptors.names(in: directory)
    return names?.contains { ($0 as NSString).deletingPathExtension == stem } == false
  }

  /// Writes what the system has cached of a file or a folder to disk.
  static func sync(_ url: URL) throws(FileProblem) {
    let file = open(url.path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileProblem(errno) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw FileProblem(errno) }
  }
}

/// Opens a store's file for SQL, with the functions that Core Data's SQL requires.
package enum StoreConnection {
  /// Opens a connection with the SQL functions and collations that captured statements, triggers,
  /// and indexes use; without them, they can't be run or explained.
  ///
  /// Its statements can't access anything outside of the store: see `Connection.confine()`. Each
  /// takes at most 1,000,000,000 VM steps and 30 seconds; one that exceeds a limit throws.
  ///
  /// The caller closes it. **Cost:** no statements; nothing is reported as an event.
  /// - Parameters:
  ///   - access: `looking` for a store that isn't being written, `reading` for one that is.
  ///   - pragmas: Run on the connection; a writing one switches to WAL unless `journal_mode` is
  ///     among them.
  /// - Throws: An error if the file can't be opened.
  package static func open(
    path: String, access: Connection.Access, pragmas: [(String, String)] = []
  ) throws(SQLiteError) -> Connection {
    let connection = try Connection(
      path: path, access: access, options: Connection.Options(pragmas: pragmas))
    do {
      connection.confine()
      connection.limitSteps(StoreLimits.confinedSteps)
      connection.limitStatementTime(StoreLimits.confinedTime)
      try StoreFunctions.register(on: connection)
    } catch {
      connection.close()
      throw error
    }
    return connection
  }
}

extension StoreFile {
  /// Returns whether a database is open, or written to, elsewhere, in this process or another.
  ///
  /// Also finds the users of a corrupt one.
  static func isInUse(at url: URL) -> Bool {
    switch StoreFileProblem.examine(path: url.path) {
    case nil: break
    case .corrupt, .truncated: return DatabaseLocks.areHeld(path: url.path)
    // A file that isn't a database isn't in use as a store.
    default: return false
    }
    do {
      // Leaving WAL mode requires exclusive access to the file.
      let connection = try Connection(
        path: url.path, access: .writing,
        options: Connection.Options(
          busyTimeoutMilliseconds: 200, pragmas: [("journal_mode", "DELETE")]))
      defer { connection.close() }
      guard try connection.values("PRAGMA journal_mode") == [[.text("delete")]] else { return true }
      try connection.execute("BEGIN EXCLUSIVE")
      try connection.execute("ROLLBACK")
      return false
    } catch {
      return error.code.primary == .corrupt
        ? DatabaseLocks.areHeld(path: url.path) : error.code.primary == .busy
    }
  }
}
