import Foundation
import ManagedModel
package import WorkbenchText

/// The lines of a log, read in chunks.
///
/// Accepts LF and CRLF line endings, any bytes, a last line without a terminator, and the same
/// compressed with gzip or, if the system has its library, Zstandard. Memory use is that of one
/// line, of which at most `InputLimits.logLine` bytes are kept.
package final class LogLines {
  private static let chunkSize = 1 << 18

  /// The number of lines returned so far.
  package var count: Int { buffer.count }
  /// Whether the log is binary: whether a NUL byte is in its first 4,096 bytes.
  package private(set) var isBinary = false
  private let path: String
  private let decompressedLimit: Int
  private var decompressedCount = 0
  /// Returns the next decompressed bytes; `nil` for a file that isn't compressed.
  private var decompress: (() throws(DecompressionFailure) -> [UInt8])?
  private var hasBegun = false
  private let descriptor: Int32
  private let closes: Bool
  // These are accessed for each line, by one method at a time, on one thread.
  /// The error that ended reading before the end of the input, or `nil`.
  @exclusivity(unchecked) package private(set) var problem: InvalidInputError?
  @exclusivity(unchecked) private var buffer = LineBuffer()
  @exclusivity(unchecked) private var isAtEnd = false

  /// Opens a log.
  ///
  /// - Parameters:
  ///   - path: The path of a file, or `-` for standard input.
  ///   - decompressedLimit: The maximum size of a decompressed file, in bytes.
  /// - Throws: `InvalidInputError` if the file doesn't exist, can't be read, or is a log archive.
  package init(
    path: String, decompressedLimit: Int = InputLimits.inflatedLog
  ) throws(InvalidInputError) {
    self.path = path
    self.decompressedLimit = decompressedLimit
    if let archive = LogArchive.error(for: path) { throw archive }
    descriptor = try InputFile.open(path)
    closes = path != InputFile.standardInput
  }

  /// Returns the beginning of the unread input without consuming it.
  ///
  /// A pipe can be read only once.
  ///
  /// - Parameter count: The number of bytes to return. Fewer are returned at the end of the input.
  package func peek(_ count: Int) -> ArraySlice<UInt8> {
    while buffer.unread.count < count, !isAtEnd { read() }
    return buffer.unread.prefix(count)
  }

  /// Returns all unread input, or `nil` if it exceeds a limit, in bytes.
  package func rest(limit: Int) -> [UInt8]? {
    while !isAtEnd {
      guard buffer.unread.count <= limit else { return nil }
      read()
    }
    return Array(buffer.rest())
  }

  deinit {
    if closes, descriptor >= 0 { close(descriptor) }
  }

  /// Returns the next line without its terminator, or `nil` at the end of the log.
  package func next() -> ArraySlice<UInt8>? {
    while true {
      if let line = buffer.next() { return line }
      if isAtEnd { return buffer.unread.isEmpty ? nil : buffer.last() }
      buffer.discardExcess()
      read()
    }
  }

  private func read() {
    if hasBegun, decompress == nil, buffer.hasRemovedLines {
      isAtEnd = buffer.fill(upTo: LogLines.chunkSize, read) == 0
      return
    }
    let bytes = hasBegun ? more() : begin()
    isAtEnd = bytes.isEmpty
    buffer.add(bytes)
  }

  /// Returns the first bytes, after detecting compression.
  private func begin() -> [UInt8] {
    hasBegun = true
    var head = readChunk()
    // A pipe can return one byte at a time.
    while !head.isEmpty, head.count < LogCompression.longestMagic {
      let more = readChunk()
      if more.isEmpty { break }
      head += more
    }
    guard decompresses(head) else {
      isBinary = head.prefix(4_096).contains(0)
      if LogEncoding.isUTF16(head) {
        return fail("is text in UTF-16", "convert it: `\(LogEncoding.command) | cdprof log -`")
      }
      if let other = LogCompression.of(head) {
        return fail(
          "is a \(other.rawValue) file", "decompress it: `\(other.command) FILE | cdprof log -`")
      }
      return head
    }
    let first = more()
    isBinary = first.prefix(4_096).contains(0)
    return first
  }

  /// The reason why a compressed file can't be read to its end.
  private struct DecompressionFailure: Error {
    let format: String
    let isTruncated: Bool
    /// Whether the format's library requires an option for a file with a large window.
    var isWindowTooLarge = false
    /// The command that decompresses what is readable.
    let command: String
  }

  /// Sets up decompression if the first bytes of a file are those of a format that can be read.
  private func decompresses(_ head: [UInt8]) -> Bool {
    var waiting = head
    let source = { [unowned self] in
      defer { waiting = [] }
      return waiting.isEmpty ? readChunk() : waiting
    }
    if head.starts(with: GzipStream.magic) {
      let stream = GzipStream(source)
      decompress = { () throws(DecompressionFailure) in
        do throws(GzipStream.Failure) { return try stream.next() } catch {
          throw DecompressionFailure(
            format: "gzip", isTruncated: error == .truncated, command: "gunzip -c")
        }
      }
    } else if head.starts(with: ZstandardStream.magic), let stream = ZstandardStream(source) {
      decompress = { () throws(DecompressionFailure) in
        do throws(ZstandardStream.Failure) { return try stream.next() } catch {
          throw DecompressionFailure(
            format: "zstd", isTruncated: error == .truncated,
            isWindowTooLarge: error == .windowTooLarge,
            command: error == .windowTooLarge ? "zstd -dc --long=31" : "zstd -dc")
        }
      }
    }
    return decompress != nil
  }

  private func more() -> [UInt8] {
    guard let decompress else { return readChunk() }
    do {
      let bytes = try decompress()
      decompressedCount += bytes.count
      guard decompressedCount <= decompressedLimit else {
        return fail(
          "is more than \(decompressedLimit >> 20) MiB when decompressed",
          "if it's a log, pipe the decompressed text to `cdprof log -`")
      }
      return bytes
    } catch {
      let command = "`\(error.command) FILE | cdprof log -`"
      if error.isWindowTooLarge {
        return fail(
          "is a \(error.format) file with a window of more than 128 MiB",
          "if there's memory for it, decompress it: \(command)")
      }
      return error.isTruncated
        ? fail(
          "is a truncated \(error.format) file",
          "copy the complete file again; \(command) reads the readable part")
        : fail(
          "is a corrupt \(error.format) file", "copy it again; \(command) reads what is intact")
    }
  }

  private func fail(_ message: String, _ nextStep: String) -> [UInt8] {
    let name = path == InputFile.standardInput ? "standard input" : path
    problem = InvalidInputError(kind: .unusable, message: "\(name) \(message)", nextStep: nextStep)
    return []
  }

  private func readChunk() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: LogLines.chunkSize) { bytes, filled in
      filled = read(UnsafeMutableRawBufferPointer(bytes))
    }
  }

  /// Reads bytes, and returns their number: 0 at the end, and after an error.
  private func read(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    while true {
      let count = Foundation.read(descriptor, bytes.baseAddress, bytes.count)
      if count >= 0 { return count }
      guard errno != EINTR else { continue }
      problem = InputFile.error(path, errno)
      return 0
    }
  }
}

/// Archives of the system log, which only macOS converts to text.
enum LogArchive {
  /// Returns the error for an archive or one of its binary files, or `nil` for another path.
  static func error(for path: String) -> InvalidInputError? {
    let suffix = URL(fileURLWithPath: path).pathExtension.lowercased()
    guard ["logarchive", "tracev3"].contains(suffix), FileManager.default.fileExists(atPath: path)
    else { return nil }
    return InvalidInputError(
      kind: .unusable,
      message: "\(path) is \(suffix == "tracev3" ? "part of " : "")a log archive, not text",
      nextStep: "convert the archive on a Mac: `log show --archive FILE.logarchive --debug "
        + "--predicate 'subsystem == \"com.apple.coredata\"' > app.log`")
  }
}

/// The encoding of a text that isn't UTF-8, which begins with a byte order mark.
enum LogEncoding {
  /// The command that writes a file in UTF-16 to standard output as UTF-8.
  static let command = "iconv -f UTF-16 -t UTF-8 FILE"

  /// Returns whether a file's first bytes are the byte order mark of UTF-16.
  static func isUTF16(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
  }
}

/// Compression formats that are detected by their first bytes but can't be decompressed; Zstandard
/// is one of them only without the system's library.
enum LogCompression: String, CaseIterable {
  case bzip2, xz, zip, zstd

  /// The length of the longest signature, in bytes.
  static let longestMagic = 6

  /// Returns the format of a file's first bytes, or `nil` if it's none of these.
  static func of(_ bytes: [UInt8]) -> LogCompression? {
    allCases.first { bytes.starts(with: $0.magic) }
  }

  /// The command that writes the decompressed file to standard output.
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
