import SQLiteDriver

// Errors of store files: they name no other type of this module.

extension NSError {
  /// Returns the error for a file that isn't a usable store, with the next step: 259 with SQLite's
  /// code if it isn't a database or is corrupt, 260 if there's no file, otherwise 134080.
  static func unusableStore(_ problem: StoreFileProblem, _ url: URL) -> NSError {
    var code = NSPersistentStoreOpenError
    var info: [String: Any] = [NSFilePathErrorKey: url.path]
    switch problem {
    case .notADatabase, .documentStore, .truncated, .corrupt:
      code = CocoaError.Code.fileReadCorruptFile.rawValue
      info[NSSQLiteErrorDomain] = Int(problem.code.rawValue)
    case .missing: code = CocoaError.Code.fileReadNoSuchFile.rawValue
    case .directory, .notAFile, .unreadable, .empty: break
    }
    return coreData(code, "The store can't be opened: \(problem).", info)
  }

  /// Returns the error for a store that SQLite can't open: that of its corrupt file, if that's the
  /// cause; 512 with Core Data's reason if a new store's folder doesn't exist.
  static func opening(
    _ url: URL, _ error: SQLiteError, isReadOnly: Bool, isInMemory: Bool
  ) -> NSError {
    if error.code.isOfCorruptFile, !isInMemory,
      let problem = StoreFileProblem.examine(path: url.path)
    {
      return unusableStore(problem, url)
    }
    var code = error.openingCode
    var info: [String: Any] = [
      NSFilePathErrorKey: url.path, NSSQLiteErrorDomain: Int(error.code.rawValue),
    ]
    if !isReadOnly, !isInMemory, error.lacksFolder(of: url) {
      code = CocoaError.Code.fileWriteUnknown.rawValue
      info["reason"] = "Failed to create file; code = \(ENOENT)"
    }
    return coreData(code, error.openingMessage(url, isReadOnly: isReadOnly), info)
  }

  /// Returns the error for a row whose entity ID isn't in the model.
  static func damagedRow(
    entityNumber: Int, primaryKey: Int64, readAs entity: String? = nil
  ) -> NSError {
    coreData(
      CocoaError.Code.fileReadCorruptFile.rawValue,
      "The row \(entity.map { "of '\($0)' " } ?? "")with Z_PK \(primaryKey) has entity ID "
        + "\(entityNumber), which isn't in the model.")
  }

  /// Returns the error for a row with an invalid primary key.
  static func damagedKey(_ key: Int64, entity: String) -> NSError {
    coreData(
      CocoaError.Code.fileReadCorruptFile.rawValue,
      "A row of '\(entity)' has the Z_PK \(key); keys start at 1.")
  }
}

extension SQLiteError {
  /// The error code for a store that can't be opened: 259 if it's corrupt, otherwise 134080; 640 if
  /// there's no space for a temporary copy, of which the store isn't the cause.
  var openingCode: Int {
    if code.isOutOfSpace { return CocoaError.Code.fileWriteOutOfSpace.rawValue }
    return code.isOfCorruptFile
      ? CocoaError.Code.fileReadCorruptFile.rawValue : NSPersistentStoreOpenError
  }

  /// Returns the user info for a store that can't be read: its path, and SQLite's code if it's
  /// corrupt.
  func readingInfo(_ url: URL) -> [String: Any] {
    var info: [String: Any] = [NSFilePathErrorKey: url.path]
    if code.isOfCorruptFile { info[NSSQLiteErrorDomain] = Int(code.rawValue) }
    return info
  }

  /// Returns the message for a store that can't be opened, with what to do about it.
  func openingMessage(_ url: URL, isReadOnly: Bool) -> String {
    let advice = isReadOnly ? "" : openingAdvice(url)
    return "The store \(url.relativePath) couldn't be opened: \(self).\(advice)"
  }

  /// Returns whether SQLite couldn't open a file because its folder doesn't exist.
  fileprivate func lacksFolder(of url: URL) -> Bool {
    code.primary == .cantOpen
      && !FileStamp.exists(path: url.deletingLastPathComponent().path)
  }

  private func openingAdvice(_ url: URL) -> String {
    if lacksFolder(of: url) {
      return " There's no folder \(url.deletingLastPathComponent().path): create it first."
    }
    if code.isOutOfSpace { return " Free disk space, and open it again." }
    switch code.primary {
    case .readOnly, .cantOpen, .permission:
      return " The file or its folder can't be written: give this user access to both, or open it "
        + "with NSReadOnlyPersistentStoreOption."
    case .busy: return " It's open elsewhere: close it there, and open it again."
    default: return ""
    }
  }
}
