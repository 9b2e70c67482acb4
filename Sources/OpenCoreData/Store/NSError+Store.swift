import ManagedModel
import SQLiteDriver

// Errors of stores, their files, and their rows.

extension NSError {
  /// Returns the error for a predicate or sort descriptor that can't be translated to SQL.
  static func translation(_ error: TranslationError, entity: String) -> NSError {
    coreData(NSCoreDataError, error.message, ["entity": entity])
  }

  /// Returns the error for an operation that the store can't perform.
  static func store(_ message: String) -> NSError {
    coreData(NSPersistentStoreOperationError, message)
  }

  /// Returns the error for a removed store: its objects can no longer be read or saved.
  static func removedStore(_ removed: NSPersistentStore) -> NSError {
    store(
      "The store \(removed.url?.path ?? "in memory") was removed from its coordinator. Fetch the "
        + "objects again from the stores of the coordinator.")
  }

  /// Returns the error for a file without a primary-key counter for a root entity.
  static func noMaximumKey(of entity: String) -> NSError {
    store(
      "The entity '\(entity)' has no Z_MAX in Z_PRIMARYKEY: new objects can't be inserted. "
        + "`cdprof doctor` shows what it should be.")
  }

  /// Returns the error for a primary-key counter that has reached its maximum.
  static func exhaustedKeys(of entity: String, _ last: Int64) -> NSError {
    store(
      "Z_MAX of '\(entity)' in Z_PRIMARYKEY is \(last): new objects can't be inserted. "
        + "`cdprof doctor` shows what it should be.")
  }

  /// Returns the error for a coordinator without a store.
  static func noStore() -> NSError {
    coreData(
      NSPersistentStoreSaveError,
      "The coordinator has no store: add one before fetching or saving.")
  }

  /// Returns the error for an entity that no store of a coordinator with stores can contain.
  static func noStore(containing entity: String) -> NSError {
    coreData(
      NSPersistentStoreSaveError,
      "No store of the coordinator contains the entity '\(entity)': "
        + "their configurations don't contain it.")
  }

  /// Returns the error for an insertion of which no affected store contains the entity.
  static func noAffectedStore(of entity: String) -> NSError {
    coreData(
      NSPersistentStoreSaveError,
      "None of the affected stores contains the entity '\(entity)', so nothing can be inserted: "
        + "specify another store in affectedStores.")
  }

  /// Returns the error for an object whose row doesn't exist: that of its store, if it has thrown
  /// one.
  static func missingObject(_ objectID: NSManagedObjectID) -> NSError {
    let store = objectID.persistentStore as? CachingStore
    if let error = store?.missingObjectError(objectID) { return error }
    return coreData(
      NSManagedObjectReferentialIntegrityError, "No row exists for \(objectID).",
      [NSAffectedObjectsErrorKey: [objectID]])
  }

  /// Returns the error for a file that can't be written, moved, or removed.
  ///
  /// - Parameters:
  ///   - deed: What can't be done with it, as a participle.
  ///   - number: The system's error number.
  static func file(_ path: String, _ deed: String, _ number: Int32) -> NSError {
    let code: CocoaError.Code =
      switch number {
      case ENOSPC, EDQUOT: .fileWriteOutOfSpace
      case EACCES, EPERM: .fileWriteNoPermission
      case EROFS: .fileWriteVolumeReadOnly
      case EEXIST: .fileWriteFileExists
      default: .fileWriteUnknown
      }
    return coreData(
      code.rawValue, "\(path) can't be \(deed): \(FileErrorText.words(number)).",
      [
        NSFilePathErrorKey: path,
        NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(number)),
      ])
  }

  /// Returns the error for a file that is complete in its place, but whose name isn't on disk.
  ///
  /// - Parameter deed: What is done with it, as a participle.
  static func unsynced(
    _ url: URL, _ problem: FileProblem, deed: String = "written"
  ) -> NSError {
    let cause = file(url.path, "synced", problem.number)
    return coreData(
      cause.code,
      "\(url.path) is \(deed), but its folder can't be synced to disk, so a power loss can bring "
        + "back what was there before: \(FileErrorText.words(problem.number)). Check the disk.",
      [NSFilePathErrorKey: url.path, unsyncedKey: true, NSUnderlyingErrorKey: cause])
  }

  private static let unsyncedKey = "cdprof.unsynced"

  /// Whether the operation is complete, and only a power loss can undo it.
  package var isOfUnsyncedFile: Bool { userInfo[Self.unsyncedKey] != nil }

  /// Whether the file is a SQLite database whose contents are inconsistent or incomplete, as
  /// opposed to a file that isn't a database.
  var isOfCorruptDatabase: Bool {
    guard let code = userInfo[NSSQLiteErrorDomain] as? Int else { return false }
    return ResultCode(rawValue: Int32(truncatingIfNeeded: code)).primary == .corrupt
  }

  /// Whether SQLite stopped a statement because it was interrupted.
  package var isInterruptedStatement: Bool {
    userInfo[NSSQLiteErrorDomain] as? Int == Int(ResultCode.interrupt.rawValue)
  }

  /// Returns the error with a store's path instead of that of a temporary copy, in all texts and
  /// causes; the error itself if none contains it.
  func naming(_ path: String, insteadOf copy: URL) -> NSError {
    func support(_ url: URL) -> String {
      ExternalStorage(storeURL: url).folder.deletingLastPathComponent().path
    }
    let names = [
      (copy.path, path), (support(copy), support(URL(fileURLWithPath: path))),
    ]
    var (info, isChanged) = (userInfo, false)
    for (key, value) in userInfo {
      if let text = value as? String {
        let changed = names.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        guard changed != text else { continue }
        info[key] = changed
        isChanged = true
      } else if let cause = value as? NSError {
        let changed = cause.naming(path, insteadOf: copy)
        guard changed !== cause else { continue }
        info[key] = changed
        isChanged = true
      }
    }
    return isChanged ? NSError(domain: domain, code: code, userInfo: info) : self
  }
}
