import Foundation
import ManagedModel
import WorkbenchText

/// Input that was read, of which the lines are removed one by one.
///
/// At most `InputLimits.logLine` bytes of a line are kept: its first ones.
/// Lines that are still in use keep the bytes that were read with them.
struct LineBuffer {
  private var bytes: [UInt8] = []
  private var position = 0
  /// The index of the first byte that isn't known to be part of the next line.
  private var searched = 0
  /// The number of lines removed so far.
  private(set) var count = 0

  var unread: ArraySlice<UInt8> { bytes[position...] }

  /// Whether lines were removed since bytes were added.
  var hasRemovedLines: Bool { position > 0 }

  /// Removes and returns the next line without its newline, or returns `nil` if it has none yet.
  mutating func next() -> ArraySlice<UInt8>? {
    let start = searched
    let found = bytes.withUnsafeBytes { buffer -> Int? in
      guard let base = buffer.baseAddress,
        let newline = memchr(base + start, 0x0A, buffer.count - start)
      else { return nil }
      return UnsafeRawPointer(newline) - base
    }
    guard let end = found else {
      searched = bytes.count
      return nil
    }
    let line = trimmed(position..<end)
    position = end + 1
    searched = position
    return line
  }

  /// Removes and returns all bytes as the last line.
  mutating func last() -> ArraySlice<UInt8> {
    let line = trimmed(position..<bytes.count)
    _ = rest()
    return line
  }

  /// Removes and returns all bytes.
  mutating func rest() -> ArraySlice<UInt8> {
    defer { (bytes, position, searched) = ([], 0, 0) }
    return unread
  }

  /// Counts a line, and returns it without a byte order mark and carriage returns.
  @inline(__always) private mutating func trimmed(_ line: Range<Int>) -> ArraySlice<UInt8> {
    var start = line.lowerBound
    var end = min(line.upperBound, start + InputLimits.logLine)
    count += 1
    if count == 1 { start += ByteOrderMark.length(in: bytes[start..<end]) }
    while end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return bytes[start..<end]
  }

  /// Reads bytes to the place after the unread ones, and returns their number.
  mutating func fill(upTo count: Int, _ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
    let rest = unread
    var more = 0
    bytes = [UInt8](unsafeUninitializedCapacity: rest.count + count) { buffer, filled in
      let all = UnsafeMutableRawBufferPointer(buffer)
      rest.withUnsafeBytes { all.copyMemory(from: $0) }
      more = read(UnsafeMutableRawBufferPointer(rebasing: all[rest.count..<(rest.count + count)]))
      filled = rest.count + more
    }
    searched -= position
    position = 0
    return more
  }

  /// Adds bytes that were read.
  ///
  /// They're appended in place if no line was removed before, so that a long rest isn't copied
  /// each time.
  mutating func add(_ more: [UInt8]) {
    if position == 0 {
      bytes += more
    } else if position == bytes.count {
      bytes = more
    } else {
      var all: [UInt8] = []
      all.reserveCapacity(unread.count + more.count)
      all += unread
      all += more
      bytes = all
    }
    searched -= position
    position = 0
  }

  /// Discards what exceeds the limit of a line whose newline hasn't been read.
  mutating func discardExcess() {
    guard unread.count > InputLimits.logLine else { return }
    bytes.removeLast(unread.count - InputLimits.logLine)
    searched = bytes.count
  }
}
