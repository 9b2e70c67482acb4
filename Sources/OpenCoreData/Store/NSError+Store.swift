import ManagedModel
import SQLiteDriver

// Errors of stores, their files, and their rows.

extension NSError {
  /// A predicate or sort descriptor that SQL cannot say.
  static func translation(_ error: TranslationError, entity: String) -> NSError {
    coreData(NSCoreDataError, error.message, ["entity": entity])
  }

  /// A store that cannot do what it is asked for.
  static func store(_ message: String) -> NSError {
    coreData(NSPersistentStoreOperationError, message)
  }

  /// A store that was removed: its objects can be neither read nor saved any more.
  static func removedStore(_ removed: NSPersistentStore) -> NSError {
    store(
      "The store \(removed.url?.path ?? "in memory") was removed from its coordinator. Fetch the "
        + "objects again from the stores of the coordinator.")
  }

  /// A file that does not say which keys of a root entity are taken.
  static func noMaximumKey(of entity: String) -> NSError {
    store(
      "The entity '\(entity)' has no Z_MAX in Z_PRIMARYKEY: the file cannot take new objects. "
        + "`cdprof doctor` shows what it should be.")
  }

  /// A counter of primary keys that leaves no room for more.
  static func exhaustedKeys(of entity: String, _ last: Int64) -> NSError {
    store(
      "Z_MAX of '\(entity)' in Z_PRIMARYKEY is \(last): the file cannot take new objects. "
        + "`cdprof doctor` shows what it should be.")
  }

  /// A coordinator without a store.
  static func noStore() -> NSError {
    coreData(
      NSPersistentStoreSaveError,
      "The coordinator has no store: add one before fetching or saving.")
  }

  /// An object whose row does not exist.
  static func missingObject(_ objectID: NSManagedObjectID) -> NSError {
    coreData(
      NSManagedObjectReferentialIntegrityError, "No row exists for \(objectID).",
      [NSAffectedObjectsErrorKey: [objectID]])
  }

  /// A file that isn't a usable store, with the next step.
  static func unusableStore(_ problem: StoreFileProblem, _ url: URL) -> NSError {
    coreData(
      NSPersistentStoreOpenError, "The store cannot be opened: \(problem).",
      [NSFilePathErrorKey: url.path])
  }

  /// A row whose entity number the model does not have.
  static func damagedRow(
    entityNumber: Int, primaryKey: Int64, readAs entity: String? = nil
  ) -> NSError {
    coreData(
      CocoaError.Code.fileReadCorruptFile.rawValue,
      "The row \(entity.map { "of '\($0)' " } ?? "")with Z_PK \(primaryKey) has entity ID "
        + "\(entityNumber), which isn't in the model.")
  }

  /// A row whose key no object can have.
  static func damagedKey(_ key: Int64, entity: String) -> NSError {
    coreData(
      CocoaError.Code.fileReadCorruptFile.rawValue,
      "A row of '\(entity)' has the Z_PK \(key); keys start at 1.")
  }

  /// An error of the driver, with SQLite's code and the statement.
  static func from(_ error: any Error, store: NSPersistentStore?) -> NSError {
    guard let error = error as? SQLiteError else { return error as NSError }
    var info: [String: Any] = [NSSQLiteErrorDomain: Int(error.code.rawValue)]
    info[NSFilePathErrorKey] = store?.url?.path
    info[NSUnderlyingErrorKey] = NSError(
      domain: NSSQLiteErrorDomain, code: Int(error.code.rawValue),
      userInfo: [NSLocalizedDescriptionKey: error.description])
    if error.code == .functionFailed {
      // Only predicates call functions that fail.
      return coreData(
        NSCoreDataError, "The predicate can't be evaluated: \(error.message).", info)
    }
    return coreData(NSSQLiteError, error.description, info)
  }

  /// Whether SQLite stopped a statement because it was asked to.
  package var isInterruptedStatement: Bool {
    userInfo[NSSQLiteErrorDomain] as? Int == Int(ResultCode.interrupt.rawValue)
  }
}
