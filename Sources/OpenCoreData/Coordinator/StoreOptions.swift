// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Apple's names of store types and of the options of `addPersistentStore`.

/// The type of stores in SQLite files.
public let NSSQLiteStoreType = "SQLite"
/// The type of stores in memory.
public let NSInMemoryStoreType = "InMemory"
/// Option: true opens a store to be looked at; not a byte in its folder changes.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option: a dictionary of SQLite pragmas and their values.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option: true opens a store although its model hashes are not those of the model.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option: seconds to wait for a locked file.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
