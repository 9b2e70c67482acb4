import ManagedModel
import ProfileEvents
import SQLiteDriver
import Synchronization

/// A store in a SQLite file of Core Data's format: connections and mapping.
final class SQLiteStore: CachingStore, StoreBackend, @unchecked Sendable {
  let pool: ConnectionPool
  let mapping: SQLModel
  let translator: SQLTranslator
  let statements: WriteStatements
  /// Records the unmappable rows that reads skip; if `nil`, such a row fails the read.
  let skippedRows: SkippedRows?
  /// The folder of external data files.
  let external: ExternalStorage
  /// The values that triggers reported in the open transaction.
  let derived: DerivedChanges
  /// By the index of the entity in the model; `nil` for entities that the store can't contain.
  private let entities: [SQLEntity?]
  private let idleFaultPlans = Mutex<[FaultPlans]>([])
  /// The tables of the history, or `nil` tables if the file had none in this version of its schema;
  /// `nil` before the first lookup.
  let knownHistory = Mutex<(tables: HistoryTables?, schema: Int64)?>(nil)
  /// The last history transaction that this coordinator has committed.
  let writtenTransaction = Mutex<Int64?>(nil)
  /// The history transaction in the open transaction; `nil` if there's none.
  let openTransaction = Mutex<Int64?>(nil)
  /// Watches the file for other writers, if the store was opened with remote change notifications.
  let watcher = Mutex<StoreWatcher?>(nil)
  /// The names of external data files that remain to be removed, with the number of a commit after
  /// which no row refers to them.
  private let unused = Mutex<[String: UInt64]>([:])

  init(
    pool: ConnectionPool, mapping: SQLModel, storeIndex: Int, url: URL, identifier: String,
    configuration: String?, isReadOnly: Bool, options: [AnyHashable: Any]?,
    metadata: [String: Any], derived: DerivedChanges
  ) {
    self.pool = pool
    self.derived = derived
    skippedRows = options?[SkippedRows.option] as? SkippedRows
    external =
      pool.isInMemory
      ? .inRows : ExternalStorage(storeURL: url, isSynced: !Self.turnsOffSyncing(options))
    self.mapping = mapping
    let handle = StoreHandle(identifier: identifier)
    translator = SQLTranslator(model: mapping, largestInRow: external.largestInRow) {
      ObjectKey(of: $0, in: handle)
    }
    statements = WriteStatements(translator: translator)
    let known = Dictionary(
      mapping.entities.map { (EntityLayout.of($0.description).modelIndex, $0) },
      uniquingKeysWith: { first, _ in first })
    entities = mapping.model.entities.indices.map { known[$0] }
    super.init(
      layouts: StoreLayouts(
        mapping.entities.lazy.map { ($0.number, $0.description) }, of: mapping.model,
        storeIndex: storeIndex),
      type: NSSQLiteStoreType, url: url, identifier: identifier, configuration: configuration,
      isReadOnly: isReadOnly, options: options, metadata: metadata, handle: handle)
  }

  /// Returns whether the pragmas in options turn off syncing to disk: external data files are then
  /// as volatile as the rows that refer to them.
  private static func turnsOffSyncing(_ options: [AnyHashable: Any]?) -> Bool {
    let pragmas = options?[NSSQLitePragmasOption] as? [String: Any] ?? [:]
    return pragmas.contains { name, value in
      name.lowercased() == "synchronous" && ["off", "0"].contains("\(value)".lowercased())
    }
  }

  deinit {
    watcher.withLock { $0?.stop() }
    pool.close()
  }

  /// Returns the table mapping of a layout's entity; `nil` if the store can't contain it: a row or
  /// an object ID may refer to such an entity, which has no rows here.
  func storedEntity(_ layout: EntityLayout) -> SQLEntity? {
    entities[layout.modelIndex]
  }

  /// Returns the table mapping of a layout's entity; it's a programmer error if the store can't
  /// contain it.
  func entity(_ layout: EntityLayout) -> SQLEntity {
    guard let entity = storedEntity(layout) else {
      fatalError(
        "the store \(url?.path ?? "") doesn't contain the entity '\(layout.entityName)'")
    }
    return entity
  }

  func beginReading() throws -> any StoreReader {
    guard !isRemoved else { throw NSError.removedStore(self) }
    return try SQLiteReader(store: self)
  }

  /// Checks out a connection that reads the newest state; the caller returns it to the pool.
  ///
  /// A store that was opened read-only may have been written elsewhere, which makes previous reads
  /// outdated.
  func leaseNewest() throws -> Connection {
    if opensReadOnly, try pool.reopenIfChanged() { _ = countCommit() }
    return try pool.lease()
  }

  func openGeneration() throws -> StoreGeneration {
    guard !opensReadOnly else { return try makeGeneration() }
    // Between two saves, so that the row cache has the same state as the file.
    return try pool.withWriter { writer in
      try makeGeneration(dataVersion: pool.isInMemory ? nil : Self.dataVersion(writer))
    }
  }

  func isNewest(_ generation: StoreGeneration) throws -> Bool {
    guard generation.commit == commitNumber else { return false }
    guard !opensReadOnly else { return true }
    // A save that others can already read may not be counted before it returns the writer.
    return try pool.withWriter { writer in
      guard generation.commit == commitNumber else { return false }
      guard let known = generation.dataVersion else { return true }
      return try Self.dataVersion(writer) == known
    }
  }

  /// Returns a number that changes with each commit of another connection.
  private static func dataVersion(_ connection: Connection) throws -> Int64? {
    guard case .integer(let version)? = try connection.values("PRAGMA data_version").first?.first
    else { return nil }
    return version
  }

  private func makeGeneration(dataVersion: Int64? = nil) throws -> StoreGeneration {
    if pool.isInMemory {
      let reader = SQLiteReader(store: self, copy: try pool.copyInMemory())
      return StoreGeneration(store: self, commit: countCommit(), reader: reader, sharesCache: true)
    }
    let reader = try SQLiteReader(store: self)
    // A transaction's snapshot is taken by its first read.
    _ = try reader.connection.values("SELECT count(*) FROM sqlite_master", [])
    return StoreGeneration(
      store: self, commit: countCommit(), reader: reader, sharesCache: true,
      dataVersion: dataVersion)
  }

  func externalData(_ file: ExternalFile) throws -> Data {
    try external.read(file)
  }

  /// Removes external data files to which no row refers.
  ///
  /// Those that a query generation may need, and those that can't be removed, are tried again with
  /// the next ones, by the next save, and when the store is closed. After that, they stay, and
  /// `cdprof doctor` lists them.
  func removeExternalData(_ files: [ExternalFile]) {
    let commit = commitNumber
    let isEmpty = unused.withLock { unused in
      for file in files { unused[file.name] = commit }
      return unused.isEmpty
    }
    if isEmpty { return }
    // Outside of the other lock: the last reference to a generation may be released here.
    let generations: [StoreGeneration] =
      isRemoved ? [] : withShared { $0.retainedGenerations }
    let oldest = generations.map(\.commit).min() ?? .max
    unused.withLock { unused in
      let names = Set(unused.lazy.filter { $0.value <= oldest }.map(\.key))
      guard !names.isEmpty, external.remove(named: names, isLasting: false) else { return }
      for name in names { unused[name] = nil }
    }
  }

  /// Counts a commit through this store, and notifies its watcher if there's no file.
  func finishCommit() -> UInt64 {
    if pool.isInMemory { watcher.withLock { $0 }?.storeCommitted() }
    return countCommit()
  }

  func close() {
    markRemoved()
    watcher.withLock { watcher in
      watcher?.stop()
      watcher = nil
    }
    removeExternalData([])
    pool.close()
  }

  override func beginMoving() throws {
    if opensReadOnly {
      isMoving = true
    } else {
      try pool.withWriter { _ in isMoving = true }
    }
  }

  /// Copies the file while it isn't being written through this store.
  ///
  /// An in-memory store is written to a new file, with all its values in rows. Metadata that isn't
  /// saved yet is only in the copy; of a read-only store, whose copy may be read-only, in neither.
  func copyFiles(from source: URL, to target: URL) throws {
    if pool.isInMemory {
      try writeCopy(to: target)
    } else if opensReadOnly {
      try StoreFile.copyConsistently(from: source, to: target)
    } else {
      try pool.withWriter { _ in try StoreFile.copyConsistently(from: source, to: target) }
    }
    if hasUnsavedMetadata, !opensReadOnly { try writeMetadata(toCopy: target) }
  }

  /// Checks out the plans of an earlier reader, or new ones.
  func leaseFaultPlans() -> FaultPlans {
    idleFaultPlans.withLock { $0.popLast() } ?? FaultPlans()
  }

  /// Returns plans that were checked out.
  func returnToPool(_ plans: FaultPlans) {
    idleFaultPlans.withLock { $0.append(plans) }
  }
}

// A SQLite store at `/dev/null`: a database in the memory of the process.
//
// All connections of the pool use it, and it's discarded with them. There's no WAL, so a read
// transaction would block saves: each SELECT reads by itself. Large values stay in their rows.

extension URL {
  /// Whether this is `/dev/null`, the URL of an in-memory SQLite store.
  var isNullDevice: Bool { isFileURL && standardizedFileURL.path == "/dev/null" }
}

extension SQLiteStore {
  /// Opens an in-memory store with the rows of this one.
  ///
  /// **Cost:** as many bytes as the store has; a store file is copied to a temporary folder first.
  /// External data files become values in rows; a missing one stays a reference.
  /// - Throws: 133000 if an external data file can't be read; the errors of copying and opening.
  func openCopyInMemory(
    at url: URL, storeIndex: Int, options: [AnyHashable: Any]?, model: NSManagedObjectModel,
    hub: EventHub
  ) throws -> SQLiteStore {
    func open(_ contents: Connection) throws -> SQLiteStore {
      try SQLiteStore.open(
        at: url, configuration: configuration, storeIndex: storeIndex, options: options,
        model: model,
        hub: hub, contents: contents)
    }
    if pool.isInMemory {
      let reader = try pool.lease()
      defer { pool.returnToPool(reader) }
      let store = try open(reader)
      if hasUnsavedMetadata { store.metadata = metadata }
      return store
    }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cdprof-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Store.sqlite")
    try copyFiles(from: self.url ?? url, to: file)
    do {
      // An in-memory database can't be in WAL mode.
      let connection = try Connection(
        path: file.path, access: .writing,
        options: Connection.Options(pragmas: [("journal_mode", "DELETE")]))
      defer { connection.close() }
      let store = try open(connection)
      do {
        try store.moveIntoRows(ExternalStorage(storeURL: file))
      } catch {
        store.close()
        throw error
      }
      return store
    } catch let error as SQLiteError {
      throw NSError.opening(url, error, isReadOnly: false, isInMemory: true)
    }
  }

  /// Writes an in-memory store to a file that doesn't exist.
  ///
  /// - Throws: 640 if the disk is full, 134080 if the file can't be written.
  func writeCopy(to file: URL) throws {
    do throws(SQLiteError) {
      let target = try Connection(
        path: file.path, access: .writing,
        options: Connection.Options(pragmas: [("journal_mode", "DELETE")]))
      defer { target.close() }
      let reader = try pool.lease()
      defer { pool.returnToPool(reader) }
      try reader.copy(into: target)
    } catch {
      throw NSError.coreData(
        error.openingCode, "\(file.relativePath) couldn't be written: \(error)",
        [NSFilePathErrorKey: file.path, NSSQLiteErrorDomain: Int(error.code.rawValue)])
    }
  }

  /// Returns the columns of an entity and its subentities whose values may be in external storage.
  ///
  /// - Parameter names: The properties; `nil` for all.
  func externalColumns(of entity: SQLEntity, _ names: [String]? = nil) -> [String] {
    var columns: Set<String> = []
    for number in entity.concreteNumbers {
      guard let layout = layouts.layout(entityNumber: number) else { continue }
      for slot in layout.externalSlots where names?.contains(slot.name) ?? true {
        columns.insert(self.entity(layout).columns[slot.index].name)
      }
    }
    return columns.sorted()
  }

  /// Replaces references to external data files with the contents of the files.
  private func moveIntoRows(_ files: ExternalStorage) throws {
    let names = try files.fileNames()
    try pool.withWriter { connection in
      for entity in mapping.roots {
        let table = SQLSyntax.quoted(entity.table)
        for column in externalColumns(of: entity).map(SQLSyntax.quoted) {
          let rows = try connection.values(
            "SELECT Z_PK, \(column) FROM \(table) WHERE length(\(column)) BETWEEN 37 AND 38")
          for row in rows {
            guard case .blob(let bytes) = row[1], let file = ExternalFile(reference: Data(bytes)),
              names.contains(file.name)
            else { continue }
            let value = try ExternalStorage.inRow(files.read(file))
            _ = try connection.values(
              "UPDATE \(table) SET \(column) = ? WHERE Z_PK = ?",
              [.blob([UInt8](value)), row[0]])
          }
        }
      }
    }
  }
}

/// The unmappable rows of a store, for tools that inspect its other rows.
///
/// Passed as an option when a store is opened, it makes reads skip and record rows of an unknown
/// entity and rows with a key below 1. Without it, such a row fails the read: a program that got
/// only the other rows could assume that it was deleted. Any thread may use it.
package final class SkippedRows: Sendable {
  /// The key of the option, whose value is an instance of this class.
  package static let option = "cdprof.SkippedRows"

  /// The maximum number of recorded rows.
  private static let most = 1_000

  private struct State {
    var seen: Set<String> = []
    var errors: [NSError] = []
  }

  private let state = Mutex(State())

  /// Creates an empty list.
  package init() {}

  /// Returns the rows skipped since the last call, each once, in the order of reading.
  package func take() -> [NSError] {
    state.withLock { state in
      defer { state = State() }
      return state.errors
    }
  }

  /// Records a row; returns `false` for an error that isn't about a row.
  func note(_ error: any Error) -> Bool {
    let error = error as NSError
    guard error.domain == NSCocoaErrorDomain,
      error.code == CocoaError.Code.fileReadCorruptFile.rawValue
    else { return false }
    state.withLock { state in
      guard state.seen.count < SkippedRows.most,
        state.seen.insert(error.localizedDescription).inserted
      else { return }
      state.errors.append(error)
    }
    return true
  }
}
