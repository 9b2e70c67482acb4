import ManagedModel
import SQLiteDriver

/// What `Z_METADATA` holds: the store's UUID and a property list of anything else.
struct StoreMetadata: @unchecked Sendable {
  // Unchecked: the values are those of a property list, which nobody changes in place.

  /// The store's identity, part of every object's URI.
  var uuid: String

  /// The property list, Apple's keys and the application's own.
  var values: [String: Any]

  /// The key of the formula of `NSStoreModelVersionHashes`, a raw value of `DigestFormula`.
  ///
  /// If it's there, the hashes are OpenCoreData's digests. Otherwise they're Core Data's.
  static let digestFormulaKey = NSManagedObjectModel.digestFormulaKey

  /// The key that says whose `NSPersistenceFrameworkVersion` it is.
  static let frameworkNameKey = "cdprof.persistenceFramework"

  static let hashesKey = "NSStoreModelVersionHashes"
  static let checksumKey = "NSStoreModelVersionChecksumKey"
  static let hashesVersionKey = "NSStoreModelVersionHashesVersion"
  static let identifiersKey = "NSStoreModelVersionIdentifiers"
  static let uuidKey = "NSStoreUUID"
  static let storeTypeKey = "NSStoreType"
  static let frameworkVersionKey = "NSPersistenceFrameworkVersion"
  static let autoVacuumKey = "_NSAutoVacuumLevel"

  init(uuid: String, values: [String: Any]) {
    self.uuid = uuid
    self.values = values
  }

  /// The metadata of a new store of a model or of a configuration of it.
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

  /// The metadata of a new store.
  ///
  /// - Parameters:
  ///   - model: The model the store is made for.
  ///   - digests: The version hash of each entity by name, 32 bytes each.
  ///   - digestFormula: The formula of the hashes, nil if they're Core Data's.
  ///   - uuid: The store's identity.
  ///   - type: Apple's name of the type of store.
  init(
    model: NSManagedObjectModel, digests: [String: Data], digestFormula: Int?,
    uuid: String = UUID().uuidString, type: String = NSSQLiteStoreType
  ) {
    self.uuid = uuid
    values = [
      Self.hashesKey: digests,
      Self.hashesVersionKey: 3,
      Self.identifiersKey: Self.identifiers(of: model),
      Self.storeTypeKey: type,
      Self.frameworkVersionKey: 1,
      Self.frameworkNameKey: "cdprof OpenCoreData",
    ]
    if let digestFormula { values[Self.digestFormulaKey] = digestFormula }
    if type == NSSQLiteStoreType { values[Self.autoVacuumKey] = "2" }
  }

  /// The property list as the public API gives it: the identity is in it.
  var publicValues: [String: Any] {
    var result = values
    result[Self.uuidKey] = uuid
    result[Self.storeTypeKey] = result[Self.storeTypeKey] ?? "SQLite"
    return result
  }

  /// Other values in place of those that a store has; what makes it usable stays.
  ///
  /// Type, UUID and version hashes stay as they are; the framework's other keys stay where the new
  /// values lack them.
  static func replacing(
    _ old: [String: Any], with new: [String: Any]
  ) -> [String: Any] {
    var result = new
    result[NSManagedObjectModel.storedModelDigestsKey] = nil
    for (key, value) in old where isFrameworkKey(key) {
      let isFixed = [uuidKey, storeTypeKey, hashesKey, hashesVersionKey].contains(key)
      if isFixed || result[key] == nil { result[key] = value }
    }
    return result
  }

  private static func isFrameworkKey(_ key: String) -> Bool {
    key.hasPrefix("NSStore") || key.hasPrefix("NSPersistence") || key == autoVacuumKey
      || key.hasPrefix("cdprof.")
  }

  /// The identifiers of a model as the list keeps them: texts, sorted; one empty text for none.
  private static func identifiers(of model: NSManagedObjectModel) -> [String] {
    let names = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    return names.isEmpty ? [""] : names
  }

  /// The stored hash of each entity by name, whoever's formula it is.
  var hashes: [String: Data] { values[Self.hashesKey] as? [String: Data] ?? [:] }

  /// Whether the hashes are this framework's digests.
  var hasOwnDigests: Bool { values[Self.digestFormulaKey] != nil }

  /// Compares a model with the one that a store was made with.
  ///
  /// The version hashes decide if the model has hashes of the same kind. Otherwise the model that
  /// the store contains is compared, which nothing but the hashes of Core Data's or of an earlier
  /// formula stand for.
  ///
  /// - Parameters:
  ///   - model: The model to open the store with.
  ///   - configuration: The configuration of the model, nil for all entities.
  ///   - url: The store's file, for the error.
  ///   - storedModel: Reads the model that the store contains; nil if it contains none. A store
  ///     with Core Data's hashes is then compatible as far as its columns are.
  /// - Throws: 134100 with the entities that differ; what reading the model throws.
  func check(
    _ model: NSManagedObjectModel, _ configuration: String?, at url: URL,
    storedModel: () throws -> NSManagedObjectModel?
  ) throws {
    let entities = model.entities(forConfigurationName: configuration) ?? []
    let own = Dictionary(
      entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    let formula = NSManagedObjectModel.digestFormula(of: values)
    var matches = { (name: String, hash: Data) in own[name]?.matches(hash, formula) == true }
    var stored = hashes
    let isDecisive =
      hasOwnDigests
      ? formula == .current : own.values.allSatisfy { $0.currentRecordedHash != nil }
    if !isDecisive {
      if let kept = try storedModel() {
        // The store may contain a configuration of the model.
        stored = kept.entityDigestsByName.filter { hashes.isEmpty || hashes[$0.key] != nil }
        matches = { name, digest in own[name]?.digest == digest }
      } else if !hasOwnDigests {
        return
      }
    }
    let differing = Set(own.keys).union(stored.keys).filter { name in
      stored[name].map { !matches(name, $0) } ?? true
    }.sorted()
    guard !differing.isEmpty else { return }
    throw NSError.coreData(
      NSPersistentStoreIncompatibleVersionHashError,
      "The model is not the one the store was made with; these entities differ: "
        + differing.joined(separator: ", ") + ".",
      [NSFilePathErrorKey: url.path, "metadata": values])
  }
}

extension StoreMetadata {
  /// Why metadata could not be read.
  enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    case noTable
    case noRow
    case noUUID
    case damagedPropertyList
    /// A housekeeping table is something else, in words.
    case notATable(String)

    var description: String {
      switch self {
      case .noTable: "The file has no table Z_METADATA, so it isn't a Core Data store."
      case .noRow: "The table Z_METADATA is empty."
      case .noUUID: "The row in Z_METADATA has no UUID."
      case .damagedPropertyList: "The property list in Z_METADATA cannot be read."
      case .notATable(let reason): "The file isn't a Core Data store: \(reason)."
      }
    }
  }

  /// Reads the metadata.
  ///
  /// Three statements.
  ///
  /// - Throws: `Problem`, or `SQLiteError` when the file cannot be read.
  init(reading connection: Connection, telling teller: StoreOpeningLogger? = nil) throws {
    let probe = "SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = 'Z_METADATA'"
    let tables = try teller.telling(probe) { try connection.values(probe) }
    guard !tables.isEmpty else { throw Problem.noTable }
    if let reason = try HousekeepingTables.problem(on: connection) {
      throw Problem.notATable(reason)
    }
    let content = "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA"
    let row = try teller.telling(content) { try HousekeepingTables.row(content, on: connection) }
    guard let row, row.count == 3 else { throw Problem.noRow }
    guard case .text(let uuid) = row[1], !uuid.isEmpty else { throw Problem.noUUID }
    guard case .blob(let bytes) = row[2] else {
      self.init(uuid: uuid, values: [:])
      return
    }
    guard let values = PropertyList.read(bytes) as? [String: Any] else {
      throw Problem.damagedPropertyList
    }
    self.init(uuid: uuid, values: values)
  }

  /// Writes the metadata in place of what is there.
  ///
  /// One statement.
  func write(to connection: Connection, telling teller: StoreOpeningLogger? = nil) throws {
    // The identity has a column of its own.
    let list = try PropertyListSerialization.data(
      fromPropertyList: values.filter { $0.key != Self.uuidKey }, format: .binary, options: 0)
    let insert = "INSERT OR REPLACE INTO Z_METADATA(Z_VERSION, Z_UUID, Z_PLIST) VALUES(1, ?, ?)"
    _ = try teller.telling(insert) {
      try connection.values(insert, [.text(uuid), .blob([UInt8](list))])
    }
  }
}
