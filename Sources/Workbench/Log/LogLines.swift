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
    if path == "-" {
      descriptor = STDIN_FILENO
      closes = false
      return
    }
    // A pipe has a path as well, so only folders are refused.
    var isFolder: ObjCBool = false
    if !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) || isFolder.boolValue {
      try InputRefusal.checkFile(path)
    }
    descriptor = open(path, O_RDONLY)
    closes = true
    guard descriptor >= 0 else {
      throw InputRefusal(
        kind: .missing, message: "\(path) cannot be read", nextStep: "ask for permission to read it"
      )
    }
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
        if count >= 0 || errno != EINTR { return max(0, count) }
      }
    }
    buffer.removeLast(LogLines.piece - count)
    isAtEnd = count == 0
  }
}
