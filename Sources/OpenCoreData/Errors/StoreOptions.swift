// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Core Data's names of store types and of the options of `addPersistentStore`.

/// The type of stores in SQLite files.
public let NSSQLiteStoreType = "SQLite"
/// The type of stores that are one XML document, read and written as a whole.
public let NSXMLStoreType = "XML"
/// The type of stores that are one binary document, read and written as a whole.
public let NSBinaryStoreType = "Binary"
/// The type of in-memory stores.
public let NSInMemoryStoreType = "InMemory"
/// Option: true opens a store read-only; no file in its folder is modified.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option: a dictionary of SQLite pragmas and their values.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option: true opens a store even if its version hashes differ from the model's.
///
/// A table or column that the file lacks isn't noticed until a statement needs it, which fails with
/// `NSSQLiteError`. The next save writes the version hashes of the model to the store's metadata.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option: true migrates a store of another version of the model before it's opened.
///
/// A coordinator doesn't migrate by default; a container does. A read-only store is never migrated.
public let NSMigratePersistentStoresAutomaticallyOption =
  "NSMigratePersistentStoresAutomaticallyOption"
/// Option: true infers the mapping model if none is found.
///
/// Without `NSMigratePersistentStoresAutomaticallyOption`, it has no effect.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option: the `NSStagedMigrationManager` whose stages migrate the store.
///
/// It needs both options of automatic migration.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
  "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Option: true defers what doesn't affect reading in a lightweight migration of a SQLite store.
///
/// That's the removal of columns (which copies the table), tables, and indexes, until
/// `finishDeferredLightweightMigration()`. It needs both options of automatic migration. As a key
/// of the metadata, it's true while there's such work.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// Option: true compacts a file that isn't vacuumed automatically, when it's opened.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option: true runs SQLite's ANALYZE when the file is opened, for better query plans.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option: whether an XML store is validated when it's read; it has no effect, because each is.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Option: the classes that are decoded from a binary store, in addition to those of attributes; it
/// has no effect, because value transformers decode the values.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Option: whether any class is decoded from a binary store; it has no effect.
public let NSBinaryStoreInsecureDecodingCompatibilityOption =
  "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Option: the file protection of a store on iOS; it has no effect on Linux.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option of destroying and replacing: true does so even if the file is in use.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Key of the metadata: the type of the store.
public let NSStoreTypeKey = "NSStoreType"
/// Key of the metadata: the store's identity, part of each object's URI.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Key of the metadata: a hash of each entity of the model the store was created with.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// Key of the metadata: the version identifiers of the model the store was created with.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// Key of the metadata: Core Data's checksum of the model the store was created with, if it's
/// known.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
/// Key of the metadata: the earliest version of macOS that can open the store; OpenCoreData doesn't
/// read it.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// The version of OpenCoreData that new stores have in their metadata, which isn't comparable with
/// Core Data's.
public let NSCoreDataVersionNumber = 1.0
/// Option: the number of connections that a SQLite store keeps for reading, a positive integer; by
/// default 4.
///
/// A context that finds all of them in use gets an additional one, which is closed when it's
/// returned.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Option: the number of seconds to wait for a locked file.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"

extension Optional<[AnyHashable: Any]> {
  /// Returns whether an option of a store is true; false if it's missing.
  func isSet(_ option: String) -> Bool {
    let value = self?[option]
    return value as? Bool ?? (value as? NSNumber)?.boolValue ?? false
  }
}
