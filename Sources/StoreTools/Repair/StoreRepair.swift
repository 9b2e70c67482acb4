package import Foundation
package import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Writes a new store with the rows that can be recovered from a corrupt one.
package enum StoreRepair {
  /// Recovers a store, whose files are only read.
  ///
  /// The rows are read from the pages of the file without SQLite. A committed WAL is included, and a hot
  /// journal rolled back, as SQLite would do. The new store has the same UUID, so URIs of objects remain valid.
  /// It appears when it's complete.
  ///
  /// Cost: reads the file three times, writes each row once, and checks the new store.
  /// - Parameters:
  ///   - url: The corrupt store.
  ///   - destination: The file of the new store, which must not exist.
  ///   - model: The store's model; nil for the one in `Z_MODELCACHE`.
  /// - Throws: An `InvalidInputError` if the store has no readable model, isn't a file, or is being written
  ///   to, and if the destination exists; 134100 if the model isn't the store's; an `NSError` or `SQLiteError`
  ///   if the new store can't be written. Nothing is left behind.
  package static func repair(
    _ url: URL, to destination: URL, model: NSManagedObjectModel? = nil
  ) throws -> RepairReport {
    try check(url, destination)
    let inspection: StoreFileInspection
    var damaged: DamagedStore
    do {
      inspection = try StoreFileInspection(path: url.path)
      damaged = try DamagedStore(path: inspection.path)
    } catch let error as SQLiteError {
      throw InvalidInputError(error, path: url.relativePath)
    }
    guard let model = model ?? damaged.storedModel else {
      throw InvalidInputError(
        kind: .unusable, message: "\(url.relativePath) contains no readable model",
        nextStep: "specify the store's model with --model")
    }
    let folder = destination.deletingLastPathComponent()
      .appendingPathComponent(".cdprof-repair-\(UUID().uuidString)", isDirectory: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let file = folder.appendingPathComponent(destination.lastPathComponent)
    var report = try write(&damaged, from: url, model, to: file)
    guard !inspection.isStale else {
      throw InvalidInputError(
        kind: .unusable, message: "\(url.relativePath) is being written to",
        nextStep: "close it in other programs, and try again")
    }
    report.destination = destination
    try move(file, to: destination)
    return report
  }

  private static func check(_ url: URL, _ destination: URL) throws {
    try InvalidInputError.checkFile(url.relativePath)
    guard FileKind.mode(of: destination.path, followingLinks: false) == nil else {
      throw InvalidInputError(
        kind: .unusable, message: "\(destination.relativePath) exists already",
        nextStep: "choose another file")
    }
    try OutputFile.checkStore(destination, force: false)
  }

  /// Writes and checks the new store.
  private static func write(
    _ damaged: inout DamagedStore, from url: URL, _ model: NSManagedObjectModel, to file: URL
  ) throws -> RepairReport {
    let hasHistory = HistoryTables.numbers.prefix(2).allSatisfy { damaged.tables[$0.1] != nil }
    try open(file, model, tracksHistory: hasHistory)
    let connection = try Connection(path: file.path, access: .writing)
    defer { connection.close() }
    try StoreFunctions.register(on: connection)
    let anatomy = try StoreAnatomy(reading: connection)
    // The names of the tables that the damaged schema lacks are those of a new store.
    for root in anatomy.mapping.entities where root.superentity == nil {
      damaged.addMissing(root.table, try columns(of: root.table, on: connection))
    }
    for entity in anatomy.mapping.entities {
      for toMany in entity.toMany.values {
        guard case .joinTable(let table, _, _, _) = toMany.storage else { continue }
        damaged.addMissing(table, try columns(of: table, on: connection))
      }
    }
    let old = try damaged.mapping(anatomy.source.model)
    let names = try connection.tableNames()
    var repaired = RepairedStore(
      ExaminedStore(
        url: file, connection: connection, anatomy: anatomy, tables: names,
        uuid: damaged.uuid ?? "?", isMadeHere: true))
    try connection.execute("BEGIN IMMEDIATE")
    var loader = try RowLoader(damaged, old: old, new: anatomy.mapping, into: connection)
    let triggers = try dropTriggers(anatomy, on: connection)
    try loader.load()
    var maximums: [Int: Int64] = [:]
    for entity in damaged.entities {
      let number = Int(clamping: entity.number)
      let described = old.entity(number: number)?.description
      maximums[described.map { anatomy.mapping.entity(for: $0).number } ?? number] =
        entity.maximum
    }
    try repaired.complete(maximums: maximums)
    try repaired.copyFiles(from: url, to: file)
    for trigger in triggers { try connection.execute(trigger) }
    try restoreMetadata(damaged, usesStoredModel: model === damaged.storedModel, on: connection)
    try connection.execute("COMMIT")
    connection.close()
    try open(file, model, tracksHistory: false)
    return RepairReport(
      url: url, damaged: damaged, losses: loader.losses, repaired: repaired,
      remaining: try StoreDoctor.examine(file).findings)
  }

  private static func columns(
    of table: String, on connection: Connection
  ) throws -> [TableDefinition.Column] {
    try connection.values("SELECT name, type FROM pragma_table_info(?)", [.text(table)])
      .compactMap { row in
        guard case .text(let name) = row[0], case .text(let type) = row[1] else { return nil }
        return TableDefinition.Column(name: name, type: type)
      }
  }

  /// Opens a store through the framework, which creates it if it doesn't exist, and closes it.
  private static func open(
    _ file: URL, _ model: NSManagedObjectModel, tracksHistory: Bool
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: file,
      options: tracksHistory ? [NSPersistentHistoryTrackingKey: true] : nil)
    try coordinator.remove(store)
  }

  /// Removes the triggers of derived attributes, which would run for each row, and returns their statements.
  private static func dropTriggers(
    _ anatomy: StoreAnatomy, on connection: Connection
  ) throws -> [String] {
    let names = Set(anatomy.derivedColumns.flatMap(\.triggerNames))
    let rows = try connection.values(
      "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid")
    var statements: [String] = []
    for row in rows {
      guard case .text(let name) = row[0], case .text(let sql) = row[1], names.contains(name)
      else { continue }
      statements.append(sql)
      try connection.execute("DROP TRIGGER \(SQLNames.quoted(name))")
    }
    return statements
  }

  /// Writes the UUID, the metadata, and the model of the corrupt store, as far as they're readable.
  private static func restoreMetadata(
    _ damaged: DamagedStore, usesStoredModel: Bool, on connection: Connection
  ) throws {
    if let uuid = damaged.uuid {
      _ = try connection.values("UPDATE Z_METADATA SET Z_UUID = ?", [.text(uuid)])
    }
    if var metadata = damaged.metadata, metadata["NSStoreModelVersionHashes"] != nil {
      // The new store has the final tables of the model.
      for key in [
        NSPersistentStoreDeferredLightweightMigrationOptionKey, "cdprof.deferredMigration",
      ] {
        metadata[key] = nil
      }
      let bytes = try PropertyListSerialization.data(
        fromPropertyList: metadata, format: .binary, options: 0)
      _ = try connection.values("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob([UInt8](bytes))])
    }
    if usesStoredModel, let bytes = damaged.modelCache {
      _ = try connection.values("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.blob(bytes)])
    }
  }

  /// Moves the complete store to its place, its external data files first.
  private static func move(_ file: URL, to destination: URL) throws {
    let (from, to) = (
      ExternalStorage(storeURL: file).folder.deletingLastPathComponent(),
      ExternalStorage(storeURL: destination).folder.deletingLastPathComponent()
    )
    let hasFiles = FileManager.default.fileExists(atPath: from.path)
    if hasFiles { try FileManager.default.moveItem(at: from, to: to) }
    do {
      // Unlike renaming, a link never replaces a file.
      try FileManager.default.linkItem(at: file, to: destination)
    } catch {
      do {
        try FileManager.default.moveItem(at: file, to: destination)
      } catch {
        if hasFiles { try? FileManager.default.moveItem(at: to, to: from) }
        throw error
      }
    }
  }
}
