package import Foundation
import ManagedModel
import SQLiteDriver

/// Writes files atomically.
///
/// A file that `cdprof` didn't write is replaced only if `force` is true. The content is written to
/// a temporary file first, which is then renamed, so readers see either the old or the new content.
/// Errors name the file.
package enum OutputFile {
  /// Creates the folder if it doesn't exist.
  ///
  /// - Throws: An `InvalidInputError`, as in `checkFolder(_:)`; an `NSError` of the file system.
  package static func makeFolder(_ url: URL) throws {
    try checkFolder(url.relativePath)
    try naming(url, "created") {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
  }

  /// Checks that a path is that of a folder, or of one that can be created.
  ///
  /// - Throws: An `InvalidInputError` if there's something else at the path, or above it.
  package static func checkFolder(_ path: String) throws(InvalidInputError) {
    var folder = path
    while !folder.isEmpty {
      if let mode = FileKind.mode(of: folder, followingLinks: true) {
        guard !FileKind.isFolder(mode) else { return }
        let kind = FileKind.isRegular(mode) ? "a file" : FileKind.words(mode)
        throw InvalidInputError(
          kind: .unusable, message: "\(folder) is \(kind), not a folder",
          nextStep: "write to another folder")
      }
      folder = folder.deletingLastPathComponent
    }
  }

  /// Checks that a file can be written: it doesn't exist, or it can be replaced.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - force: Whether to replace a file that `cdprof` didn't write. Folders, devices, pipes, and
  ///     sockets are never replaced.
  /// - Throws: An `InvalidInputError` if the file can't be written.
  package static func check(_ url: URL, force: Bool) throws(InvalidInputError) {
    let path = url.relativePath
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let number = errno
      // Otherwise, there may be a file, which would be replaced.
      guard [ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG].contains(number) else {
        throw InvalidInputError(
          kind: .unusable, message: "\(path) can't be examined: \(FileErrorText.words(number))",
          nextStep: "write to another folder")
      }
      return try checkFolder(path.deletingLastPathComponent)
    }
    let mode = status.st_mode
    let target = FileKind.mode(of: path, followingLinks: true) ?? mode
    guard FileKind.isRegular(target) || FileKind.isLink(target) else {
      throw InvalidInputError(
        kind: .unusable,
        message: "\(path) can't be written: it's \(FileKind.words(target))",
        nextStep: "move it away, or write to another folder")
    }
    guard force || OutputMark.isMarked(path) else {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) exists and wasn't written by cdprof",
        nextStep: "write to another folder, or replace the file with --force")
    }
  }

  /// Checks that a store and the files that SQLite and Core Data keep next to it can be written.
  ///
  /// - Parameters:
  ///   - url: The store.
  ///   - force: Whether to replace files that `cdprof` didn't write; `nil` for a command that never
  ///     replaces them.
  /// - Throws: An `InvalidInputError` if a file can't be written.
  package static func checkStore(_ url: URL, force: Bool?) throws(InvalidInputError) {
    try check(url, force: force == true)
    guard force != true, FileKind.mode(of: url.relativePath, followingLinks: false) == nil else {
      return
    }
    let support = url.deletingLastPathComponent()
      .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
    let paths = ["-wal", "-shm", "-journal"].map { url.relativePath + $0 } + [support.relativePath]
    for path in paths where FileKind.mode(of: path, followingLinks: false) != nil {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) belongs to another store and would be replaced",
        nextStep: force == nil
          ? "choose another file" : "write to another folder, or replace the file with --force")
    }
  }

  /// Checks that a new store can be created: its folder exists, and neither the store nor any of
  /// the files that SQLite and Core Data keep next to it do.
  ///
  /// - Throws: An `InvalidInputError` if there's no folder, or there are such files; an `NSError`
  ///   if the folder can't be written to.
  package static func checkNewStore(_ url: URL) throws {
    let path = url.relativePath
    guard FileKind.mode(of: path, followingLinks: false) == nil else {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) already exists", nextStep: "choose another file")
    }
    try checkStore(url, force: nil)
    let folder = path.deletingLastPathComponent
    guard folder.isEmpty || FileKind.exists(folder, followingLinks: true) else {
      throw InvalidInputError(
        kind: .missing, message: "there's no folder \(folder) for the new file",
        nextStep: "create it, or write to another folder")
    }
    guard access(folder.isEmpty ? "." : folder, W_OK | X_OK) == 0 else { throw error(errno, path) }
  }

  /// Writes a file, or the regular file that a link refers to.
  ///
  /// A link without a target is replaced. If this method throws, an existing file isn't
  /// changed.
  ///
  /// - Parameters:
  ///   - data: The content.
  ///   - url: The file.
  ///   - force: Whether to replace a file that `cdprof` didn't write.
  /// - Throws: An `InvalidInputError`, as in `check(_:force:)`; an `NSError` of the file system,
  ///   such as for a full disk.
  package static func write(_ data: Data, to url: URL, force: Bool) throws {
    try check(url, force: force)
    let path = url.relativePath
    let mode = FileKind.mode(of: path, followingLinks: true).map { $0 & 0o777 }
    let target = linkedFile(path).map { URL(fileURLWithPath: $0) } ?? url
    let temporary = target.deletingLastPathComponent()
      .appendingPathComponent(".cdprof-\(UUID().uuidString)").relativePath
    UnfinishedOutputs.shared.add(temporary)
    defer { UnfinishedOutputs.shared.remove(temporary) }
    let problem = AtomicFile.write(
      data, to: target.relativePath, through: temporary, permissions: mode, syncs: true)
    if let problem { throw error(problem, path) }
  }

  /// Returns the path of the regular file that a link refers to; `nil` if a path isn't that
  /// of a link, or the link refers to no regular file.
  private static func linkedFile(_ path: String) -> String? {
    guard FileKind.mode(of: path, followingLinks: false).map(FileKind.isLink) == true,
      let resolved = realpath(path, nil)
    else { return nil }
    defer { free(resolved) }
    let target = String(cString: resolved)
    guard FileKind.mode(of: target, followingLinks: false).map(FileKind.isRegular) == true else {
      return nil
    }
    return target
  }

  /// Writes a text to a descriptor, completely unless there's an error.
  ///
  /// - Returns: The `errno` of a failed write; `nil` if all of it was written.
  package static func append(_ text: String, to file: Int32) -> Int32? {
    AtomicFile.append(Array(text.utf8), to: file)
  }

  /// Calls a closure that reads a file and replaces it, while other processes that do so wait.
  ///
  /// The file's folder is locked, because the file itself is replaced. Some file systems have no
  /// such locks.
  ///
  /// - Parameters:
  ///   - url: The file, or a link to it.
  ///   - body: Reads and writes the file.
  /// - Throws: The closure's errors.
  package static func updating(_ url: URL, _ body: () throws -> Void) rethrows {
    let path = url.resolvingSymlinksInPath().deletingLastPathComponent().path
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 { while flock(folder, LOCK_EX) != 0, errno == EINTR {} }
    // Closing it releases the lock.
    defer { if folder >= 0 { close(folder) } }
    try body()
  }

  /// Calls a closure that makes a file in a temporary folder on the same volume, and puts it in its
  /// place.
  ///
  /// - Parameters:
  ///   - url: The file's place.
  ///   - body: Gets the URL to make it at, and moves it by `placing(at:_:)`.
  /// - Throws: The errors of `naming(_:_:_:)`.
  package static func making<Result>(_ url: URL, _ body: (URL) throws -> Result) throws -> Result {
    try naming(url, "written") {
      let files = FileManager.default
      let folder = url.deletingLastPathComponent()
        .appendingPathComponent(".cdprof-\(UUID().uuidString)", isDirectory: true)
      UnfinishedOutputs.shared.add(folder.path)
      defer { UnfinishedOutputs.shared.remove(folder.path) }
      try files.createDirectory(at: folder, withIntermediateDirectories: false)
      // A temporary folder that can't be removed is harmless.
      defer { try? files.removeItem(at: folder) }
      return try body(folder.appendingPathComponent(url.lastPathComponent))
    }
  }

  /// Calls a closure that moves what `making(_:_:)` has made to its place.
  ///
  /// If Ctrl-C ends the process meanwhile, the folder is removed only after the closure returns, so
  /// that no file of a store is missing at its place.
  ///
  /// - Parameters:
  ///   - url: The file's place.
  ///   - body: Moves the file, and those that belong to it.
  /// - Throws: The closure's errors; `ECANCELED` if the process is ending.
  package static func placing(at url: URL, _ body: () throws -> Void) throws {
    guard try UnfinishedOutputs.shared.whileKept(body) else {
      throw error(ECANCELED, url.relativePath)
    }
  }

  /// Returns an error about a file with the message of an `errno`.
  package static func error(_ code: Int32, _ path: String, _ action: String = "written") -> NSError
  {
    NSError(
      domain: NSPOSIXErrorDomain, code: Int(code),
      userInfo: [
        NSLocalizedDescriptionKey: "\(path) can't be \(action): \(FileErrorText.words(code))",
        NSFilePathErrorKey: path,
      ])
  }

  /// Calls a closure that accesses a file, and adds the file's name to an error of the file system
  /// or of SQLite.
  ///
  /// - Throws: The error, with its domain and code; `fileWriteUnknown` or `fileWriteOutOfSpace` for
  ///   an error of SQLite.
  package static func naming<Result>(
    _ url: URL, _ action: String, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      func named(_ domain: String, _ code: Int, _ reason: String) -> NSError {
        NSError(
          domain: domain, code: code,
          userInfo: [
            NSLocalizedDescriptionKey: "\(url.relativePath) can't be \(action): \(reason)",
            NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error,
          ])
      }
      func failed(_ code: ResultCode, _ reason: String) -> NSError {
        let known = code.isOutOfSpace ? CocoaError.fileWriteOutOfSpace : .fileWriteUnknown
        return named(NSCocoaErrorDomain, known.rawValue, reason)
      }
      if let error = error as? SQLiteError { throw failed(error.code, error.message) }
      guard error is CocoaError || error is POSIXError || type(of: error) is AnyClass else {
        throw error
      }
      let error = error as NSError
      if let code = FileErrorText.errno(of: error) {
        throw OutputFile.error(code, url.relativePath, action)
      }
      if let code = error.userInfo[NSSQLiteErrorDomain] as? Int {
        throw failed(ResultCode(rawValue: Int32(truncatingIfNeeded: code)), ErrorText.of(error))
      }
      throw named(error.domain, error.code, ErrorText.of(error))
    }
  }
}
