import ManagedModel
import SQLiteDriver

// Files of external storage, accessed through descriptors of their folder.
//
// A store can come from anywhere, with links instead of the folder or its files. No link is followed,
// and only regular files are read.

extension ExternalStorage {
  /// Returns the sizes in bytes of all regular files by name, excluding those that operating systems add.
  ///
  /// Empty if there's no folder.
  package func files() -> [String: Int] {
    guard let folder = try? openFolder() else { return [:] }
    defer { close(folder) }
    var sizes: [String: Int] = [:]
    for name in (try? FileDescriptors.names(in: folder)) ?? [] where !name.hasPrefix(".") {
      if let size = FileDescriptors.regularSize(of: name, in: folder) {
        sizes[name] = Int(clamping: size)
      }
    }
    return sizes
  }

  /// Returns the names of all regular files, excluding those that operating systems add.
  package func fileNames() -> Set<String> { Set(files().keys) }

  /// Returns the names of all regular files, excluding hidden ones; empty if there's no folder.
  ///
  /// - Throws: `FileProblem` if the folder can't be listed.
  func listedNames() throws(FileProblem) -> Set<String> {
    guard let folder = try openExistingFolder() else { return [] }
    defer { close(folder) }
    let names = try FileDescriptors.names(in: folder)
    return Set(
      names.filter {
        !$0.hasPrefix(".") && FileDescriptors.regularSize(of: $0, in: folder) != nil
      })
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
        "The externally stored value \(file.name) in \(self.folder.path) can't be read: "
          + "\(error.reason). Copy the store with that folder.",
        [
          NSFilePathErrorKey: self.folder.appendingPathComponent(file.name).path,
          NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(error.number)),
        ])
    }
  }

  /// Writes a value to a new file, and syncs it to disk.
  ///
  /// - Throws: 640 if the disk is full, 512 if it can't be written.
  @discardableResult
  func write(_ value: Data, to file: ExternalFile = ExternalFile()) throws -> ExternalFile {
    do {
      let folder = try openFolder(creates: true)
      defer { close(folder) }
      try FileDescriptors.write(value, to: file.name, in: folder)
      return file
    } catch {
      throw NSError.coreData(
        error.isOutOfSpace
          ? CocoaError.Code.fileWriteOutOfSpace.rawValue
          : CocoaError.Code.fileWriteUnknown.rawValue,
        "An externally stored value can't be written in \(folder.path): \(error.reason).",
        [NSFilePathErrorKey: folder.path])
    }
  }

  /// Removes the files with names of `fileNames()`.
  ///
  /// - Returns: Whether none of them exists any longer.
  @discardableResult
  func remove(named names: Set<String>) -> Bool {
    guard !names.isEmpty else { return true }
    do {
      guard let folder = try openExistingFolder() else { return true }
      defer { close(folder) }
      var isComplete = true
      for name in names where unlinkat(folder, name, 0) != 0 && errno != ENOENT {
        isComplete = false
      }
      return isComplete
    } catch {
      return false
    }
  }

  /// Copies regular files to another store's folder, which is created.
  ///
  /// - Parameter wanted: The names of the files; nil for all.
  /// - Throws: `FileProblem`.
  func copyFiles(
    to other: ExternalStorage, named wanted: Set<String>? = nil
  ) throws(FileProblem) {
    guard let source = try openExistingFolder() else { return }
    defer { close(source) }
    let target = try other.openFolder(creates: true)
    defer { close(target) }
    for name in try FileDescriptors.names(in: source)
    where wanted?.contains(name) ?? true
      && FileDescriptors.regularSize(of: name, in: source) != nil
    {
      try FileDescriptors.copy(name, from: source, to: target)
    }
  }

  /// Adds all regular files to another store's folder on the same volume, which is created.
  ///
  /// They aren't copied: an external data file never changes, so both stores can have it. A file with the same
  /// name is replaced. On file systems without links, they're copied.
  /// - Throws: `FileProblem`; some files may have been added then.
  func shareFiles(with other: ExternalStorage) throws(FileProblem) {
    guard let source = try openExistingFolder() else { return }
    defer { close(source) }
    let names = try FileDescriptors.names(in: source)
      .filter { FileDescriptors.regularSize(of: $0, in: source) != nil }
    guard !names.isEmpty else { return }
    let target = try other.openFolder(creates: true)
    defer { close(target) }
    for name in names { try FileDescriptors.share(name, from: source, to: target) }
    guard fsync(target) == 0 else { throw FileProblem(errno) }
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
    var info = stat()
    guard lstat(support.path, &info) == 0 else { return }
    do {
      try FileManager.default.removeItem(at: support)
    } catch {
      throw NSError.file(
        support.path, "removed", FileErrorText.errno(of: error as NSError) ?? EIO)
    }
  }

  /// Returns the folder's descriptor, which the caller closes; nil if there's no folder.
  private func openExistingFolder() throws(FileProblem) -> Int32? {
    do {
      return try openFolder()
    } catch {
      guard error.number == ENOENT else { throw error }
      return nil
    }
  }

  /// Returns the folder's descriptor; the caller closes it.
  private func openFolder(creates: Bool = false) throws(FileProblem) -> Int32 {
    let support = folder.deletingLastPathComponent()
    var current = try FileDescriptors.openFolder(support.deletingLastPathComponent().path)
    for name in [support.lastPathComponent, folder.lastPathComponent] {
      if creates { mkdirat(current, name, 0o777) }
      let next = openat(current, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      let reason = errno
      close(current)
      guard next >= 0 else { throw FileProblem(reason) }
      current = next
    }
    return current
  }
}

/// The reason why a file can't be used.
struct FileProblem: Error {
  let reason: String
  let isOutOfSpace: Bool
  /// The error number; 0 for a file with the wrong contents.
  let number: Int32

  init(_ number: Int32) {
    self.number = number
    reason = number == ELOOP ? "it's a symbolic link" : String(cString: strerror(number))
    isOutOfSpace = number == ENOSPC || number == EDQUOT
  }

  init(reason: String) {
    self.reason = reason
    number = 0
    isOutOfSpace = false
  }
}

/// Regular files in an open folder; no link is followed.
enum FileDescriptors {
  private static let reading = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
  private static let creating = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC

  /// Returns the descriptor of a folder, which the caller closes.
  static func openFolder(_ path: String) throws(FileProblem) -> Int32 {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw FileProblem(errno) }
    return folder
  }

  static func names(in folder: Int32) throws(FileProblem) -> [String] {
    let copy = dup(folder)
    guard let stream = fdopendir(copy) else {
      let problem = FileProblem(errno)
      close(copy)
      throw problem
    }
    defer { closedir(stream) }
    rewinddir(stream)
    var names: [String] = []
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
      errno = 0
    }
    guard errno == 0 else { throw FileProblem(errno) }
    return names
  }

  /// Returns the size in bytes; nil for anything but a regular file.
  static func regularSize(of name: String, in folder: Int32) -> Int64? {
    var info = stat()
    guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0,
      info.st_mode & S_IFMT == S_IFREG
    else { return nil }
    return Int64(info.st_size)
  }

  static func read(
    _ name: String, in folder: Int32, limit: Int64
  ) throws(FileProblem) -> Data {
    let (file, size) = try openRegular(name, in: folder)
    defer { close(file) }
    guard size <= limit else {
      throw FileProblem(reason: "it has \(size) bytes, and the limit is \(limit)")
    }
    var data = Data(count: Int(size))
    var count = 0
    while count < data.count {
      let offset = count
      let read = data.withUnsafeMutableBytes { bytes in
        Foundation.read(file, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
      }
      if read == 0 { break }
      guard read > 0 else { throw FileProblem(errno) }
      count += read
    }
    return count == data.count ? data : data.prefix(count)
  }

  static func write(
    _ value: Data, to name: String, in folder: Int32
  ) throws(FileProblem) {
    let file = openat(folder, name, creating, 0o666)
    guard file >= 0 else { throw FileProblem(errno) }
    defer { close(file) }
    do throws(FileProblem) {
      try append(value, to: file)
    } catch {
      unlinkat(folder, name, 0)
      throw error
    }
  }

  /// Writes bytes at the end of an open file, and syncs it to disk.
  static func append(_ value: Data, to file: Int32) throws(FileProblem) {
    if let problem = value.withUnsafeBytes({ put($0, into: file) }) { throw problem }
    guard fsync(file) == 0 else { throw FileProblem(errno) }
  }

  /// Adds a file to another folder on the same volume, replacing one with the same name.
  static func share(
    _ name: String, from source: Int32, to target: Int32
  ) throws(FileProblem) {
    if linkat(source, name, target, name, 0) == 0 { return }
    let new = ".\(name)"
    unlinkat(target, new, 0)
    if linkat(source, name, target, new, 0) != 0 {
      try copy(name, from: source, to: target, as: new)
    }
    guard renameat(target, new, target, name) == 0 else {
      let problem = FileProblem(errno)
      unlinkat(target, new, 0)
      throw problem
    }
    // Renaming a link to a link of the same file leaves both.
    unlinkat(target, new, 0)
  }

  /// Copies a file, and syncs the copy to disk.
  static func copy(
    _ name: String, from source: Int32, to target: Int32, as new: String? = nil
  ) throws(FileProblem) {
    let (file, _) = try openRegular(name, in: source)
    defer { close(file) }
    let copy = openat(target, new ?? name, creating, 0o666)
    guard copy >= 0 else { throw FileProblem(errno) }
    defer { close(copy) }
    do throws(FileProblem) {
      try copyBytes(from: file, to: copy)
      guard fsync(copy) == 0 else { throw FileProblem(errno) }
    } catch {
      unlinkat(target, new ?? name, 0)
      throw error
    }
  }

  private static func copyBytes(from file: Int32, to copy: Int32) throws(FileProblem) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = Foundation.read(file, buffer.baseAddress, buffer.count)
      if count == 0 { return }
      guard count > 0 else { throw FileProblem(errno) }
      let part = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      if let problem = put(part, into: copy) { throw problem }
    }
  }

  private static func openRegular(
    _ name: String, in folder: Int32
  ) throws(FileProblem) -> (file: Int32, size: Int64) {
    let file = openat(folder, name, reading)
    guard file >= 0 else { throw FileProblem(errno) }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw FileProblem(reason: "it isn't a regular file")
    }
    return (file, Int64(info.st_size))
  }

  private static func put(_ bytes: UnsafeRawBufferPointer, into file: Int32) -> FileProblem? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = Foundation.write(file, part.baseAddress, part.count)
      guard count > 0 else { return FileProblem(errno) }
      rest = rest.dropFirst(count)
    }
    return nil
  }
}
