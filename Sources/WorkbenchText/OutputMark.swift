import Foundation

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
