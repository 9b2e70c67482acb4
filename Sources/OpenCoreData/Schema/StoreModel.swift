package import ManagedModel
package import SQLiteDriver

/// The model that a store is read with when nothing but its file is given.
package struct StoreModel: Sendable {
  /// The model in `Z_MODELCACHE`, or one that was read off the tables.
  package let model: NSManagedObjectModel
  /// Whether it was read off the tables, so that names of properties and destinations of
  /// relationships are guesses.
  package let isGuessed: Bool
  /// Why the store's own model is not used; nil when it is, and when the store carries none.
  package let problem: String?

  /// Reads the model of a store that is looked at.
  ///
  /// - Throws: 134080 with a sentence when the file isn't a usable store.
  package static func ofStore(at url: URL) throws -> StoreModel {
    try NSManagedObjectModel.looking(at: url) { try StoreModel(reading: $0) }
  }

  /// Reads the store's own model; makes one of the tables when there is none, or a damaged one.
  ///
  /// One statement, and those of the schema when there's no model.
  ///
  /// - Throws: `SQLiteError`.
  init(reading connection: Connection) throws {
    do {
      if let model = try ModelArchive.readModel(on: connection) {
        self.model = model
        isGuessed = false
        problem = nil
        return
      }
      problem = nil
    } catch let error as SQLiteError {
      throw error
    } catch {
      problem = "\(error)"
    }
    isGuessed = true
    model = try GuessedModel.read(from: connection)
  }
}

/// How a store's file is built: its model laid onto its tables, and what the model asks for beside.
package struct StoreAnatomy: Sendable {
  /// The model, and whether it is the store's own.
  package let source: StoreModel
  /// The model on the tables of the file.
  package let mapping: SQLModel
  /// The indexes that the model asks for, by the names that new files give them.
  package let indexes: [SchemaIndex]
  /// The R-trees that the model asks for.
  package let rangeIndexes: [RangeIndex]
  /// The derived attributes that can be computed from the rows.
  package let derivedColumns: [DerivedColumn]

  /// Reads a store's own model, or makes one of its tables, and lays it out.
  ///
  /// Cost: the schema and the model; without a model some SELECTs a table.
  /// - Throws: `SchemaMismatch` when the store's own model wants what the file lacks; `SQLiteError`.
  package init(reading connection: Connection) throws {
    source = try StoreModel(reading: connection)
    mapping = try SQLModel(model: source.model, connection: connection)
    let builder = SchemaBuilder(model: mapping)
    indexes = builder.indexes
    rangeIndexes = builder.rangeIndexes
    derivedColumns = builder.derivedColumns
  }
}

extension SQLiteError {
  /// The Cocoa code of a store that can't be opened; without space for a temporary copy, the store isn't
  /// at fault.
  var openingCode: Int {
    code.primary == .full
      ? CocoaError.Code.fileWriteOutOfSpace.rawValue : NSPersistentStoreOpenError
  }
}

extension ModelArchive {
  /// The model in a store's `Z_MODELCACHE`; nil when there is none.
  static func readModel(
    on connection: Connection, telling teller: StoreOpeningLogger? = nil
  ) throws -> NSManagedObjectModel? {
    let probe = "SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = 'Z_MODELCACHE'"
    let content = "SELECT Z_CONTENT FROM Z_MODELCACHE"
    let tables = try teller.telling(probe) { try connection.values(probe) }
    guard !tables.isEmpty else { return nil }
    let row = try teller.telling(content) { try HousekeepingTables.row(content, on: connection) }
    guard case .blob(let bytes)? = row?.first, !bytes.isEmpty else { return nil }
    return try ModelArchive.read(deflated: bytes)
  }
}

extension NSManagedObjectModel {
  /// The model that a store carries in `Z_MODELCACHE`.
  ///
  /// The file is only looked at.
  ///
  /// - Throws: 134080 with a sentence when the file isn't a usable store or carries no model.
  package static func inStore(at url: URL) throws -> NSManagedObjectModel {
    try looking(at: url) { connection in
      guard let model = try ModelArchive.readModel(on: connection) else {
        throw NSError.coreData(
          NSPersistentStoreOpenError,
          "\(url.path) carries no model (Z_MODELCACHE is missing or empty). Give its model.")
      }
      return model
    }
  }

  /// Looks into a store's file and puts what goes wrong into the words of the public API.
  static func looking<Result>(
    at url: URL, _ read: (Connection) throws -> Result
  ) throws -> Result {
    if let problem = StoreFileProblem.examine(path: url.path) {
      throw NSError.unusableStore(problem, url)
    }
    do {
      let connection = try Connection(path: url.path, access: .looking)
      defer { connection.close() }
      _ = try StoreMetadata(reading: connection)
      return try read(connection)
    } catch let error as SQLiteError {
      throw NSError.coreData(
        error.openingCode, "The store \(url.path) could not be read: \(error)",
        [NSFilePathErrorKey: url.path])
    } catch let problem as StoreMetadata.Problem {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "\(url.path): \(problem)", [NSFilePathErrorKey: url.path])
    } catch let error as ModelError {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "The model inside \(url.path) cannot be read: \(error)",
        [NSFilePathErrorKey: url.path])
    }
  }
}
