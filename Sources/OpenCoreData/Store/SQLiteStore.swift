import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

/// A store in a SQLite file of Apple's format: connections and mapping.
final class SQLiteStore: CachingStore, StoreBackend, @unchecked Sendable {
  let pool: ConnectionPool
  let mapping: SQLModel
  let translator: SQLTranslator
  let statements: WriteStatements
  /// Takes the rows that reads pass over; nil where such a row fails the read.
  let damagedRows: SkippedRows?
  /// The folder of large values.
  let external: ExternalStorage
  /// What triggers said in the transaction that is open.
  let derived: DerivedChanges
  /// By the index of the entity in the model; nil for those that the store does not hold.
  private let entities: [SQLEntity?]
  private let idleFaultPlans = Mutex<[FaultPlans]>([])
  /// The tables of the history, looked for once; the inner nil says that there are none.
  let knownHistory = Mutex<HistoryTables??>(nil)
  /// The last transaction that a save of this coordinator has written into the history.
  let writtenTransaction = Mutex<Int64?>(nil)
  /// Watches the file for other writers, where the store was asked to tell of them.
  let watcher = Mutex<StoreWatcher?>(nil)

  init(
    pool: ConnectionPool, mapping: SQLModel, place: Int, url: URL, identifier: String,
    configuration: String?, isReadOnly: Bool, options: [AnyHashable: Any]?,
    metadata: [String: Any], derived: DerivedChanges
  ) {
    self.pool = pool
    self.derived = derived
    damagedRows = options?[SkippedRows.option] as? SkippedRows
    external = pool.isInMemory ? .inRows : ExternalStorage(storeURL: url)
    self.mapping = mapping
    translator = SQLTranslator(model: mapping) { ObjectKey(of: $0, place: place) }
    statements = WriteStatements(translator: translator)
    let held = Dictionary(
      mapping.entities.map { (EntityLayout.of($0.description).modelIndex, $0) },
      uniquingKeysWith: { first, _ in first })
    entities = (0...(held.keys.max() ?? 0)).map { held[$0] }
    super.init(
      layouts: StoreLayouts(
        mapping.entities.lazy.map { ($0.number, $0.description) }, place: place),
      type: NSSQLiteStoreType, url: url, identifier: identifier, configuration: configuration,
      isReadOnly: isReadOnly, options: options, metadata: metadata)
  }

  deinit {
    watcher.withLock { $0?.stop() }
    pool.close()
  }

  /// The table mapping of a layout's entity; traps for one that the store does not hold.
  func entity(_ layout: EntityLayout) -> SQLEntity {
    guard let entity = entities[layout.modelIndex] else {
      preconditionFailure(
        "the store \(url?.path ?? "") doesn't contain the entity '\(layout.entity.name ?? "")'")
    }
    return entity
  }

  func beginReading() throws -> any StoreReader {
    guard !isRemoved else { throw NSError.removedStore(self) }
    return try SQLiteReader(store: self)
  }

  func openGeneration() throws -> StoreGeneration {
    guard !opensReadOnly else { return try makeGeneration() }
    // Between two saves, so that the row cache is of the same state as the file.
    return try pool.withWriter { _ in try makeGeneration() }
  }

  private func makeGeneration() throws -> StoreGeneration {
    if pool.isInMemory {
      let reader = SQLiteReader(store: self, copy: try pool.copyInMemory())
      return StoreGeneration(store: self, commit: countCommit(), reader: reader, sharesCache: true)
    }
    let reader = try SQLiteReader(store: self)
    // A transaction sees what is there at its first read.
    _ = try reader.connection.values("SELECT count(*) FROM sqlite_master", [])
    return StoreGeneration(
      store: self, commit: countCommit(), reader: reader, sharesCache: true)
  }

  func externalData(_ file: ExternalFile) throws -> Data {
    try external.read(file)
  }

  func saveMetadata() throws {
    try pool.withWriter { connection in
      guard hasUnsavedMetadata else { return }
      try writeMetadata(on: connection)
      hasUnsavedMetadata = false
    }
  }

  /// Counts a commit through this store, and has its watcher look where no file is written.
  func finishCommit() -> UInt64 {
    if pool.isInMemory { watcher.withLock { $0 }?.storeCommitted() }
    return countCommit()
  }

  func close() {
    markRemoved()
    pool.close()
  }

  /// Copies the file while nobody writes to it through this store.
  ///
  /// A store in memory is written to a new file, with all its values in rows.
  func copyFiles(from source: URL, to target: URL) throws {
    if pool.isInMemory { return try writeCopy(to: target) }
    guard !opensReadOnly else { return try StoreFile.copySettled(from: source, to: target) }
    try pool.withWriter { _ in try StoreFile.copySettled(from: source, to: target) }
  }

  /// Lends the plans of an earlier reader, or new ones.
  func leaseFaultPlans() -> FaultPlans {
    idleFaultPlans.withLock { $0.popLast() } ?? FaultPlans()
  }

  /// Takes back what was lent.
  func returnToPool(_ plans: FaultPlans) {
    idleFaultPlans.withLock { $0.append(plans) }
  }
}

// A SQLite store at `/dev/null`: a database in the memory of the process.
//
// All connections of the pool use it, and it goes with them. There's no write-ahead log, so a read
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
      defer { pool.returnToPool(reader) }
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
    defer { pool.returnToPool(reader) }
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
