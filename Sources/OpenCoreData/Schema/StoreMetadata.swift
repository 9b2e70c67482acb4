import ManagedModel
import SQLiteDriver

/// The contents of `Z_METADATA`: the store's UUID and a property list.
struct StoreMetadata: @unchecked Sendable {
  // Unchecked: the values are those of a property list, which isn't changed in place.

  /// The store's UUID, part of every object's URI.
  var uuid: String

  /// The property list, with Core Data's keys and the application's own.
  var values: [String: Any]

  /// The key of the formula of `NSStoreModelVersionHashes`, a raw value of `DigestFormula`.
  ///
  /// If it's there, the hashes are OpenCoreData's digests. Otherwise they're Core Data's.
  static let digestFormulaKey = NSManagedObjectModel.digestFormulaKey

  /// The key of the framework whose version `NSPersistenceFrameworkVersion` is.
  static let frameworkNameKey = "cdprof.persistenceFramework"

  static let hashesKey = "NSStoreModelVersionHashes"
  static let checksumKey = "NSStoreModelVersionChecksumKey"
  static let hashesDigestKey = "NSStoreModelVersionHashesDigest"
  static let hashesVersionKey = "NSStoreModelVersionHashesVersion"
  static let identifiersKey = "NSStoreModelVersionIdentifiers"
  static let uuidKey = "NSStoreUUID"
  static let storeTypeKey = "NSStoreType"
  static let frameworkVersionKey = "NSPersistenceFrameworkVersion"
  static let autoVacuumKey = "_NSAutoVacuumLevel"
  /// The key of the deferred work of migrations.
  static let deferredWorkKey = "cdprof.deferredMigration"
  /// The key of a new destination that a migration manager hasn't completed.
  ///
  /// It doesn't begin with `cdprof.`, because such keys stay when a program sets the metadata.
  static let incompleteMigrationKey = "OpenCoreData.incompleteMigration"
  /// The keys of the model's version, and of the framework that wrote it.
  static let versionKeys = [
    hashesKey, hashesVersionKey, hashesDigestKey, checksumKey, digestFormulaKey, identifiersKey,
    frameworkVersionKey, frameworkNameKey,
  ]
  /// The key of the attributes whose last values the history preserves: for each entity, those of
  /// its columns, in their order.
  static let preservedAttributesKey = "cdprof.preservedAttributes"
  /// The keys that describe the tables of the file.
  private static let tableKeys = [
    NSPersistentStoreDeferredLightweightMigrationOptionKey, deferredWorkKey, preservedAttributesKey,
  ]

  init(uuid: String, values: [String: Any]) {
    self.uuid = uuid
    self.values = values
  }

  /// Creates the metadata of a new store of a model or of one of its configurations.
  ///
  /// The version hashes are Core Data's if they're known for every entity, otherwise digests.
  init(
    newStoreOf model: NSManagedObjectModel, configuration: String?,
    type: String = NSSQLiteStoreType
  ) {
    let entities = model.entities(forConfigurationName: configuration) ?? []
    let isRecorded = !entities.isEmpty && entities.allSatisfy { $0.currentRecordedHash != nil }
    let hashes = entities.compactMap { entity in
      entity.name.map { ($0, isRecorded ? entity.versionHash : entity.digest) }
    }
    self.init(
      model: model, digests: Dictionary(hashes, uniquingKeysWith: { first, _ in first }),
      digestFormula: isRecorded ? nil : DigestFormula.current.rawValue, type: type)
    if isRecorded, configuration == nil, let checksum = model.currentRecordedChecksum {
      values[Self.checksumKey] = checksum
    }
  }

  /// Creates the metadata of a new store.
  ///
  /// - Parameters:
  ///   - model: The model of the store.
  ///   - digests: The version hash of each entity by name, 32 bytes each.
  ///   - digestFormula: The formula of the hashes; `nil` if they're Core Data's.
  ///   - uuid: The store's UUID.
  ///   - type: Core Data's name of the type of store.
  init(
    model: NSManagedObjectModel, digests: [String: Data], digestFormula: Int?,
    uuid: String = UUID().uuidString, type: String = NSSQLiteStoreType
  ) {
    self.uuid = uuid
    values = [
      Self.hashesKey: digests,
      Self.hashesDigestKey: Self.digest(of: digests),
      Self.hashesVersionKey: 3,
      Self.identifiersKey: Self.identifiers(of: model),
      Self.storeTypeKey: type,
      Self.frameworkVersionKey: Int(NSCoreDataVersionNumber),
      Self.frameworkNameKey: "cdprof OpenCoreData",
    ]
    if let digestFormula { values[Self.digestFormulaKey] = digestFormula }
    if type == NSSQLiteStoreType { values[Self.autoVacuumKey] = "2" }
  }

  /// Returns Core Data's digest of version hashes: the SHA-512 of each name with its hash, in the
  /// order of the names, in Base64.
  ///
  /// It's written with the hashes, but not compared when a store is opened: the hashes are.
  static func digest(of hashes: [String: Data]) -> String {
    let bytes = hashes.sorted { $0.key < $1.key }.flatMap { Array($0.key.utf8) + Array($0.value) }
    return Data(SHA512.hash(bytes)).base64EncodedString()
  }

  /// Returns the metadata of the store after its migration to another version of the model.
  ///
  /// The UUID and the app's own keys stay.
  func migrated(to model: NSManagedObjectModel, configuration: String?) -> StoreMetadata {
    let new = StoreMetadata(newStoreOf: model, configuration: configuration)
    var result = self
    for key in Self.versionKeys { result.values[key] = new.values[key] }
    return result
  }

  /// The property list for the public API, which includes the UUID.
  var publicValues: [String: Any] {
    var result = values
    result[Self.uuidKey] = uuid
    result[Self.storeTypeKey] = result[Self.storeTypeKey] ?? "SQLite"
    return result
  }

  /// Returns a store's values replaced with others, without making it unusable.
  ///
  /// Type, UUID, version hashes, and what describes the tables don't change; the framework's other
  /// keys are kept if the new values lack them.
  static func replacing(
    _ old: [String: Any], with new: [String: Any]
  ) -> [String: Any] {
    var result = new
    result[NSManagedObjectModel.storedModelDigestsKey] = nil
    for key in tableKeys { result[key] = old[key] }
    for (key, value) in old where isFrameworkKey(key) {
      let isFixed = [uuidKey, storeTypeKey, hashesKey, hashesDigestKey, hashesVersionKey]
        .contains(key)
      if isFixed || result[key] == nil { result[key] = value }
    }
    return result
  }

  /// Returns a file's values with those that differ between two other lists of values.
  ///
  /// What's only in the old values is removed from the file's.
  static func merging(
    _ new: [String: Any], changedFrom old: [String: Any], into file: [String: Any]
  ) -> [String: Any] {
    var result = file
    for key in Set(old.keys).union(new.keys) where !isSame(old[key], new[key]) {
      result[key] = new[key]
    }
    return result
  }

  /// Returns whether two values are stored as the same bytes.
  private static func isSame(_ one: Any?, _ other: Any?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    guard let bytes = try? PropertyList.write(["": one]) else { return false }
    return bytes == (try? PropertyList.write(["": other]))
  }

  private static func isFrameworkKey(_ key: String) -> Bool {
    key.hasPrefix("NSStore") || key.hasPrefix("NSPersistence") || key == autoVacuumKey
      || key.hasPrefix("cdprof.")
  }

  /// Returns the version identifiers of a model as stored: strings, sorted; one empty string for
  /// none.
  private static func identifiers(of model: NSManagedObjectModel) -> [String] {
    let names = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    return names.isEmpty ? [""] : names
  }

  /// The stored hash of each entity by name, of either framework's formula.
  var hashes: [String: Data] { values[Self.hashesKey] as? [String: Data] ?? [:] }

  /// Whether the hashes are OpenCoreData's digests.
  var hasOwnDigests: Bool { values[Self.digestFormulaKey] != nil }
}

extension StoreMetadata {
  /// The reason why metadata can't be read.
  enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    case noTable
    case noRow
    case noUUID
    case corruptPropertyList
    /// A housekeeping table is something else, which the text describes.
    case notATable(String)

    var description: String {
      switch self {
      case .noTable: "The file has no table Z_METADATA, so it isn't a Core Data store."
      case .noRow: "The table Z_METADATA is empty."
      case .noUUID: "The row in Z_METADATA has no UUID."
      case .corruptPropertyList: "The property list in Z_METADATA can't be read."
      case .notATable(let reason): "The file isn't a Core Data store: \(reason)."
      }
    }
  }

  /// Reads the metadata.
  ///
  /// Three statements.
  ///
  /// - Throws: `Problem`, or `SQLiteError` if the file can't be read.
  init(reading connection: Connection, loggingTo logger: StoreOpeningLogger? = nil) throws {
    let probe = "SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = 'Z_METADATA'"
    let tables = try logger.logging(probe) { try connection.values(probe) }
    guard !tables.isEmpty else { throw Problem.noTable }
    if let reason = try HousekeepingTables.problem(on: connection) {
      throw Problem.notATable(reason)
    }
    let content = "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA"
    let row = try logger.logging(content) { try HousekeepingTables.row(content, on: connection) }
    guard let row, row.count == 3 else { throw Problem.noRow }
    guard case .text(let uuid) = row[1], !uuid.isEmpty else { throw Problem.noUUID }
    guard case .blob(let bytes) = row[2] else {
      self.init(uuid: uuid, values: [:])
      return
    }
    guard let values = PropertyList.read(bytes) as? [String: Any] else {
      throw Problem.corruptPropertyList
    }
    self.init(uuid: uuid, values: values)
  }

  /// Replaces the metadata in a file.
  ///
  /// One statement.
  func write(to connection: Connection, loggingTo logger: StoreOpeningLogger? = nil) throws {
    // The UUID has its own column.
    let list = try PropertyList.write(values.filter { $0.key != Self.uuidKey })
    let insert = "INSERT OR REPLACE INTO Z_METADATA(Z_VERSION, Z_UUID, Z_PLIST) VALUES(1, ?, ?)"
    _ = try logger.logging(insert) {
      try connection.values(insert, [.text(uuid), .blob(list)])
    }
  }
}

/// The deferred work of a store's lightweight migrations.
///
/// It's part of the store's metadata, so each transaction that does some of it removes it from
/// there.
struct DeferredWork: Hashable, Sendable, CustomStringConvertible {
  /// The tables that no entity or relationship has any longer.
  var tables: [String] = []
  /// The tables with columns or indexes that the model doesn't have.
  private(set) var changed: [String] = []
  /// The indexes of those tables that the model doesn't have.
  private(set) var indexes: [String] = []

  /// What's left to do, for a log.
  var description: String {
    let parts =
      (tables.isEmpty ? [] : ["drop \(tables.joined(separator: ", "))"])
      + (changed.isEmpty
        ? [] : ["remove columns and indexes of \(changed.joined(separator: ", "))"])
    return parts.joined(separator: "; ")
  }

  /// Whether there's no work.
  var isEmpty: Bool { tables.isEmpty && changed.isEmpty }

  /// Returns whether a table has columns or indexes that the model doesn't have.
  func hasChanged(_ table: String) -> Bool {
    changed.contains { $0.uppercased() == table.uppercased() }
  }

  /// Adds a table with columns that the model doesn't have.
  mutating func addChanged(_ table: String) {
    if !hasChanged(table) { changed.append(table) }
  }

  /// Adds an index that the model doesn't have.
  mutating func add(index: String, of table: String) {
    addChanged(table)
    indexes.append(index)
  }
}

extension DeferredWork {
  private static let tablesKey = "tables"
  private static let changedKey = "changed"
  private static let indexesKey = "indexes"

  /// Reads the work from a store's metadata; none if the metadata doesn't list any.
  init(_ metadata: [String: Any]) {
    let lists = metadata[StoreMetadata.deferredWorkKey] as? [String: [String]] ?? [:]
    self.init(
      tables: lists[Self.tablesKey] ?? [], changed: lists[Self.changedKey] ?? [],
      indexes: lists[Self.indexesKey] ?? [])
  }

  /// Writes the work to a store's metadata, with Core Data's flag for pending work.
  func write(to metadata: inout [String: Any]) {
    metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] = isEmpty ? nil : true
    metadata[StoreMetadata.deferredWorkKey] =
      isEmpty
      ? nil : [Self.tablesKey: tables, Self.changedKey: changed, Self.indexesKey: indexes]
  }
}
