import ManagedModel
import ProfileEvents
import SQLiteDriver

/// Migrates a SQLite store with mapping models, into a new file that replaces it at the end.
///
/// The old file stays next to it with `~` at the end of its name, before the extension, as in Core Data. If
/// the process ends at any point, the store has its old or its new version.
struct MappedMigration {
  let url: URL
  let source: NSManagedObjectModel
  let destination: NSManagedObjectModel
  /// The mapping models, each for a part of the entities, in order.
  let mappings: [NSMappingModel]
  /// The configuration of the models that the store contains; nil for all entities.
  let configuration: String?
  let options: [AnyHashable: Any]?
  /// Receives an event for each pass of each entity mapping, and one for the migration.
  var hub = EventHub()
  /// Called with how much is complete, from 0 to 1; an error that it throws cancels the migration.
  var report: (Double) throws -> Void = { _ in }
  /// Whether the old store stays next to the new one.
  var keepsOldStore = true
  /// Called with the migration manager before it's used.
  var prepare: (NSMigrationManager) -> Void = { _ in }

  /// Migrates the store.
  ///
  /// Cost: that of the migration manager, and the space of the new file next to the old one.
  /// - Throws: The errors of `NSMigrationManager.migrateStore`; `SQLiteError` if the store is in use, and the
  ///   file system's errors. The store is unchanged then.
  func run() throws {
    let lock = try StoreLock(url, options)
    defer { lock.release() }
    try removeRemains()
    let name = UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
    let new = neighbour(".\(url.lastPathComponent).migrationdestination_\(name)")
    defer { try? StoreFile.remove(at: new) }
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    manager.configuration = configuration
    let events = MigrationEvents(hub)
    let recorder = events.map { events in PassRecorder { emit($0, from: $1, to: events) } }
    recorder?.observe(manager)
    prepare(manager)
    for (index, mapping) in mappings.enumerated() {
      manager.observe { [unowned manager] fraction in
        do {
          try report((Double(index) + fraction) / Double(mappings.count))
        } catch {
          manager.cancelMigrationWithError(error)
        }
      }
      try manager.migrateStore(
        from: url, type: .sqlite, options: options, mapping: mapping, to: new, type: .sqlite,
        options: options)
    }
    try report(1)
    try lock.makeExclusive()
    try replace(by: new)
    recorder?.finish()
    events?.end(.mapped, "migration into a new file, with a mapping model")
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

  private func neighbour(_ name: String) -> URL {
    url.deletingLastPathComponent().appendingPathComponent(name)
  }

  /// Removes new files of migrations that were killed; the lock excludes others that are running.
  private func removeRemains() throws {
    let folder = url.deletingLastPathComponent()
    let prefix = ".\(url.lastPathComponent).migrationdestination_"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    for name in Set(names.filter { $0.hasPrefix(prefix) }.map { $0.prefix(prefix.count + 32) }) {
      try StoreFile.remove(at: neighbour(String(name)))
    }
  }

  /// Replaces the store by the new file.
  ///
  /// External data files have unique names, so both versions' are there when the file is replaced.
  private func replace(by new: URL) throws {
    let stem = url.deletingPathExtension().lastPathComponent
    let suffix = url.pathExtension.isEmpty ? "" : ".\(url.pathExtension)"
    let old = neighbour("\(stem)~\(suffix)")
    let files = ExternalStorage(storeURL: url)
    let formerNames = files.fileNames()
    if keepsOldStore { try StoreFile.remove(at: old) }
    do {
      if keepsOldStore { try files.copyFiles(to: ExternalStorage(storeURL: old)) }
      try ExternalStorage(storeURL: new).copyFiles(to: files)
      try StoreFile.sync(new)
      // Some file systems have no links.
      if keepsOldStore, link(url.path, old.path) != 0 {
        try FileManager.default.copyItem(at: url, to: old)
      }
      guard rename(new.path, url.path) == 0 else { throw FileProblem(errno) }
    } catch {
      let reason = (error as? FileProblem)?.reason ?? FileErrorText.of(error)
      files.remove(named: files.fileNames().subtracting(formerNames))
      if keepsOldStore { try? StoreFile.remove(at: old) }
      throw NSError.coreData(
        NSMigrationError,
        "The migrated store can't replace \(url.path): \(reason). The store is unchanged.",
        [NSFilePathErrorKey: url.path])
    }
    try? StoreFile.sync(url.deletingLastPathComponent())
    files.remove(named: formerNames)
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
