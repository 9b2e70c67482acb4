// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Apple's names of store types and of the options of `addPersistentStore`.

/// The type of stores in SQLite files.
public let NSSQLiteStoreType = "SQLite"
/// The type of stores that are one XML document, read and written whole.
public let NSXMLStoreType = "XML"
/// The type of stores that are one binary document, read and written whole.
public let NSBinaryStoreType = "Binary"
/// The type of stores in memory.
public let NSInMemoryStoreType = "InMemory"
/// Option: true opens a store to be looked at; not a byte in its folder changes.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option: a dictionary of SQLite pragmas and their values.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option: true opens a store although its model hashes are not those of the model.
///
/// A table or column that the file lacks isn't noticed until a statement needs it, which fails with
/// `NSSQLiteError`. The next save writes the hashes of the model into the store's metadata.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option: true compacts a file whose pages are vacuumed by hand, when it is opened.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option: true has SQLite look at the tables when the file is opened, so that it plans better.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option of destroying and replacing: true does it although the file is open elsewhere.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Key of the metadata: the type of the store.
public let NSStoreTypeKey = "NSStoreType"
/// Key of the metadata: the store's identity, part of each object's URI.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Key of the metadata: a hash of each entity of the model the store was made with.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// Key of the metadata: what the model was called by whoever made the store.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// Option: how many connections a SQLite store keeps for reading, an integer above 0; 4 without it.
///
/// A context that finds all of them in use gets one more, which is closed when it is given back.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Option: seconds to wait for a locked file.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
