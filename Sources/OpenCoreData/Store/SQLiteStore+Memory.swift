import ManagedModel
import ProfileEvents
import SQLiteDriver

// A SQLite store at `/dev/null`: a database in the memory of the process.
//
// All connections of the pool use it, and it goes with them. There is no write-ahead log, so a read
// transaction would block saves: each SELECT reads on its own. Large values stay in their rows.

extension URL {
  /// Whether this is `/dev/null`, where a SQLite store is kept in memory.
  var isNullDevice: Bool { isFileURL && standardizedFileURL.path == "/dev/null" }
}

extension SQLiteStore {
  /// Opens a store in memory with the rows of this one.
  ///
  /// Cost: as many bytes as the store has; a store in a file is copied into a temporary folder first.
  /// External data files become values in rows; one that's missing stays a reference.
  func openCopyInMemory(
    at url: URL, place: Int, options: [AnyHashable: Any]?, model: NSManagedObjectModel,
    hub: EventHub
  ) throws -> SQLiteStore {
    func open(_ contents: Connection) throws -> SQLiteStore {
      try SQLiteStore.open(
        at: url, configuration: configuration, place: place, options: options, model: model,
        hub: hub, contents: contents)
    }
    if pool.isInMemory {
      let reader = try pool.lease()
      defer { pool.giveBack(reader) }
      return try open(reader)
    }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cdprof-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Store.sqlite")
    try copyFiles(from: self.url ?? url, to: file)
    // A database in memory can't be in WAL mode.
    let connection = try Connection(
      path: file.path, access: .writing,
      options: Connection.Options(pragmas: [("journal_mode", "DELETE")]))
    defer { connection.close() }
    let store = try open(connection)
    try store.moveIntoRows(ExternalStorage(storeURL: file))
    return store
  }

  /// Writes a store in memory to a file that doesn't exist.
  func writeCopy(to file: URL) throws {
    let target = try Connection(
      path: file.path, access: .writing,
      options: Connection.Options(pragmas: [("journal_mode", "DELETE")]))
    defer { target.close() }
    let reader = try pool.lease()
    defer { pool.giveBack(reader) }
    try reader.copy(into: target)
  }

  /// Replaces references to external data files by the bytes of the files.
  private func moveIntoRows(_ files: ExternalStorage) throws {
    try pool.withWriter { connection in
      for entity in mapping.entities where entity.superentity == nil {
        let table = SQLNames.quoted(entity.table)
        for column in externalColumns(of: entity).map(SQLNames.quoted) {
          let rows = try connection.values(
            "SELECT Z_PK, \(column) FROM \(table) WHERE length(\(column)) BETWEEN 37 AND 38")
          for row in rows {
            guard case .blob(let bytes) = row[1], let file = ExternalFile(reference: Data(bytes)),
              let value = try? files.read(file)
            else { continue }
            _ = try connection.values(
              "UPDATE \(table) SET \(column) = ? WHERE Z_PK = ?",
              [.blob([UInt8](ExternalStorage.inRow(value))), row[0]])
          }
        }
      }
    }
  }
}
