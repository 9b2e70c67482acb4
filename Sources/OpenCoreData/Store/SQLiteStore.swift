import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

/// A store in a SQLite file of Apple's format: connections and mapping.
final class SQLiteStore: RowStore, @unchecked Sendable {
  let pool: ConnectionPool
  let mapping: SQLModel
  let translator: SQLTranslator
  let statements: WriteStatements
  /// Takes the rows that reads pass over; nil where such a row fails the read.
  let damagedRows: DamagedRows?
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
    damagedRows = options?[DamagedRows.option] as? DamagedRows
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
        "the store \(url?.path ?? "") does not hold the entity '\(layout.entity.name ?? "")'")
    }
    return entity
  }

  override func beginReading() throws -> any StoreReader {
    guard !isRemoved else { throw NSError.removedStore(self) }
    return try SQLiteReader(store: self)
  }

  override func openGeneration() throws -> StoreGeneration {
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

  override func reserveKeys(for objects: [NSManagedObject], in scope: ProfileScope) throws {
    try reserve(for: objects, in: scope)
  }

  override func write(
    _ plan: SavePlan, in scope: ProfileScope, beforeCommit: () throws -> Void = {}
  ) throws -> [Row] {
    try commit(plan, in: scope, beforeCommit)
  }

  override func externalData(_ file: ExternalFile) throws -> Data {
    try external.read(file)
  }

  override func saveMetadata() throws {
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

  override func close() {
    super.close()
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
  func giveBack(_ plans: FaultPlans) {
    idleFaultPlans.withLock { $0.append(plans) }
  }
}
