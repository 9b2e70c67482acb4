package import Foundation
package import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Writes a new store with the rows that can be recovered from a corrupt one.
package enum StoreRepair {
  /// Recovers a store, whose files are only read.
  ///
  /// The rows are read from the pages of the file without SQLite. A committed WAL is included,
  /// unless it's known to be another store's, and a hot journal rolled back, as SQLite would do.
  /// The new store has the same UUID, so URIs of objects remain valid. It appears when it's
  /// complete. A store that was made with a configuration of its model gets the same
  /// configuration.
  ///
  /// **Cost:** reads the file three times, writes each row once, and checks the new store.
  /// - Parameters:
  ///   - url: The corrupt store.
  ///   - destination: The file of the new store, which must not exist.
  ///   - model: The store's model; `nil` for the one in `Z_MODELCACHE`.
  /// - Throws: An `InvalidInputError` if the store has no readable model, isn't a file, or is being
  ///   written to, and if the destination exists; 134100 if the model isn't the store's; an
  ///   `NSError` or `SQLiteError` if the new store can't be written. Nothing is left behind.
  package static func repair(
    _ url: URL, to destination: URL, model: NSManagedObjectModel? = nil
  ) throws -> RepairReport {
    try check(url, destination)
    let inspection: StoreFileInspection
    var corrupt: CorruptStore
    do {
      inspection = try StoreFileInspection(path: url.path)
      corrupt = try CorruptStore(path: inspection.path)
    } catch let error as SQLiteError {
      guard error.code != .tooBig else {
        throw InvalidInputError(
          kind: .unusable, message: "\(url.relativePath) can't be read: \(error.message)",
          nextStep: "copy the file again, or use a backup")
      }
      throw InvalidInputError(error, path: url.relativePath)
    }
    guard let model = model ?? corrupt.storedModel else {
      let problem = "\(url.relativePath) contains no readable model"
      throw InvalidInputError(
        kind: corrupt.unreadable.isEmpty ? .unusable : .missing,
        message: ([problem] + corrupt.unreadable).joined(separator: "; "),
        nextStep: "specify the store's model with --model")
    }
    try check(corrupt, model, url)
    return try OutputFile.making(destination) { file in
      var report = try write(&corrupt, from: url, model, to: file)
      guard !inspection.isStale else {
        throw InvalidInputError(
          kind: .unusable, message: "\(url.relativePath) is being written to",
          nextStep: "close it in other programs, and try again")
      }
      report.destination = destination
      try OutputFile.placing(at: destination) { try StoreFile.place(file, at: destination) }
      return report
    }
  }

  private static func check(_ url: URL, _ destination: URL) throws {
    try InvalidInputError.checkFile(url.relativePath)
    try OutputFile.checkNewStore(destination)
  }

  /// Checks that there's a store to recover, with the entities of the model or of a configuration.
  private static func check(
    _ corrupt: CorruptStore, _ model: NSManagedObjectModel, _ url: URL
  ) throws(InvalidInputError) {
    guard corrupt.uuid != nil || !corrupt.entities.isEmpty || corrupt.hasObjects(of: model) else {
      throw InvalidInputError(
        kind: .unusable, message: "\(url.relativePath) contains no data of a Core Data store",
        nextStep: "check the path; encrypted, XML, and binary stores can't be repaired")
    }
    let hashes = corrupt.metadata?["NSStoreModelVersionHashes"] as? [String: Data] ?? [:]
    guard
      hashes.isEmpty || !Set(hashes.keys).isStrictSubset(of: model.entitiesByName.keys)
        || model.configuration(ofStoreWith: corrupt.metadata ?? [:]) != nil
    else {
      let entities = ModelNames.list(hashes.keys.sorted())
      throw InvalidInputError(
        kind: .unusable,
        message: "\(url.relativePath) contains only the entities \(entities), and the model has no "
          + "configuration with these",
        nextStep: "specify a model with such a configuration with --model")
    }
  }

  /// Writes and checks the new store.
  private static func write(
    _ corrupt: inout CorruptStore, from url: URL, _ model: NSManagedObjectModel, to file: URL
  ) throws -> RepairReport {
    let hasHistory = HistoryTables.entityIDs.prefix(2).allSatisfy { corrupt.tables[$0.1] != nil }
    let configuration = model.configuration(ofStoreWith: corrupt.metadata ?? [:])
    try open(file, model, configuration, tracksHistory: hasHistory)
    let connection = try Connection(path: file.path, access: .writing)
    defer { connection.close() }
    try StoreFunctions.register(on: connection)
    let anatomy = try StoreAnatomy(reading: connection)
    // The names of the tables that the corrupt schema lacks are those of a new store.
    for root in anatomy.mapping.roots {
      corrupt.addMissing(root.table, try columns(of: root.table, on: connection))
    }
    for entity in anatomy.mapping.entities {
      for toMany in entity.toMany.values {
        guard case .joinTable(let table, _, _, _) = toMany.storage else { continue }
        corrupt.addMissing(table, try columns(of: table, on: connection))
      }
    }
    let old = try corrupt.mapping(anatomy.source.model, anatomy.source.configuration)
    let names = try connection.tableNames()
    var repaired = RepairedStore(
      ExaminedStore(
        url: file, connection: connection, anatomy: anatomy, tables: names,
        uuid: corrupt.uuid ?? "?", isMadeHere: true))
    try connection.execute("BEGIN IMMEDIATE")
    var loader = try RowLoader(corrupt, old: old, new: anatomy.mapping, into: connection)
    let triggers = try dropTriggers(anatomy, on: connection)
    try loader.load()
    try repaired.complete(maximums: maximums(corrupt, old: old, new: anatomy.mapping))
    try repaired.copyFiles(from: url, to: file)
    for trigger in triggers { try connection.execute(trigger) }
    var metadata = RecoveredMetadata(corrupt, usesStoredModel: model === corrupt.storedModel)
    try metadata.write(on: connection)
    try connection.execute("COMMIT")
    do {
      try open(file, model, configuration, tracksHistory: false)
    } catch let error as NSError
      where error.code == NSPersistentStoreIncompatibleVersionHashError
      && model === corrupt.storedModel
    {
      // The model can be read, but the hashes don't match it.
      try metadata.writeHashes(on: connection)
      connection.close()
      try open(file, model, configuration, tracksHistory: false)
    }
    connection.close()
    return RepairReport(
      url: url, corrupt: corrupt, losses: loader.losses, repaired: repaired,
      assumptions: metadata.assumptions
        + [corrupt.foreignWAL, corrupt.committedJournal].compactMap(\.self)
        + corrupt.unreadable,
      remaining: try StoreDoctor.examine(file).findings)
  }

  /// Returns the former `Z_MAX` by entity ID of the new store, without that of entities that the
  /// model doesn't have, whose IDs can be those of others there.
  private static func maximums(
    _ corrupt: CorruptStore, old: SQLModel, new: SQLModel
  ) -> [Int: Int64] {
    let ofHistory = Set(HistoryTables.entityIDs.map(\.0))
    return corrupt.entities.reduce(into: [:]) { maximums, entity in
      var number = Int(clamping: entity.number)
      if let described = old.entity(number: number)?.description {
        number = new.entity(for: described).number
      } else if !ofHistory.contains(number) {
        return
      }
      maximums[number] = max(maximums[number] ?? 0, entity.maximum)
    }
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
    _ file: URL, _ model: NSManagedObjectModel, _ configuration: String?, tracksHistory: Bool
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, configuration: configuration, at: file,
      options: tracksHistory ? [NSPersistentHistoryTrackingKey: true] : nil)
    try coordinator.remove(store)
  }

  /// Removes the triggers of derived attributes, which would run for each row, and returns their
  /// statements.
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
      try connection.execute("DROP TRIGGER \(SQLSyntax.quoted(name))")
    }
    return statements
  }
}
