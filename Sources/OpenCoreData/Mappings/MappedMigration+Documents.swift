import ManagedModel
import SQLiteDriver

extension MappedMigration {
  /// Migrates an XML or binary store into a new document that replaces it at the end.
  ///
  /// As for a SQLite store, the old document stays with `~` at the end of its name, unless it isn't wanted. Cost: that of the
  /// migration manager, with both documents in memory.
  /// - Throws: The errors of `NSMigrationManager.migrateStore`; 134110 if the document is being migrated or
  ///   written elsewhere, or the file system fails. The store is unchanged then.
  func migrateDocument() throws {
    let lock = try DocumentLock(url)
    defer { lock.release() }
    let temporary = TemporaryStore(replacing: url)
    defer { temporary.remove() }
    let new = temporary.url
    let events = try copyInstances(to: new)
    try report(1)
    try lock.check()
    let old = oldFile()
    do {
      if keepsOldStore { try? FileManager.default.removeItem(at: old) }
      // Some file systems have no links.
      if keepsOldStore, link(url.path, old.path) != 0 {
        try FileManager.default.copyItem(at: url, to: old)
      }
      guard rename(new.path, url.path) == 0 else { throw FileProblem(errno) }
    } catch {
      if keepsOldStore { try? FileManager.default.removeItem(at: old) }
      throw notReplaced(
        (error as? FileProblem)?.reason ?? FileErrorText.of(error), by: error)
    }
    try? StoreFile.sync(url.deletingLastPathComponent())
    end(events)
  }
}

/// Prevents two migrations of a document at a time, and detects that it's written in the meantime.
private final class DocumentLock {
  private let url: URL
  private let descriptor: Int32
  private let stamp: FileStamp?

  /// Locks a document for migrations; others can read and write it.
  ///
  /// - Throws: 134110 if it's locked or can't be opened.
  init(_ url: URL) throws {
    self.url = url
    descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw Self.error(url, FileProblem(errno).reason)
    }
    stamp = FileStamp(path: url.path)
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw Self.error(url, "it's being migrated elsewhere")
    }
  }

  /// - Throws: 134110 if the document was replaced since it was locked.
  func check() throws {
    guard FileStamp(path: url.path) == stamp else {
      throw Self.error(url, "it was written during the migration: open it again")
    }
  }

  func release() {
    close(descriptor)
  }

  private static func error(_ url: URL, _ reason: String) -> NSError {
    NSError.coreData(
      NSMigrationError,
      "The store \(url.path) can't be migrated: \(reason). The store is unchanged.",
      [NSFilePathErrorKey: url.path, "sourceURL": url, "reason": reason])
  }
}
