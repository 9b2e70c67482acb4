import ManagedModel
import SQLiteDriver

/// What `Z_METADATA` holds: the store's UUID and a property list of anything else.
struct StoreMetadata: @unchecked Sendable {
  // Unchecked: the values are those of a property list, which nobody changes in place.

  /// The store's identity, part of every object's URI.
  var uuid: String

  /// The property list, Apple's keys and the application's own.
  var values: [String: Any]

  /// The key with the number of the formula of `NSStoreModelVersionHashes`, in stores made here.
  ///
  /// Its presence says that the hashes are digests of this framework and not Apple's, whose
  /// formula is not public.
  static let digestFormulaKey = "cdprof.modelDigestFormula"

  /// The number of the formula that the model's digests are made by now.
  static let digestFormula = 1

  /// The key that says whose `NSPersistenceFrameworkVersion` it is.
  static let frameworkNameKey = "cdprof.persistenceFramework"

  static let hashesKey = "NSStoreModelVersionHashes"
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

  /// The metadata of a new store.
  ///
  /// - Parameters:
  ///   - model: The model the store is made for.
  ///   - digests: The digest of each entity by name, 32 bytes each.
  ///   - digestFormula: The number of the formula the digests are made by.
  ///   - uuid: The store's identity.
  ///   - type: Apple's name of the type of store.
  init(
    model: NSManagedObjectModel, digests: [String: Data], digestFormula: Int,
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
      Self.digestFormulaKey: digestFormula,
    ]
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

  /// The model identifiers the store was written with.
  var identifiers: [String] { values[Self.identifiersKey] as? [String] ?? [] }

  /// Whether the hashes are this framework's digests.
  var hasOwnDigests: Bool { values[Self.digestFormulaKey] != nil }

  /// The version of the framework which wrote the store, Apple's or ours.
  var frameworkVersion: Int? { (values[Self.frameworkVersionKey] as? NSNumber)?.intValue }

  /// Holds digests of ours that a store was made with against those of a model.
  ///
  /// - Parameter stored: The digest of each entity by name.
  /// - Throws: 134100 with the entities that differ.
  func check(
    _ stored: [String: Data], against model: NSManagedObjectModel, _ configuration: String?,
    at url: URL
  ) throws {
    let own = model.versionHashes(of: configuration)
    let differing = Set(own.keys).union(stored.keys).filter { own[$0] != stored[$0] }.sorted()
    guard !differing.isEmpty else { return }
    throw NSError.coreData(
      NSPersistentStoreIncompatibleVersionHashError,
      "The model is not the one the store was made with; these entities differ: "
        + differing.joined(separator: ", ") + ".",
      [NSFilePathErrorKey: url.path, "metadata": values])
  }
}
