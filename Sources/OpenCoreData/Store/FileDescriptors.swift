import ManagedModel
import SQLiteDriver

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
    rewinddir(stream)
    do {
      return try FolderNames.all(in: stream)
    } catch {
      throw FileProblem(error.code.rawValue)
    }
  }

  /// Returns the size in bytes; `nil` for anything but a regular file.
  ///
  /// - Throws: `FileProblem` if it can't be determined.
  static func regularSize(of name: String, in folder: Int32) throws(FileProblem) -> Int64? {
    var info = stat()
    guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else {
      guard errno == ENOENT else { throw FileProblem(errno) }
      return nil
    }
    return info.st_mode & S_IFMT == S_IFREG ? Int64(info.st_size) : nil
  }

  /// Checks that a regular file can be opened, and isn't larger than a limit in bytes.
  static func check(
    _ name: String, in folder: Int32, limit: Int64
  ) throws(FileProblem) {
    close(try openRegular(name, in: folder, limit: limit).file)
  }

  static func read(
    _ name: String, in folder: Int32, limit: Int64
  ) throws(FileProblem) -> Data {
    let (file, size) = try openRegular(name, in: folder, limit: limit)
    defer { close(file) }
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
    _ value: Data, to name: String, in folder: Int32, syncs: Bool = true
  ) throws(FileProblem) {
    let file = openat(folder, name, creating, 0o666)
    guard file >= 0 else { throw FileProblem(errno) }
    defer { close(file) }
    do throws(FileProblem) {
      try append(value, to: file, syncs: syncs)
    } catch {
      unlinkat(folder, name, 0)
      throw error
    }
  }

  /// Writes bytes at the end of an open file, and syncs it to disk if requested.
  static func append(_ value: Data, to file: Int32, syncs: Bool = true) throws(FileProblem) {
    if let problem = AtomicFile.append(value, to: file) { throw FileProblem(problem) }
    guard !syncs || fsync(file) == 0 else { throw FileProblem(errno) }
  }

  /// Syncs the names in an open folder to disk; a file system that can't do this does it itself.
  static func syncNames(in folder: Int32) throws(FileProblem) {
    guard fsync(folder) == 0 || errno == EINVAL else { throw FileProblem(errno) }
  }

  /// Changes a name in a folder, and syncs the names to disk.
  ///
  /// The folder is opened first, so that only syncing can fail after the change. As in SQLite, the
  /// names of a folder that can't be read aren't synced.
  /// - Returns: The reason why a power loss could undo the change; `nil` if none can.
  /// - Throws: The errors of the change; `FileProblem` if the folder can't be opened.
  static func changingName(
    in path: String, _ change: () throws -> Void
  ) throws -> FileProblem? {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 || errno == EACCES else { throw FileProblem(errno) }
    defer { if folder >= 0 { close(folder) } }
    try change()
    guard folder >= 0 else { return nil }
    do throws(FileProblem) {
      try syncNames(in: folder)
      return nil
    } catch {
      return error
    }
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

  /// Copies a file, and syncs the copy to disk if requested.
  static func copy(
    _ name: String, from source: Int32, to target: Int32, as new: String? = nil,
    syncs: Bool = true
  ) throws(FileProblem) {
    let (file, size) = try openRegular(name, in: source)
    defer { close(file) }
    // A sparse file can be larger than the disk.
    if let free = FreeSpace.bytes(in: target), UInt64(size) > free { throw FileProblem(ENOSPC) }
    let copy = openat(target, new ?? name, creating, 0o666)
    guard copy >= 0 else { throw FileProblem(errno) }
    defer { close(copy) }
    do throws(FileProblem) {
      try copyBytes(from: file, to: copy)
      guard !syncs || fsync(copy) == 0 else { throw FileProblem(errno) }
    } catch {
      unlinkat(target, new ?? name, 0)
      throw error
    }
  }

  /// Adds the bytes of an open file, from its position on, to another one.
  static func copyBytes(from file: Int32, to copy: Int32) throws(FileProblem) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = Foundation.read(file, buffer.baseAddress, buffer.count)
      if count == 0 { return }
      guard count > 0 else { throw FileProblem(errno) }
      let part = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      if let problem = AtomicFile.append(part, to: copy) { throw FileProblem(problem) }
    }
  }

  private static func openRegular(
    _ name: String, in folder: Int32, limit: Int64 = .max
  ) throws(FileProblem) -> (file: Int32, size: Int64) {
    let file = openat(folder, name, reading)
    guard file >= 0 else { throw FileProblem(errno) }
    var info = stat()
    guard fstat(file, &info) == 0 else {
      let problem = FileProblem(errno)
      close(file)
      throw problem
    }
    guard info.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw FileProblem(reason: "it isn't a regular file")
    }
    guard info.st_size <= limit else {
      close(file)
      throw FileProblem(reason: "it has \(info.st_size) bytes, and the limit is \(limit)")
    }
    return (file, Int64(info.st_size))
  }
}
