import Foundation

/// The lines of a log, read piece by piece.
///
/// Takes LF and CRLF, any bytes, and a last line without an end. Memory is that of one line, of which
/// no more than `longest` bytes are kept.
package final class LogLines {
  /// In bytes; what a longer line has beyond is not kept.
  package static let longest = 4 << 20
  private static let piece = 1 << 18

  /// Lines given so far.
  package private(set) var count = 0
  /// Why reading ended before the end of the input; nil if it didn't.
  package private(set) var problem: InputRefusal?
  private let path: String
  private let descriptor: Int32
  private let closes: Bool
  private var buffer: [UInt8] = []
  private var place = 0
  private var isAtEnd = false

  /// Opens a log.
  ///
  /// - Parameter path: A file, or `-` for standard input.
  /// - Throws: `InputRefusal` for a file that is missing or cannot be read.
  package init(path: String) throws(InputRefusal) {
    self.path = path
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
    let old = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: LogLines.piece))
    let count = buffer.withUnsafeMutableBytes { bytes in
      while true {
        let free = UnsafeMutableRawBufferPointer(rebasing: bytes[old...])
        let count = Foundation.read(descriptor, free.baseAddress, free.count)
        if count >= 0 { return count }
        guard errno != EINTR else { continue }
        problem = InputFile.refusal(path, errno)
        return 0
      }
    }
    buffer.removeLast(LogLines.piece - count)
    isAtEnd = count == 0
  }
}
