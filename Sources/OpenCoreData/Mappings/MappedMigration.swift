import ManagedModel
import ProfileEvents
import SQLiteDriver

/// Migrates a store with mapping models, into a new file that replaces it at the end.
///
/// The old file stays next to it with `~` at the end of its name, before the extension, as in Core
/// Data. If the process ends at any point, the store has its old or its new version.
struct MappedMigration {
  let url: URL
  let source: NSManagedObjectModel
  let destination: NSManagedObjectModel
  /// The mapping models, each for a part of the entities, in order.
  let mappings: [NSMappingModel]
  /// The configuration of the models that the store contains; `nil` for all entities.
  let configuration: String?
  let options: [AnyHashable: Any]?
  /// Receives an event for each pass of each entity mapping, and one for the migration.
  var hub = EventHub()
  /// SQLite, XML, or binary.
  var type = NSPersistentStore.StoreType.sqlite
  /// The log of the migration; `nil` for none.
  var log = MigrationDebugLog.requestedByArguments
  /// Called with how much is complete, from 0 to 1; an error that it throws cancels the migration.
  var report: (Double) throws -> Void = { _ in }
  /// Whether the mapping model is an inferred one, which refuses what a migration in place refuses.
  var isInferred = false
  /// Whether the old store stays next to the new one.
  var keepsOldStore = true
  /// The version hashes of the store when its version was determined; `nil` if they aren't known.
  ///
  /// Another process can have migrated it since then.
  var expectedHashes: [String: Data]?
  /// Called with the migration manager before it's used.
  var prepare: (NSMigrationManager) -> Void = { _ in }

  /// Migrates the store.
  ///
  /// **Cost:** that of the migration manager, and the space of the new file next to the old one.
  /// - Throws: The errors of `NSMigrationManager.migrateStore`; 134110 if the URL is a symbolic
  ///   link; `SQLiteError` if the store is in use, and the file system's errors. The store is
  ///   unchanged then, unless `isOfUnsyncedFile` is true: it's migrated.
  func run() throws {
    guard type == .sqlite else { return try migrateDocument() }
    try refuseLink()
    let lock = try StoreLock(url, options)
    defer { lock.release() }
    let remains = InterruptedMigrationFiles(of: url)
    try lock.remove(remains)
    let folderLock = FolderLock(url.deletingLastPathComponent())
    defer { folderLock.release() }
    let new = remains.temporaryStore()
    let former: Set<String>
    let unsynced: FileProblem?
    let events: MigrationEvents?
    do {
      try remains.record([])
      events = try copyInstances(to: new)
      // Rows in a WAL would be lost when the file is renamed.
      try StoreFile.checkpoint(new)
      try report(1)
      try lock.makeExclusive()
      (former, unsynced) = try replace(by: new, remains)
    } catch {
      if undo(new) { remains.finish() }
      throw error
    }
    // Either version may be there after a power loss, and needs its external data files.
    if let unsynced { throw NSError.unsynced(url, unsynced) }
    // The store is complete: what can't be removed now is removed when it's opened.
    let isEmpty = ExternalStorage(storeURL: url).remove(named: former)
    ExternalStorage(storeURL: url).removeEmptyFolder()
    if isEmpty, (try? StoreFile.remove(at: new)) != nil { remains.finish() }
    end(events)
  }

  /// Removes a new file that hasn't replaced the store.
  ///
  /// - Returns: Whether nothing is left.
  private func undo(_ new: URL) -> Bool {
    guard let names = try? ExternalStorage(storeURL: new).listedNames(),
      ExternalStorage(storeURL: url).remove(named: names)
    else { return false }
    return (try? StoreFile.remove(at: new)) != nil
  }

  /// Rejects a link: the new file would replace it, and not the store.
  private func refuseLink() throws {
    var info = stat()
    guard lstat(url.path, &info) == 0, info.st_mode & S_IFMT == S_IFLNK else { return }
    throw NSError.coreData(
      NSMigrationError,
      "\(url.relativePath) is a symbolic link, which a migrated file would replace. Pass the URL of "
        + "the store itself. The store is unchanged.", [NSFilePathErrorKey: url.path])
  }

  /// Migrates the instances to a new store of the same type.
  ///
  /// - Returns: The events of the migration, whose end is left to emit; `nil` if no sink receives
  ///   events.
  func copyInstances(to new: URL) throws -> MigrationEvents? {
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    manager.configuration = configuration
    manager.log = log
    manager.refusesSharedDestinations = isInferred
    manager.checksCounts = !isInferred
    manager.mappedEntities = Set(
      mappings.flatMap { ($0.entityMappings ?? []).compactMap(\.sourceEntityName) })
    // A document is written as a whole by each batch.
    if type != .sqlite { manager.batchSize = 1_000_000 }
    let events = MigrationEvents(hub)
    let recorder = events.map { events in PassRecorder { emit($0, from: $1, to: events) } }
    recorder?.observe(manager)
    prepare(manager)
    var hasPermissions = false
    for (index, mapping) in mappings.enumerated() {
      manager.validatesInstances = index == mappings.count - 1
      manager.observe { [unowned manager] fraction in
        do {
          // Before rows are written.
          if !hasPermissions { try copyPermissions(to: new) }
          hasPermissions = true
          try report((Double(index) + fraction) / Double(mappings.count))
        } catch {
          manager.cancelMigrationWithError(error)
        }
      }
      do {
        try manager.migrateStore(
          from: url, type: type, options: options, mapping: mapping, to: new, type: type,
          options: options)
      } catch {
        if hasOtherVersion(error) { throw NSError.migratedElsewhere(url) }
        throw error
      }
    }
    recorder?.finish()
    return events
  }

  /// Gives a new file the access permissions of the store.
  private func copyPermissions(to new: URL) throws(FileProblem) {
    var info = stat()
    guard stat(url.path, &info) == 0 else { throw FileProblem(errno) }
    for suffix in ["", "-wal", "-shm"]
    where chmod(new.path + suffix, info.st_mode & 0o7777) != 0 && errno != ENOENT {
      throw FileProblem(errno)
    }
  }

  /// Returns whether the store couldn't be opened because it got another version in the meantime.
  private func hasOtherVersion(_ error: any Error) -> Bool {
    guard let expectedHashes, (error as NSError).code == NSMigrationManagerSourceStoreError else {
      return false
    }
    let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: type, at: url)
    guard let hashes = metadata?[StoreMetadata.hashesKey] as? [String: Data] else { return false }
    return hashes != expectedHashes
  }

  private func emit(
    _ part: MappedMigrationTrial.Part, from begin: UInt64, to events: MigrationEvents
  ) {
    let mapping = part.mapping.flatMap { name in
      mappings.lazy.compactMap { $0.entityMappingsByName[name] }.first
    }
    let work: MigrationRecord.Work =
      switch part.pass {
      case .instances: .instances
      case .relationships: .relationships
      case .validation: .validation
      }
    events.step(
      work, part.mapping.map { "\($0): \(part.pass.rawValue)" } ?? part.pass.rawValue, from: begin,
      rows: part.rows, entity: mapping?.destinationEntityName ?? mapping?.sourceEntityName)
  }

  /// Emits the event of the migration, which has succeeded.
  func end(_ events: MigrationEvents?) {
    events?.end(.mapped, "migration into a new file, with a mapping model")
  }

  /// Returns the name that the old store gets: `Store~.sqlite`.
  func oldFile() -> URL {
    let stem = url.deletingPathExtension().lastPathComponent
    return url.deletingLastPathComponent()
      .appendingPathComponent(
        "\(stem)~" + (url.pathExtension.isEmpty ? "" : ".\(url.pathExtension)"))
  }

  /// Gives the file another name, which it keeps when it's replaced; on a file system without
  /// links, copies it.
  private func keepFile(as old: URL) throws {
    guard link(url.path, old.path) != 0 else { return }
    try FileManager.default.copyItem(at: url, to: old)
    try StoreFile.sync(old)
  }

  /// Replaces the store by the new file.
  ///
  /// External data files have unique names, so both versions' are there when the file is replaced.
  /// - Returns: The names of the old version's external data files, and the reason why a power
  ///   loss could bring back the old version; `nil` if it can't.
  private func replace(
    by new: URL, _ remains: InterruptedMigrationFiles
  ) throws -> (former: Set<String>, unsynced: FileProblem?) {
    let old = oldFile()
    let (files, added) = (ExternalStorage(storeURL: url), ExternalStorage(storeURL: new))
    do {
      if keepsOldStore { try StoreFile.remove(at: old) }
      let former = try files.listedNames()
      try remains.record(former.union(added.listedNames()))
      if keepsOldStore { try files.shareFiles(with: ExternalStorage(storeURL: old)) }
      try added.shareFiles(with: files)
      try copyPermissions(to: new)
      try StoreFile.sync(new)
      if keepsOldStore { try keepFile(as: old) }
      return (former, try StoreFile.replace(url, by: new))
    } catch {
      let reason = (error as? FileProblem)?.reason ?? FileErrorText.of(error)
      if keepsOldStore { try? StoreFile.remove(at: old) }
      throw notReplaced(reason, by: error)
    }
  }

  /// Returns the error for a store that the migrated one can't replace.
  func notReplaced(_ reason: String, by cause: any Error) -> NSError {
    NSError.coreData(
      NSMigrationError,
      "The migrated store can't replace \(url.relativePath): \(reason). The store is unchanged.",
      [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: cause as NSError])
  }
}

/// Prevents others from writing to a store while it's being migrated.
private final class StoreLock {
  private let connection: Connection
  private let version: [[SQLiteValue]]

  /// Locks a store for writing; others can read it.
  ///
  /// - Throws: `SQLITE_BUSY` if it's being written.
  init(_ url: URL, _ options: [AnyHashable: Any]?) throws {
    let reader = try Connection(path: url.path, access: .inspecting)
    let mode = try reader.values("PRAGMA journal_mode").first?.first
    reader.close()
    var settings = SQLiteStore.connectionOptions(options, isNew: false)
    // A store without a WAL stays so.
    settings.pragmas = [("journal_mode", mode == .text("wal") ? "wal" : "delete")]
    connection = try Connection(path: url.path, access: .writing, options: settings)
    try connection.execute("BEGIN IMMEDIATE")
    version = try connection.values("PRAGMA data_version")
  }

  /// Removes what earlier migrations left if they were interrupted.
  func remove(_ remains: InterruptedMigrationFiles) throws {
    try remains.remove(lockedBy: connection)
  }

  /// Checkpoints the WAL, and excludes readers.
  ///
  /// - Throws: `SQLITE_BUSY` if the store is open elsewhere, or was written in the meantime.
  func makeExclusive() throws {
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA busy_timeout=200")
    guard try connection.values("PRAGMA journal_mode=DELETE") == [[.text("delete")]] else {
      throw SQLiteError(code: .busy, message: "the store is open elsewhere")
    }
    try connection.execute("BEGIN EXCLUSIVE")
    guard try connection.values("PRAGMA data_version") == version else {
      throw SQLiteError(code: .busy, message: "the store was written during the migration")
    }
  }

  func release() {
    connection.close()
  }
}

extension MappedMigration {
  /// Migrates an XML or binary store into a new document that replaces it at the end.
  ///
  /// As for a SQLite store, the old document stays with `~` at the end of its name, unless it isn't
  /// wanted. **Cost:** that of the migration manager, with both documents in memory.
  /// - Throws: The errors of `NSMigrationManager.migrateStore`; 134110 if the URL is a symbolic
  ///   link, the document is being migrated or written elsewhere, or the file system fails. The
  ///   store is unchanged then.
  func migrateDocument() throws {
    try refuseLink()
    let lock = try DocumentLock(url)
    defer { lock.release() }
    let temporary = TemporaryStore(replacing: url)
    defer { temporary.remove() }
    let new = temporary.url
    let events = try copyInstances(to: new)
    try report(1)
    try lock.check()
    let old = oldFile()
    let unsynced: FileProblem?
    do {
      if keepsOldStore { try? FileManager.default.removeItem(at: old) }
      if keepsOldStore { try keepFile(as: old) }
      try copyPermissions(to: new)
      unsynced = try StoreFile.replace(url, by: new)
    } catch {
      if keepsOldStore { try? FileManager.default.removeItem(at: old) }
      throw notReplaced(
        (error as? FileProblem)?.reason ?? FileErrorText.of(error), by: error)
    }
    if let unsynced { throw NSError.unsynced(url, unsynced) }
    end(events)
  }
}

/// Prevents two migrations of a document at a time, and detects that it's written in the meantime.
private final class DocumentLock {
  private let url: URL
  private let descriptor: Int32
  private let stamp: FileStamp?

  /// Locks a document for migrations; others can read and write it.
  ///
  /// - Throws: 134110 if it's locked or can't be opened.
  init(_ url: URL) throws {
    self.url = url
    descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Self.error(url, FileProblem(errno).reason)
    }
    stamp = FileStamp(path: url.path)
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw Self.error(url, "it's being migrated elsewhere")
    }
  }

  /// - Throws: 134110 if the document was replaced since it was locked.
  func check() throws {
    guard FileStamp(path: url.path) == stamp else {
      throw Self.error(url, "it was modified during the migration; try again")
    }
  }

  func release() {
    close(descriptor)
  }

  private static func error(_ url: URL, _ reason: String) -> NSError {
    NSError.coreData(
      NSMigrationError,
      "The store \(url.relativePath) can't be migrated: \(reason). The store is unchanged.",
      [NSFilePathErrorKey: url.path, "sourceURL": url, "reason": reason])
  }
}
