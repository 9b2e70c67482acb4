import Foundation
import OpenCoreData
package import WorkbenchText

/// The lines of a log, read piece by piece.
///
/// Takes LF and CRLF, any bytes, a last line without an end, and all of that in a gzip file. Memory is
/// that of one line, of which no more than `longest` bytes are kept.
package final class LogLines {
  /// In bytes; what a longer line has beyond is not kept.
  package static let longest = 4 << 20
  /// In bytes; a gzip file that inflates to more is given up.
  package static let mostInflated = 256 << 20
  private static let piece = 1 << 18

  /// Lines given so far.
  package private(set) var count = 0
  /// Why reading ended before the end of the input; nil if it didn't.
  package private(set) var problem: InvalidInputError?
  /// Whether the log has bytes that no text has: the first of them are looked at.
  package private(set) var isBinary = false
  private let path: String
  private let mostInflated: Int
  private var inflated = 0
  private var gzip: GzipStream?
  private var wasBegun = false
  private let descriptor: Int32
  private let closes: Bool
  private var buffer: [UInt8] = []
  private var place = 0
  private var isAtEnd = false

  /// Opens a log.
  ///
  /// - Parameters:
  ///   - path: A file, or `-` for standard input.
  ///   - mostInflated: Bytes that a gzip file may inflate to.
  /// - Throws: `InvalidInputError` for a file that is missing or cannot be read.
  package init(
    path: String, mostInflated: Int = LogLines.mostInflated
  ) throws(InvalidInputError) {
    self.path = path
    self.mostInflated = mostInflated
    descriptor = try InputFile.open(path)
    closes = path != InputFile.standardInput
  }

  /// The beginning of what's still to be read, which stays to be read: a pipe gives it only once.
  ///
  /// - Parameter count: in bytes; less at the end of the input.
  package func peek(_ count: Int) -> ArraySlice<UInt8> {
    while buffer.count - place < count, !isAtEnd { read() }
    return buffer[place...].prefix(count)
  }

  /// Everything that's still to be read; nil if it's longer than a limit, in bytes.
  package func rest(limit: Int) -> [UInt8]? {
    while !isAtEnd {
      guard buffer.count - place <= limit else { return nil }
      read()
    }
    defer { place = buffer.count }
    return Array(buffer[place...])
  }

  deinit {
    if closes, descriptor >= 0 { close(descriptor) }
  }

  /// The bytes of the next line, without its end; nil at the end of the log.
  package func next() -> ArraySlice<UInt8>? {
    var searched = place
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { place = end + 1 }
        return line(upTo: end)
      }
      searched = buffer.count
      if isAtEnd {
        guard place < buffer.count else { return nil }
        defer { place = buffer.count }
        return line(upTo: buffer.count)
      }
      searched -= place
      buffer.removeFirst(place)
      place = 0
      if buffer.count > LogLines.longest {
        buffer.removeLast(buffer.count - LogLines.longest)
        searched = buffer.count
      }
      read()
    }
  }

  private func line(upTo end: Int) -> ArraySlice<UInt8> {
    count += 1
    var line = buffer[place..<end]
    if count == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    while line.last == UInt8(ascii: "\r") { line.removeLast() }
    return line
  }

  private func read() {
    let bytes = wasBegun ? more() : begin()
    buffer += bytes
    isAtEnd = bytes.isEmpty
  }

  /// The first bytes, by which a gzip file is known.
  private func begin() -> [UInt8] {
    wasBegun = true
    var head = readPiece()
    // A pipe may give one byte at a time.
    while !head.isEmpty, head.count < LogCompression.longestMagic {
      let more = readPiece()
      if more.isEmpty { break }
      head += more
    }
    guard head.starts(with: GzipStream.magic) else {
      isBinary = head.prefix(4_096).contains(0)
      if let other = LogCompression.of(head) {
        return fail(
          "is a \(other.rawValue) file", "inflate it: `\(other.command) FILE | cdprof log -`")
      }
      return head
    }
    var waiting = head
    gzip = GzipStream { [unowned self] in
      defer { waiting = [] }
      return waiting.isEmpty ? readPiece() : waiting
    }
    let first = more()
    isBinary = first.prefix(4_096).contains(0)
    return first
  }

  private func more() -> [UInt8] {
    guard let gzip else { return readPiece() }
    do {
      let bytes = try gzip.next()
      inflated += bytes.count
      guard inflated <= mostInflated else {
        return fail(
          "inflates to more than \(mostInflated >> 20) MiB",
          "if it is a log, pipe it: `gunzip -c FILE | cdprof log -`")
      }
      return bytes
    } catch {
      switch error {
      case .truncated:
        return fail(
          "is a truncated gzip file",
          "copy the complete file again; `gunzip -c FILE | cdprof log -` reads the readable part")
      case .damaged:
        return fail(
          "is a corrupt gzip file",
          "copy it again; `gunzip -c FILE | cdprof log -` reads what is intact")
      }
    }
  }

  private func fail(_ message: String, _ nextStep: String) -> [UInt8] {
    let name = path == InputFile.standardInput ? "standard input" : path
    problem = InvalidInputError(kind: .unusable, message: "\(name) \(message)", nextStep: nextStep)
    return []
  }

  private func readPiece() -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: LogLines.piece) { bytes, filled in
      while true {
        let count = Foundation.read(descriptor, bytes.baseAddress, bytes.count)
        if count < 0, errno == EINTR { continue }
        if count < 0 { failure = errno }
        filled = max(0, count)
        return
      }
    }
    if failure != 0 { problem = InputFile.refusal(path, failure) }
    return bytes
  }
}

/// Formats of compressed files that aren't read, only known by their first bytes.
enum LogCompression: String, CaseIterable {
  case bzip2, xz, zip, zstd

  /// Bytes of the longest beginning of a format.
  static let longestMagic = 6

  /// The format that a file begins with; nil if it's none of these.
  static func of(_ bytes: [UInt8]) -> LogCompression? {
    allCases.first { bytes.starts(with: $0.magic) }
  }

  /// What writes the inflated file to standard output.
  var command: String {
    switch self {
    case .bzip2: "bunzip2 -c"
    case .xz: "xz -dc"
    case .zip: "unzip -p"
    case .zstd: "zstd -dc"
    }
  }

  private var magic: [UInt8] {
    switch self {
    case .bzip2: Array("BZh".utf8)
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
    case .zip: [0x50, 0x4B, 0x03, 0x04]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }
}
