package import Foundation
import OpenCoreData
import SQLiteDriver

/// Writes files; an error names the file that it's about.
///
/// A file that `cdprof` didn't write isn't replaced unless that's forced, and readers see either the old
/// content or the new one: everything is written under another name first, which then takes the place.
package enum OutputFile {
  /// Creates the folder if it doesn't exist.
  ///
  /// - Throws: the file system's `NSError`.
  package static func makeFolder(_ url: URL) throws {
    try naming(url, "made") {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
  }

  /// Checks that a file could be written to a path: nothing is there, or what's there may be replaced.
  ///
  /// - Parameter force: whether a file that `cdprof` didn't write may be replaced. Folders, devices,
  ///   pipes, and sockets never are.
  /// - Throws: `InvalidInputError`.
  package static func check(_ url: URL, force: Bool) throws(InvalidInputError) {
    let path = url.relativePath
    guard let mode = FileKind.mode(of: path, followingLinks: false) else { return }
    let target = FileKind.mode(of: path, followingLinks: true) ?? mode
    guard FileKind.isRegular(target) || FileKind.isLink(target) else {
      throw InvalidInputError(
        kind: .unusable,
        message: "\(path) cannot be written: it is \(FileKind.words(target))",
        nextStep: "move it away, or write to another folder")
    }
    guard force || OutputMark.isOurs(path) else {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) exists and wasn't written by cdprof",
        nextStep: "write to another folder, or replace the file with --force")
    }
  }

  /// Checks as `check(_:force:)` for a store, and for what SQLite and Core Data keep next to it.
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
  /// - Parameter force: as in `check(_:force:)`.
  /// - Throws: `InvalidInputError` as `check(_:force:)`; the file system's `NSError`, such as for a full
  ///   disk. The file that was there stays then.
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
  /// - Returns: The `errno` of the write that failed; nil if none did.
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

  /// Leaves a copy of a store.
  ///
  /// Readers see the old store or the new one, and of two runs the later wins.
  ///
  /// - Parameters:
  ///   - marks: whether the copy gets the mark by which `OutputMark` recognizes it; nothing else differs.
  ///   - force: as in `check(_:force:)`.
  /// - Throws: as `write(_:to:force:)`.
  package static func copyStore(_ store: URL, to url: URL, marks: Bool, force: Bool) throws {
    try checkStore(url, force: force)
    try naming(url, "written") {
      let files = FileManager.default
      let folder = url.deletingLastPathComponent()
        .appendingPathComponent(".cdprof-\(UUID().uuidString)", isDirectory: true)
      try files.createDirectory(at: folder, withIntermediateDirectories: false)
      // A folder that can't be removed does no harm.
      defer { try? files.removeItem(at: folder) }
      let copy = folder.appendingPathComponent(url.lastPathComponent)
      try StoreFile.copy(from: store, to: copy)
      try StoreFile.move(from: copy, to: url)
      if marks { try OutputMark.mark(store: url) }
    }
  }

  /// An error about a file, in the system's words.
  package static func error(_ code: Int32, _ path: String, _ deed: String = "written") -> NSError {
    NSError(
      domain: NSPOSIXErrorDomain, code: Int(code),
      userInfo: [
        NSLocalizedDescriptionKey: "\(path) cannot be \(deed): \(FileErrorText.words(code))",
        NSFilePathErrorKey: path,
      ])
  }

  /// Does something with a file; an error of the file system names it.
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
            "\(url.relativePath) cannot be \(deed): \(ErrorText.of(error))",
          NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error,
        ])
    }
  }
}
