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

/// Recognizes files that `cdprof` wrote by a mark in their content; a name proves nothing.
///
/// A page names its generator, JUnit's XML its suites, a trace its program, Markdown has a comment at its
/// end, a program a comment at its start, plain text its command and version, and a store SQLite's
/// application ID. JSON is decoded. Lines of JSON have no place for a mark and are recognized by their
/// first event.
package enum OutputMark {
  /// At the end of Markdown, where no reader of the rendered text sees it.
  package static let markdown = "<!-- Written by cdprof -->"
  /// In the first comment of an exported program.
  package static let program = "// Written by `cdprof export`"
  /// `CDPR`.
  private static let applicationID: UInt32 = 0x4344_5052
  /// In bytes; a larger file that begins like JSON isn't read to the end.
  private static let largestJSON = 256 << 20
  private static let part = 64 << 10

  /// Whether a file has the mark.
  ///
  /// A file that can't be read has none. Cost: reads the first and last 64 KB, or all of a file that begins like a result in JSON.
  static func isOurs(_ path: String) -> Bool {
    // A pipe in the file's place must not block.
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, FileKind.isRegular(status.st_mode) else { return false }
    let size = Int(status.st_size)
    let head = read(file, at: 0, count: min(part, size))
    if head.starts(with: magic) { return applicationID(in: head) == applicationID }
    let start = String(decoding: head, as: UTF8.self)
    if start.hasPrefix("{\n") {
      let all = size <= largestJSON ? read(file, at: 0, count: size) : []
      return (try? JSONDecoder().decode(Result.self, from: Data(all))) != nil
    }
    let end = String(
      decoding: read(file, at: max(0, size - part), count: min(part, size)), as: UTF8.self)
    return isOurs(start: start, end: end)
  }

  private static func isOurs(start: String, end: String) -> Bool {
    if start.contains("<meta name=\"generator\" content=\"cdprof ") { return true }
    if start.hasPrefix("<?xml"), start.contains("<testsuites name=\"cdprof\" ") { return true }
    let first = start.prefix { $0 != "\n" }
    if start.hasPrefix("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{") {
      return start.contains("\"cdprof\":\"")
    }
    if first.hasPrefix("{\"variant\":\""), first.contains("\",\"kind\":\"") { return true }
    if start.contains(program) { return true }
    if end.hasSuffix("\n\(markdown)\n") { return true }
    let last = end.split(separator: "\n").last ?? ""
    return last.hasPrefix("cdprof ") && last.contains("   cdprof ")
  }

  /// What every result in JSON has and hardly anything else.
  private struct Result: Decodable {
    struct Environment: Decodable {
      var cdprof: String
    }
    var version: Int
    var verdict: String
    var environment: Environment
  }

  // MARK: Stores

  private static let magic = Array("SQLite format 3\0".utf8)

  /// Whether a file is a SQLite database from any writer.
  package static func isDatabase(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return read(file, at: 0, count: magic.count) == magic
  }

  /// Puts the mark into a store that isn't open and has no WAL or journal.
  ///
  /// - Throws: the file system's `NSError`.
  static func mark(store: URL) throws {
    let path = store.relativePath
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { throw OutputFile.error(errno, path) }
    defer { close(file) }
    guard read(file, at: 0, count: magic.count) == magic else { return }
    let bytes = (0..<4).reversed().map { UInt8(truncatingIfNeeded: applicationID >> (8 * $0)) }
    guard pwrite(file, bytes, bytes.count, 68) == bytes.count else {
      throw OutputFile.error(errno, path)
    }
  }

  /// Big-endian, at byte 68 of a database's header.
  private static func applicationID(in head: [UInt8]) -> UInt32 {
    guard head.count >= 72 else { return 0 }
    return head[68..<72].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func read(_ file: Int32, at offset: Int, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let read = bytes.withUnsafeMutableBytes { buffer in
        pread(file, buffer.baseAddress?.advanced(by: done), count - done, off_t(offset + done))
      }
      if read < 0, errno == EINTR { continue }
      guard read > 0 else { break }
      done += read
    }
    bytes.removeLast(count - done)
    return bytes
  }
}

/// The temporary folders of this process, so that none is left behind however it ends.
package enum ScratchFolders {
  /// Creates an empty folder.
  ///
  /// - Throws: an `NSError`, when there's no space for it or no permission.
  package static func make() throws -> URL {
    do {
      return URL(fileURLWithPath: try TemporaryFolders.make(), isDirectory: true)
    } catch {
      throw NSError(
        domain: NSCocoaErrorDomain, code: CocoaError.Code.fileWriteOutOfSpace.rawValue,
        userInfo: [
          NSLocalizedDescriptionKey: "\(error.message). Free some space, or set TMPDIR to a folder "
            + "that has some."
        ])
    }
  }

  /// Removes a folder with everything in it.
  package static func remove(_ folder: URL) {
    TemporaryFolders.remove(folder.path)
  }

  /// Removes all of them.
  ///
  /// For the end of the process; call it from any thread.
  package static func removeAll() { TemporaryFolders.removeAll() }

  /// Removes the folders that killed processes of this user left behind.
  ///
  /// For the start of the process. Lists the directories for temporary files.
  package static func removeLeftBehind() { TemporaryFolders.removeLeftBehind() }
}
