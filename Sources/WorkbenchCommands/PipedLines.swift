import Foundation
import OpenCoreData
import WorkbenchText

/// The lines of standard input, each read as soon as it's complete, without a byte order mark.
///
/// Of a line that's longer than `InputLimits.shellLine`, one byte more is kept, so that the line is
/// still too long, and the rest is skipped.
struct PipedLines: IteratorProtocol {
  private var waiting: ArraySlice<UInt8> = []
  private var isAtEnd = false
  private var hasBegun = false

  /// Returns the next line without its line feed or CRLF, with invalid UTF-8 replaced, or `nil` at
  /// the end of the input.
  mutating func next() -> String? {
    var line: [UInt8] = []
    var isCut = false
    while true {
      let end = waiting.firstIndex(of: UInt8(ascii: "\n"))
      let part = waiting[..<(end ?? waiting.endIndex)]
      let room = InputLimits.shellLine + 1 - line.count
      line += part.prefix(room)
      isCut = isCut || part.count > room
      if let end {
        waiting = waiting[(end + 1)...]
        break
      }
      waiting = isAtEnd ? [] : Self.read()
      guard waiting.isEmpty else { continue }
      isAtEnd = true
      if line.isEmpty { return nil }
      break
    }
    // Without the last byte that's kept, a line that's too long would be run without its rest.
    if !isCut, line.last == UInt8(ascii: "\r") { line.removeLast() }
    if !hasBegun, !isCut { line.removeFirst(ByteOrderMark.length(in: line)) }
    hasBegun = true
    return String(decoding: line, as: UTF8.self)
  }

  /// Returns what can be read at once, or nothing at the end or after an error.
  private static func read() -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = bytes.withUnsafeMutableBytes {
        Foundation.read(STDIN_FILENO, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      return bytes.prefix(max(0, count))
    }
  }
}
