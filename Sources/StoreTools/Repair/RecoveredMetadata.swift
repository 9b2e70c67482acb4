import Foundation
import OpenCoreData
import SQLiteDriver

/// The UUID, the metadata, and the model of a corrupt store, as far as they can be read.
struct RecoveredMetadata {
  private let corrupt: CorruptStore
  private let usesStoredModel: Bool
  /// The property list of the new store.
  private var created: [String: Any] = [:]
  /// The property list that has been written.
  private var written: [String: Any] = [:]
  /// What is that of a new store.
  private(set) var assumptions: [String] = []

  private static let hashesKey = "NSStoreModelVersionHashes"
  /// The new store has the final tables of the model.
  private static let removedKeys = [
    NSPersistentStoreDeferredLightweightMigrationOptionKey, "cdprof.deferredMigration",
  ]
  /// The keys of the framework that created the file.
  private static let frameworkKeys = [
    "NSPersistenceFrameworkVersion", "cdprof.persistenceFramework", "_NSAutoVacuumLevel",
  ]
  /// The keys of what is computed from a model.
  private static let modelKeys = [
    hashesKey, "NSStoreModelVersionHashesDigest", "NSStoreModelVersionHashesVersion",
    "NSStoreModelVersionChecksumKey", "NSStoreModelVersionIdentifiers",
    NSManagedObjectModel.digestFormulaKey,
  ]

  init(_ corrupt: CorruptStore, usesStoredModel: Bool) {
    self.corrupt = corrupt
    self.usesStoredModel = usesStoredModel
  }

  /// Replaces the metadata of the new store with what can be read.
  ///
  /// - Throws: A `SQLiteError` if the store can't be written.
  mutating func write(on connection: Connection) throws {
    if let uuid = corrupt.uuid {
      _ = try connection.values("UPDATE Z_METADATA SET Z_UUID = ?", [.text(uuid)])
    } else {
      assumptions.append("Z_METADATA can't be read; the store has a new UUID")
    }
    if usesStoredModel, let bytes = corrupt.modelCache {
      _ = try connection.values("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.blob(bytes)])
    }
    if case .blob(let bytes)? = try connection.values("SELECT Z_PLIST FROM Z_METADATA").first?.first
    {
      created = PropertyList.read(bytes) as? [String: Any] ?? [:]
    }
    if var values = corrupt.metadata, values[Self.hashesKey] is [String: Data] {
      for key in Self.removedKeys { values[key] = nil }
      for key in Self.frameworkKeys { values[key] = created[key] }
      // A binary list can contain values that are only those of keyed archives.
      if let list = try? PropertyList.write(values) {
        return try put(values, as: list, on: connection)
      }
    }
    if corrupt.uuid != nil {
      assumptions.append("the property list in Z_METADATA can't be read; its own keys are lost")
    }
  }

  /// Replaces the version hashes with those of the stored model.
  ///
  /// - Throws: A `SQLiteError` if the store can't be written.
  mutating func writeHashes(on connection: Connection) throws {
    assumptions.append("the version hashes in Z_METADATA are corrupt; those of the model are used")
    var values = written
    for key in Self.modelKeys { values[key] = created[key] }
    try put(values, as: PropertyList.write(values), on: connection)
  }

  private mutating func put(
    _ values: [String: Any], as list: [UInt8], on connection: Connection
  ) throws {
    _ = try connection.values("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(list)])
    written = values
  }
}
