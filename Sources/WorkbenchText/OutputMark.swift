package import Foundation

/// Recognizes files that `cdprof` wrote by a mark in their content, not by their names.
///
/// The mark of an HTML page is its generator; of JUnit XML, the name of its suites; of a trace, its
/// metadata; of Markdown, a comment at the end; of a program or script, a comment at the start; of
/// plain text, the command and version; of a store, SQLite's application ID. A result in JSON is
/// recognized by its keys, and JSON Lines by those of the first line.
package enum OutputMark {
  /// The comment at the end of Markdown.
  package static let markdown = "<!-- Written by cdprof -->"
  /// The first comment of an exported program.
  package static let program = "// Written by `cdprof export`"
  /// The comment at the start of a script that reloads a page.
  package static let reload = "// Written by `cdprof run --watch`"
  /// SQLite's application ID: `CDPR` in ASCII.
  private static let applicationID: UInt32 = 0x4344_5052
  private static let part = 64 << 10

  /// Returns whether a file has the mark; returns `false` if it can't be read.
  ///
  /// **Cost:** reads the first and last 64 KB, or the complete file if it starts like a result in
  /// JSON.
  static func isMarked(_ path: String) -> Bool {
    // If the path is that of a pipe, opening it must not block.
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
      let all = size <= InputLimits.resultSize ? read(file, at: 0, count: size) : []
      return (try? JSONDecoder().decode(Result.self, from: Data(all))) != nil
    }
    let end = String(
      decoding: read(file, at: max(0, size - part), count: min(part, size)), as: UTF8.self)
    return isMarked(start: start, end: end)
  }

  private static func isMarked(start: String, end: String) -> Bool {
    if start.contains("<meta name=\"generator\" content=\"cdprof ") { return true }
    if start.hasPrefix("<?xml"), start.contains("<testsuites name=\"cdprof\" ") { return true }
    let first = start.prefix { $0 != "\n" }
    if start.hasPrefix("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{") {
      return start.contains("\"cdprof\":\"")
    }
    if start.hasPrefix(spans) { return true }
    if first.hasPrefix("{\"version\":"), first.contains("\",\"cdprof\":\"") {
      return first.contains("\"kind\":\"run\"") || first.contains("\"kind\":\"log\"")
    }
    if start.contains(program) || start.hasPrefix(reload) { return true }
    if end.hasSuffix("\n\(markdown)\n") { return true }
    let last = end.split(separator: "\n").last ?? ""
    return last.hasPrefix("cdprof ") && last.contains("   cdprof ")
  }

  /// The beginning of a report in the encoding of OTLP.
  private static let spans =
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
    + "\"value\":{\"stringValue\":\"cdprof\"}}"

  /// The keys of a result in JSON that are unlikely to be in any other file.
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

  /// Returns whether a file is a SQLite database, regardless of which program wrote it.
  package static func isDatabase(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return read(file, at: 0, count: magic.count) == magic
  }

  /// Adds the mark to a store, which must not be open and must not have a WAL or journal.
  ///
  /// - Throws: An `NSError` of the file system.
  package static func mark(store: URL) throws {
    let path = store.relativePath
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { throw OutputFile.error(errno, path) }
    defer { close(file) }
    guard read(file, at: 0, count: magic.count) == magic else { return }
    let bytes = (0..<4).reversed().map { UInt8(truncatingIfNeeded: applicationID >> (8 * $0)) }
    let count = pwrite(file, bytes, bytes.count, 68)
    guard count == bytes.count else { throw OutputFile.error(count < 0 ? errno : ENOSPC, path) }
  }

  /// Returns the application ID in a database's header, big-endian at byte 68.
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
