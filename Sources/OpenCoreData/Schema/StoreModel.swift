package import ManagedModel
package import SQLiteDriver

/// The model for reading a store of which only the file is available.
package struct StoreModel: Sendable {
  /// The model in `Z_MODELCACHE`, or one inferred from the tables.
  package let model: NSManagedObjectModel
  /// The configuration of the model that the store was made with, as
  /// `configuration(ofStoreWith:)` returns it; `nil` for all entities, and for an inferred model.
  package let configuration: String?
  /// Whether it was inferred from the tables, so that property names and destinations of
  /// relationships are guesses.
  package let isInferred: Bool
  /// The reason why the store's own model isn't used; `nil` if it is, and if the store contains
  /// none.
  package let problem: String?

  /// Reads the model of a store, which is opened read-only.
  ///
  /// - Throws: The errors of `inspecting(at:_:)`.
  package static func ofStore(at url: URL) throws -> StoreModel {
    try NSManagedObjectModel.inspecting(at: url) { connection, metadata in
      try StoreModel(reading: connection, metadata)
    }
  }

  /// Reads the store's own model; infers one from the tables if it's missing or corrupt.
  ///
  /// One statement, and those of the schema if there's no model.
  ///
  /// - Parameter metadata: The store's metadata; `nil` if it can't be read.
  /// - Throws: `SQLiteError`.
  init(reading connection: Connection, _ metadata: StoreMetadata?) throws {
    do {
      if let model = try ModelArchive.readModel(on: connection) {
        self.model = model
        configuration = model.configuration(ofStoreWith: metadata?.values ?? [:])
        isInferred = false
        problem = nil
        return
      }
      problem = nil
    } catch let error as SQLiteError {
      throw error
    } catch {
      problem = "\(error)"
    }
    (configuration, isInferred) = (nil, true)
    model = try InferredModel.read(from: connection)
  }
}

/// The structure of a store's file: its model mapped to its tables, and the model's indexes and
/// derived columns.
package struct StoreAnatomy: Sendable {
  /// The model, and whether it's the store's own.
  package let source: StoreModel
  /// The model mapped to the tables of the file.
  package let mapping: SQLModel
  /// The indexes that the model specifies, with their names in new files.
  package let indexes: [SchemaIndex]
  /// The R-trees that the model specifies.
  package let rangeIndexes: [RangeIndex]
  /// The derived attributes that can be computed from the rows.
  package let derivedColumns: [DerivedColumn]
  /// The names of the tables and indexes that a deferred migration removes when it's finished.
  package let deferredObjects: Set<String>

  /// Reads a store's own model, or infers one from its tables, and maps it; of a store that was
  /// made with a configuration, only the entities of the configuration.
  ///
  /// **Cost:** the schema and the model; without a model, some SELECTs for each table.
  /// - Throws: `SchemaMismatch` if the file lacks a table or column of the store's own model;
  ///   `SQLiteError`.
  package init(reading connection: Connection) throws {
    let metadata = try? StoreMetadata(reading: connection)
    source = try StoreModel(reading: connection, metadata)
    mapping = try SQLModel(
      model: source.model, configuration: source.configuration, connection: connection)
    let builder = SchemaBuilder(model: mapping)
    indexes = builder.indexes
    rangeIndexes = builder.rangeIndexes
    derivedColumns = builder.derivedColumns
    let work = DeferredWork(metadata?.values ?? [:])
    deferredObjects = Set(work.tables + work.indexes)
  }
}

extension ModelArchive {
  /// Returns the model in a store's `Z_MODELCACHE`; `nil` if there's none.
  static func readModel(
    on connection: Connection, loggingTo logger: StoreOpeningLogger? = nil
  ) throws -> NSManagedObjectModel? {
    let probe = "SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = 'Z_MODELCACHE'"
    let content = "SELECT Z_CONTENT FROM Z_MODELCACHE"
    let tables = try logger.logging(probe) { try connection.values(probe) }
    guard !tables.isEmpty else { return nil }
    let row = try logger.logging(content) { try HousekeepingTables.row(content, on: connection) }
    switch row?.first {
    case nil, .null: return nil
    case .blob(let bytes): return bytes.isEmpty ? nil : try ModelArchive.read(deflated: bytes)
    // Not a model: reading no bytes fails as for a corrupt one.
    case .integer, .real, .text: return try ModelArchive.read(deflated: [])
    }
  }
}

extension NSManagedObjectModel {
  /// Returns the model in a store's `Z_MODELCACHE`.
  ///
  /// The file is opened read-only.
  ///
  /// - Throws: 134080 if the file contains no model; the errors of `inspecting(at:_:)`.
  package static func inStore(at url: URL) throws -> NSManagedObjectModel {
    try inspecting(at: url) { connection, _ in try storedModel(on: connection, url) }
  }

  /// Returns the configuration that a SQLite store was made with, as `configuration(ofStoreWith:)`
  /// does.
  ///
  /// The file is opened read-only.
  ///
  /// - Throws: The errors of `inspecting(at:_:)`.
  package func configuration(ofStoreAt url: URL) throws -> String? {
    try Self.inspecting(at: url) { _, metadata in
      configuration(ofStoreWith: metadata.values)
    }
  }

  /// Returns the model in a store's `Z_MODELCACHE`, with the version hashes in the store's
  /// metadata.
  ///
  /// Mapping models and stages refer to Core Data's hashes, which the model doesn't contain.
  /// - Throws: 134080 if the file contains no model; the errors of `inspecting(at:_:)`.
  static func inStoreWithVersionHashes(at url: URL) throws -> NSManagedObjectModel {
    try inspecting(at: url) { connection, metadata in
      let model = try storedModel(on: connection, url)
      metadata.recordHashes(in: model)
      return model
    }
  }

  private static func storedModel(
    on connection: Connection, _ url: URL
  ) throws -> NSManagedObjectModel {
    guard let model = try ModelArchive.readModel(on: connection) else {
      throw NSError.coreData(
        NSPersistentStoreOpenError,
        "\(url.relativePath) contains no model (Z_MODELCACHE is missing or empty). Specify its model."
      )
    }
    return model
  }

  /// Inspects a store's file and its metadata, and converts errors to those of the public API.
  ///
  /// - Throws: 259 if it isn't a database or is corrupt, 260 if there's no file, 640 if there's no
  ///   space for a temporary copy, 134080 if it isn't a usable store for another reason.
  static func inspecting<Result>(
    at url: URL, _ read: (Connection, StoreMetadata) throws -> Result
  ) throws -> Result {
    do {
      let connection = try Connection(path: url.path, access: .inspecting)
      defer { connection.close() }
      if let files = connection.inspection,
        let problem = StoreFileProblem.ofHeader(files, path: url.path)
      {
        throw problem
      }
      return try read(connection, StoreMetadata(reading: connection))
    } catch let problem as StoreFileProblem {
      throw NSError.unusableStore(problem, url)
    } catch let error as SQLiteError {
      if let problem = StoreFileProblem.examine(path: url.path) {
        throw NSError.unusableStore(problem, url)
      }
      throw NSError.coreData(
        error.openingCode, "The store \(url.relativePath) couldn't be read: \(error)",
        error.readingInfo(url))
    } catch let problem as StoreMetadata.Problem {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "\(url.relativePath): \(problem)",
        [NSFilePathErrorKey: url.path])
    } catch let error as ModelError {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "The model inside \(url.relativePath) can't be read: \(error)",
        [NSFilePathErrorKey: url.path])
    }
  }
}
