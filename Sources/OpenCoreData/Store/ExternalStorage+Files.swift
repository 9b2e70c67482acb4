import ManagedModel
import SQLiteDriver

// Files of external storage, accessed through descriptors of their folder.
//
// A store can come from anywhere, with links instead of the folder or its files. No link is
// followed, and only regular files are read.

extension ExternalStorage {
  /// Returns the sizes in bytes of all regular files by name, excluding those that operating
  /// systems add.
  ///
  /// Empty if there's no folder, or a link instead of it.
  /// - Throws: 257 or 256 if the folder can't be read.
  package func files() throws -> [String: Int] {
    do {
      return try sizes()
    } catch {
      if [ELOOP, ENOTDIR].contains(error.number) { return [:] }
      let isDenied = error.number == EACCES || error.number == EPERM
      throw NSError.coreData(
        (isDenied ? CocoaError.fileReadNoPermission : .fileReadUnknown).rawValue,
        "\(folder.relativePath) can't be read: \(FileErrorText.words(error.number)).",
        [NSFilePathErrorKey: folder.path])
    }
  }

  /// Returns the names of all regular files, excluding those that operating systems add.
  ///
  /// - Throws: 257 or 256 if the folder can't be read.
  package func fileNames() throws -> Set<String> { try Set(files().keys) }

  /// Returns the names of all regular files, excluding hidden ones; empty if there's no folder.
  ///
  /// - Throws: `FileProblem` if the folder can't be listed.
  func listedNames() throws(FileProblem) -> Set<String> { try Set(sizes().keys) }

  private func sizes() throws(FileProblem) -> [String: Int] {
    guard let folder = try openExistingFolder() else { return [:] }
    defer { close(folder) }
    var sizes: [String: Int] = [:]
    for name in try FileDescriptors.names(in: folder) where !name.hasPrefix(".") {
      if let size = try FileDescriptors.regularSize(of: name, in: folder) {
        sizes[name] = Int(clamping: size)
      }
    }
    return sizes
  }

  private static func regularNames(in folder: Int32) throws(FileProblem) -> [String] {
    var names: [String] = []
    for name in try FileDescriptors.names(in: folder) {
      if try FileDescriptors.regularSize(of: name, in: folder) != nil { names.append(name) }
    }
    return names
  }

  /// Returns the reasons why the values in files can't be read, each in a clause, by the names of
  /// the files; none for a file that doesn't exist.
  ///
  /// **Cost:** opens each file, and reads none.
  package func problems(ofFilesNamed names: Set<String>) -> [String: String] {
    guard !names.isEmpty, let folder = try? openFolder() else { return [:] }
    defer { close(folder) }
    var problems: [String: String] = [:]
    for name in names {
      do throws(FileProblem) {
        try FileDescriptors.check(name, in: folder, limit: StoreLimits.externalFileSize)
      } catch {
        if error.number != ENOENT { problems[name] = error.reason }
      }
    }
    return problems
  }

  /// Returns the value in a file.
  ///
  /// - Throws: 133000 if there's no such regular file, it can't be read, or it's too large.
  func read(_ file: ExternalFile) throws -> Data {
    do {
      let folder = try openFolder()
      defer { close(folder) }
      return try FileDescriptors.read(file.name, in: folder, limit: StoreLimits.externalFileSize)
    } catch {
      throw NSError.coreData(
        NSManagedObjectReferentialIntegrityError,
        "The externally stored value \(file.name) in \(self.folder.relativePath) can't be read: "
          + "\(error.reason). Copy the store with that folder.",
        [
          NSFilePathErrorKey: self.folder.appendingPathComponent(file.name).path,
          NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(error.number)),
        ])
    }
  }

  /// Writes a value to a new file, and syncs it to disk if files are synced; its name isn't synced.
  ///
  /// - Throws: 640 if the disk is full, 512 if it can't be written.
  @discardableResult
  func write(_ value: Data, to file: ExternalFile = ExternalFile()) throws -> ExternalFile {
    do {
      let folder = try openFolder(creates: true)
      defer { close(folder) }
      try FileDescriptors.write(value, to: file.name, in: folder, syncs: isSynced)
      return file
    } catch {
      throw unwritable(error)
    }
  }

  /// Syncs the names of written files to disk, so that a row can refer to them.
  ///
  /// - Throws: The errors of writing a value.
  func syncNames() throws {
    guard isSynced else { return }
    do {
      let folder = try openFolder()
      defer { close(folder) }
      try FileDescriptors.syncNames(in: folder)
    } catch {
      throw unwritable(error)
    }
  }

  private func unwritable(_ problem: FileProblem) -> NSError {
    NSError.coreData(
      problem.isOutOfSpace
        ? CocoaError.Code.fileWriteOutOfSpace.rawValue
        : CocoaError.Code.fileWriteUnknown.rawValue,
      "An externally stored value can't be written in \(folder.relativePath): \(problem.reason).",
      [NSFilePathErrorKey: folder.path])
  }

  /// Removes the files with names of `fileNames()`.
  ///
  /// - Parameter isLasting: Whether the removal survives a power loss, so that no other record of
  ///   it is needed.
  /// - Returns: Whether none of them exists any longer.
  @discardableResult
  func remove(named names: Set<String>, isLasting: Bool = true) -> Bool {
    guard !names.isEmpty else { return true }
    do {
      guard let folder = try openExistingFolder() else { return true }
      defer { close(folder) }
      var isComplete = true
      for name in names where unlinkat(folder, name, 0) != 0 && errno != ENOENT {
        isComplete = false
      }
      if isLasting { try FileDescriptors.syncNames(in: folder) }
      return isComplete
    } catch {
      return false
    }
  }

  /// Copies regular files to another store's folder, which is created.
  ///
  /// - Parameter wanted: The names of the files; `nil` for all.
  /// - Throws: `FileProblem`.
  func copyFiles(
    to other: ExternalStorage, named wanted: Set<String>? = nil
  ) throws(FileProblem) {
    guard let source = try openExistingFolder() else { return }
    defer { close(source) }
    let target = try other.openFolder(creates: true)
    defer { close(target) }
    for name in try Self.regularNames(in: source) where wanted?.contains(name) ?? true {
      try FileDescriptors.copy(name, from: source, to: target, syncs: other.isSynced)
    }
    if other.isSynced { try FileDescriptors.syncNames(in: target) }
  }

  /// Adds all regular files to another store's folder on the same volume, which is created.
  ///
  /// They aren't copied: an external data file never changes, so both stores can have it. A file
  /// with the same name is replaced. On file systems without links, they're copied.
  /// - Throws: `FileProblem`; some files may have been added then.
  func shareFiles(with other: ExternalStorage) throws(FileProblem) {
    guard let source = try openExistingFolder() else { return }
    defer { close(source) }
    let names = try Self.regularNames(in: source)
    guard !names.isEmpty else { return }
    let target = try other.openFolder(creates: true)
    defer { close(target) }
    for name in names { try FileDescriptors.share(name, from: source, to: target) }
    try FileDescriptors.syncNames(in: target)
  }

  /// Removes the folder, and the folder that contains it, if they're empty.
  func removeEmptyFolder() {
    rmdir(folder.path)
    rmdir(folder.deletingLastPathComponent().path)
  }

  /// Removes the folder with its contents, and the folder that contains it if it's empty then.
  ///
  /// A link instead of a folder is removed itself.
  /// - Throws: The file system's `NSError`.
  func removeFolder() throws {
    // The item itself, and what is in it: no link is followed.
    let support = folder.deletingLastPathComponent()
    guard FileStamp.exists(path: support.path) else { return }
    do {
      try FileManager.default.removeItem(at: support)
    } catch {
      let number = FileErrorText.errno(of: error as NSError) ?? EIO
      if number != ENOENT { throw NSError.file(support.path, "removed", number) }
    }
  }

  /// Returns the folder's descriptor, which the caller closes; `nil` if there's no folder.
  private func openExistingFolder() throws(FileProblem) -> Int32? {
    do {
      return try openFolder()
    } catch {
      guard error.number == ENOENT else { throw error }
      return nil
    }
  }

  /// Returns the folder's descriptor; the caller closes it.
  ///
  /// The name of a new folder is synced to disk if files are.
  private func openFolder(creates: Bool = false) throws(FileProblem) -> Int32 {
    let support = folder.deletingLastPathComponent()
    var current = try FileDescriptors.openFolder(support.deletingLastPathComponent().path)
    for name in [support.lastPathComponent, folder.lastPathComponent] {
      if creates, mkdirat(current, name, 0o777) == 0 {
        do throws(FileProblem) {
          if isSynced { try FileDescriptors.syncNames(in: current) }
        } catch {
          close(current)
          throw error
        }
      }
      let next = openat(current, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      let reason = errno
      close(current)
      guard next >= 0 else { throw FileProblem(reason) }
      current = next
    }
    return current
  }
}
