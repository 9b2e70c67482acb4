import ManagedModel
import SQLiteDriver

/// The files that a migration or a replacement of a store leaves next to it if it's interrupted.
///
/// While one is running, a hidden file next to the store lists the external data files that rows
/// refer to only before it, or only after it. After an interruption, the next one, or the next open
/// for writing, removes the listed files to which no row refers, and temporary stores. Whether the
/// operation was completed doesn't matter.
struct InterruptedMigrationFiles {
  private let url: URL

  /// Creates the files of operations on a store.
  init(of url: URL) {
    self.url = url
  }

  private var folder: String { url.deletingLastPathComponent().path }
  private var list: String { ".\(url.lastPathComponent).migration" }
  private var prefix: String { ".\(url.lastPathComponent).migrationdestination_" }

  /// Whether an operation is running or was interrupted.
  ///
  /// **Cost:** one `lstat`.
  var exist: Bool { FileStamp.exists(path: "\(folder)/\(list)") }

  /// Returns the URL of a new temporary store on the same volume.
  func temporaryStore() -> URL {
    let name = UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
    // The folder of external data has the name without the extension.
    return url.deletingLastPathComponent().appendingPathComponent("\(prefix)\(name).sqlite")
  }

  /// Lists external data files before the operation creates or removes them.
  ///
  /// The list is on disk when it returns.
  func record(_ names: Set<String>) throws(FileProblem) {
    let folder = try FileDescriptors.openFolder(self.folder)
    defer { close(folder) }
    unlinkat(folder, list, 0)
    let text = names.sorted().map { $0 + "\n" }.joined()
    try FileDescriptors.write(Data(text.utf8), to: list, in: folder)
    try FileDescriptors.syncNames(in: folder)
  }

  /// Ends an operation that has removed its files.
  ///
  /// - Returns: Whether there's no list anymore.
  @discardableResult
  func finish() -> Bool {
    !exist || unlink("\(folder)/\(list)") == 0 || errno == ENOENT
  }

  /// Removes a store and all remains of operations on it.
  ///
  /// A power loss doesn't bring back the store. After an error, it's complete, or
  /// `StoreFile.isPartlyRemoved(at:)` is true.
  /// - Throws: 512, 513, or 642 for a file that can't be removed.
  func removeWithStore() throws {
    // Until all files are removed, the list shows that some are left.
    note()
    do throws(FileProblem) {
      let directory = try FileDescriptors.openFolder(folder)
      defer { close(directory) }
      try removeTemporaryStores(in: directory, among: FileDescriptors.names(in: directory))
      guard unlink(url.path) == 0 || errno == ENOENT else { throw FileProblem(errno) }
      try FileDescriptors.syncNames(in: directory)
    } catch {
      throw NSError.file(url.path, "removed", error.number)
    }
    try StoreFile.remove(at: url)
    StageLock.removeAbandoned(of: url)
    guard finish() else { throw NSError.file(url.path, "removed", errno) }
  }

  /// Removes temporary stores that no running operation is writing.
  ///
  /// - Returns: Whether none are left.
  @discardableResult
  private func removeTemporaryStores(
    in directory: Int32, among names: [String]
  ) throws(FileProblem) -> Bool {
    let stems = names.compactMap { name -> String? in
      // The folder of external data has another period in front.
      let name = name.hasPrefix("." + prefix) ? String(name.dropFirst()) : name
      guard name.hasPrefix(prefix) else { return nil }
      return String(name.prefix(prefix.count + 32))
    }
    guard !stems.isEmpty else { return true }
    guard flock(directory, LOCK_EX | LOCK_NB) == 0 else { return false }
    defer { flock(directory, LOCK_UN) }
    // The new files of documents.
    for name in names where name.hasPrefix("." + prefix) && !name.hasSuffix("_SUPPORT") {
      guard unlink("\(folder)/\(name)") == 0 || errno == ENOENT else { throw FileProblem(errno) }
    }
    for stem in Set(stems) {
      do {
        try StoreFile.remove(
          at: url.deletingLastPathComponent().appendingPathComponent("\(stem).sqlite"))
      } catch {
        throw FileProblem(FileErrorText.errno(of: error as NSError) ?? EIO)
      }
    }
    return true
  }

  /// Removes temporary stores that interrupted operations left, or couldn't remove.
  ///
  /// Those of operations that are running, in any process, stay; see `FolderLock`.
  /// - Returns: Whether none are left.
  @discardableResult
  func removeTemporaryStores() -> Bool {
    guard let directory = try? FileDescriptors.openFolder(folder) else { return false }
    defer { close(directory) }
    guard let names = try? FileDescriptors.names(in: directory) else { return false }
    return (try? removeTemporaryStores(in: directory, among: names)) ?? false
  }

  /// Records that there's a temporary store, unless a list of external data files does.
  func note() {
    if !exist { try? record([]) }
  }

  /// Ends an operation whose temporary store is removed; keeps a list of external data files.
  func finishIfEmpty() {
    if FileStamp(path: "\(folder)/\(list)")?.size == 0 { finish() }
  }

  /// Removes what interrupted operations on a document left.
  ///
  /// **Cost:** two `lstat` if there's nothing.
  func removeFromDocument() {
    StageLock.removeAbandoned(of: url)
    if exist, removeTemporaryStores() { finishIfEmpty() }
  }

  /// Removes the remains of an operation that was interrupted, unless the store is being written.
  ///
  /// **Cost:** nothing if there are none; otherwise, reads all columns with binary data. What can't
  /// be removed stays.
  func remove(onceWritableBy connection: Connection) {
    guard exist, (try? connection.execute("BEGIN IMMEDIATE")) != nil else { return }
    try? remove(lockedBy: connection)
    try? connection.execute("ROLLBACK")
  }

  /// Removes the remains of an operation that was interrupted.
  ///
  /// - Parameter connection: A connection that prevents others from writing.
  /// - Throws: `SQLiteError`, `FileProblem` if they can't be determined or removed.
  func remove(lockedBy connection: Connection) throws {
    let directory = try FileDescriptors.openFolder(folder)
    defer { close(directory) }
    let names = try FileDescriptors.names(in: directory)
    let isClean = try removeTemporaryStores(in: directory, among: names)
    guard names.contains(list) else { return }
    let text = try FileDescriptors.read(
      list, in: directory, limit: StoreLimits.externalFileListSize)
    let listed = Set(
      String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        .filter { UUID(uuidString: $0) != nil })
    let files = ExternalStorage(storeURL: url)
    let unused = try listed.isEmpty ? [] : listed.subtracting(Self.references(on: connection))
    guard files.remove(named: unused) else { return }
    files.removeEmptyFolder()
    if isClean { finish() }
  }

  /// Returns the names of the external data files to which rows refer.
  ///
  /// Reads all columns with binary data, whatever the model is.
  private static func references(on connection: Connection) throws -> Set<String> {
    var names: Set<String> = []
    for table in try FileSchema(reading: connection).tables.values {
      for column in table.columns where column.type == "BLOB" {
        let name = SQLSyntax.quoted(column.name)
        let statement = try connection.statement(
          "SELECT \(name) FROM \(SQLSyntax.quoted(table.name)) "
            + "WHERE typeof(\(name)) = 'blob' AND length(\(name)) BETWEEN 37 AND 38")
        defer { statement.reset() }
        while try statement.step() {
          if case .blob(let bytes) = statement.value(0),
            let file = ExternalFile(reference: Data(bytes))
          {
            names.insert(file.name)
          }
        }
      }
    }
    return names
  }
}

/// A new store next to the one that it replaces when it's complete.
///
/// If the process is killed, the next open of the store for writing, or the next operation on it,
/// removes the temporary store. As long as the value exists, no other process or thread does.
final class TemporaryStore {
  /// The file, on the same volume, which doesn't exist yet.
  let url: URL
  private let remains: InterruptedMigrationFiles
  private let lock: FolderLock

  /// Removes what earlier operations on a store left, and reserves the URL of a new one.
  ///
  /// - Parameter destination: The store to be replaced, which doesn't have to exist.
  init(replacing destination: URL) {
    remains = InterruptedMigrationFiles(of: destination)
    remains.removeTemporaryStores()
    lock = FolderLock(destination.deletingLastPathComponent())
    url = remains.temporaryStore()
    remains.note()
  }

  /// Ends the operation, and removes the files of the store if it hasn't been moved.
  func remove() {
    let isRemoved = (try? StoreFile.remove(at: url)) != nil
    if isRemoved { remains.finishIfEmpty() }
    lock.release()
  }
}
