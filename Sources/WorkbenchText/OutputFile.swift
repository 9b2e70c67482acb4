package import Foundation
import OpenCoreData
import SQLiteDriver

/// Writes files atomically.
///
/// A file that `cdprof` didn't write is replaced only if `force` is true. The content is written to
/// a temporary file first, which is then renamed, so readers see either the old or the new content.
/// Errors name the file.
package enum OutputFile {
  /// Creates the folder if it doesn't exist.
  ///
  /// - Throws: An `NSError` of the file system.
  package static func makeFolder(_ url: URL) throws {
    try naming(url, "created") {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
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
    guard let mode = FileKind.mode(of: path, followingLinks: false) else { return }
    let target = FileKind.mode(of: path, followingLinks: true) ?? mode
    guard FileKind.isRegular(target) || FileKind.isLink(target) else {
      throw InvalidInputError(
        kind: .unusable,
        message: "\(path) can't be written: it's \(FileKind.words(target))",
        nextStep: "move it away, or write to another folder")
    }
    guard force || OutputMark.isOurs(path) else {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) exists and wasn't written by cdprof",
        nextStep: "write to another folder, or replace the file with --force")
    }
  }

  /// Checks that a store and the files that SQLite and Core Data keep next to it can be written.
  package static func checkStore(_ url: URL, force: Bool) throws(InvalidInputError) {
    try check(url, force: force)
    guard !force, FileKind.mode(of: url.relativePath, followingLinks: false) == nil else { return }
    let support = url.deletingLastPathComponent()
      .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
    let paths = ["-wal", "-shm", "-journal"].map { url.relativePath + $0 } + [support.relativePath]
    for path in paths where FileKind.mode(of: path, followingLinks: false) != nil {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) belongs to another store and would be replaced",
        nextStep: "write to another folder, or replace the file with --force")
    }
  }

  /// Writes a file.
  ///
  /// If this method throws, an existing file isn't changed.
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
    let temporary = url.deletingLastPathComponent()
      .appendingPathComponent(".cdprof-\(UUID().uuidString)").relativePath
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw error(errno, path) }
    var problem = writeAll([UInt8](data), to: file)
    if let mode, problem == nil, fchmod(file, mode) != 0 { problem = errno }
    if problem == nil, fsync(file) != 0, errno != EINVAL { problem = errno }
    if close(file) != 0, problem == nil { problem = errno }
    if problem == nil, rename(temporary, path) != 0 { problem = errno }
    if let problem {
      unlink(temporary)
      throw error(problem, path)
    }
  }

  /// Writes all bytes to a descriptor.
  ///
  /// - Returns: The `errno` of a failed write; nil if all bytes were written.
  package static func writeAll(_ bytes: [UInt8], to file: Int32) -> Int32? {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let count = Foundation.write(file, part.baseAddress, part.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return count < 0 ? errno : ENOSPC }
        rest = rest.dropFirst(count)
      }
      return nil
    }
  }

  /// Copies a store.
  ///
  /// Readers see either the old or the new store. If two processes copy to the same URL, the last
  /// one replaces the store of the first.
  ///
  /// - Parameters:
  ///   - store: The store to copy.
  ///   - url: The destination.
  ///   - marks: Whether to add the mark by which `OutputMark` recognizes the copy; nothing else
  ///     differs.
  ///   - force: Whether to replace a file that `cdprof` didn't write.
  /// - Throws: The errors of `write(_:to:force:)`.
  package static func copyStore(_ store: URL, to url: URL, marks: Bool, force: Bool) throws {
    try checkStore(url, force: force)
    try naming(url, "written") {
      let files = FileManager.default
      let folder = url.deletingLastPathComponent()
        .appendingPathComponent(".cdprof-\(UUID().uuidString)", isDirectory: true)
      try files.createDirectory(at: folder, withIntermediateDirectories: false)
      // A temporary folder that can't be removed is harmless.
      defer { try? files.removeItem(at: folder) }
      let copy = folder.appendingPathComponent(url.lastPathComponent)
      try StoreFile.copy(from: store, to: copy)
      try StoreFile.move(from: copy, to: url)
      if marks { try OutputMark.mark(store: url) }
    }
  }

  /// Returns an error about a file with the message of an `errno`.
  package static func error(_ code: Int32, _ path: String, _ deed: String = "written") -> NSError {
    NSError(
      domain: NSPOSIXErrorDomain, code: Int(code),
      userInfo: [
        NSLocalizedDescriptionKey: "\(path) can't be \(deed): \(FileErrorText.words(code))",
        NSFilePathErrorKey: path,
      ])
  }

  /// Calls a closure that accesses a file, and adds the file's name to an error of the file system.
  package static func naming<Result>(
    _ url: URL, _ deed: String, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      guard error is CocoaError || error is POSIXError || type(of: error) is AnyClass else {
        throw error
      }
      let error = error as NSError
      if let code = FileErrorText.errno(of: error) {
        throw OutputFile.error(code, url.relativePath, deed)
      }
      throw NSError(
        domain: error.domain, code: error.code,
        userInfo: [
          NSLocalizedDescriptionKey:
            "\(url.relativePath) can't be \(deed): \(ErrorText.of(error))",
          NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error,
        ])
    }
  }
}
