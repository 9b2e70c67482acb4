import Foundation

/// A part of a log as bytes.
///
/// Logs are long, and only a few lines need to be converted to strings. Searches and comparisons
/// use the C library, which examines many bytes at a time.
package struct LogBytes: Sendable {
  package var bytes: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
  }

  /// Creates an instance from the UTF-8 bytes of a string.
  package init(_ text: String) {
    bytes = ArraySlice(text.utf8)
  }

  /// The bytes as a string, with U+FFFD for invalid UTF-8.
  var string: String { String(decoding: bytes, as: UTF8.self) }

  var isEmpty: Bool { bytes.isEmpty }
  var count: Int { bytes.count }
  var first: UInt8? { bytes.first }
  var last: UInt8? { bytes.last }

  /// Returns whether the bytes begin with an ASCII string.
  func starts(with text: StaticString) -> Bool {
    matches(text, at: bytes.startIndex)
  }

  /// Returns whether the bytes end with an ASCII string.
  func ends(with text: StaticString) -> Bool {
    bytes.count >= text.utf8CodeUnitCount
      && matches(text, at: bytes.endIndex - text.utf8CodeUnitCount)
  }

  /// Returns whether the bytes begin with others.
  func starts(with other: LogBytes) -> Bool {
    count >= other.count && LogBytes(bytes.prefix(other.count)) == other
  }

  /// Returns whether the bytes are before others in byte order; a beginning is before the whole.
  func precedes(_ other: LogBytes) -> Bool {
    bytes.withUnsafeBytes { left in
      other.bytes.withUnsafeBytes { right in
        let common = min(left.count, right.count)
        guard common > 0, let first = left.baseAddress, let second = right.baseAddress else {
          return left.count < right.count
        }
        let difference = memcmp(first, second, common)
        return difference == 0 ? left.count < right.count : difference < 0
      }
    }
  }

  /// Returns whether the bytes contain a string.
  package func contains(_ text: StaticString) -> Bool {
    range(of: text) != nil
  }

  /// Returns the range of the first occurrence of a string, from an index on.
  func range(of text: StaticString, from start: Int? = nil) -> Range<Int>? {
    let length = text.utf8CodeUnitCount
    let rarest = LogBytes.rarest(in: text)
    return bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return nil }
      // The end of the part in which the rarest byte of an occurrence is.
      let end = buffer.count - length + rarest + 1
      var offset = (start ?? bytes.startIndex) - bytes.startIndex + rarest
      while offset < end {
        guard let found = memchr(base + offset, Int32(text.utf8Start[rarest]), end - offset) else {
          return nil
        }
        offset = UnsafeRawPointer(found) - base
        if memcmp(base + (offset - rarest), text.utf8Start, length) == 0 {
          let index = bytes.startIndex + offset - rarest
          return index..<(index + length)
        }
        offset += 1
      }
      return nil
    }
  }

  /// Returns the index of the first occurrence of a byte, or `nil` if it doesn't occur.
  func index(of byte: UInt8) -> Int? {
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, let found = memchr(base, Int32(byte), buffer.count)
      else { return nil }
      return bytes.startIndex + (UnsafeRawPointer(found) - base)
    }
  }

  /// Returns the offset of a byte of a string that's less common in logs than most: the first
  /// that's neither a space, a frequent lowercase letter, nor a digit.
  private static func rarest(in text: StaticString) -> Int {
    var offset = 0
    while offset < text.utf8CodeUnitCount {
      let byte = text.utf8Start[offset]
      let isRare = byte == UInt8(ascii: "k") || byte == UInt8(ascii: "w") || !byte.isLower
      if isRare, byte != 0x20, !byte.isDigit { return offset }
      offset += 1
    }
    return text.utf8CodeUnitCount > 1 && text.utf8Start[0] == 0x20 ? 1 : 0
  }

  /// Returns the range of the last occurrence of a string.
  func lastRange(of text: StaticString) -> Range<Int>? {
    var found: Range<Int>?
    var start = bytes.startIndex
    while let range = range(of: text, from: start) {
      found = range
      start = range.lowerBound + 1
    }
    return found
  }

  /// Returns the bytes after the first occurrence of a string, or `nil` if it doesn't occur.
  func after(_ text: StaticString) -> LogBytes? {
    range(of: text).map { LogBytes(bytes[$0.upperBound...]) }
  }

  /// Returns the bytes before the first occurrence of a string, or all bytes if it doesn't occur.
  func before(_ text: StaticString) -> LogBytes {
    range(of: text).map { LogBytes(bytes[..<$0.lowerBound]) } ?? self
  }

  /// The bytes without whitespace at both ends.
  var trimmed: LogBytes {
    var (start, end) = (bytes.startIndex, bytes.endIndex)
    while start < end, bytes[start].isWhitespace { start += 1 }
    while start < end, bytes[end - 1].isWhitespace { end -= 1 }
    return LogBytes(bytes[start..<end])
  }

  /// The bytes without leading whitespace.
  var withoutIndent: LogBytes {
    LogBytes(bytes.drop { $0.isWhitespace })
  }

  /// The integer at the beginning, including a sign.
  var leadingNumber: Int? {
    var digits = bytes
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative { digits.removeFirst() }
    var number = 0
    var count = 0
    for byte in digits {
      guard byte.isDigit, count < 18 else { break }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
      count += 1
    }
    return count == 0 ? nil : isNegative ? -number : number
  }

  private func matches(_ text: StaticString, at index: Int) -> Bool {
    let length = text.utf8CodeUnitCount
    guard index >= bytes.startIndex, index + length <= bytes.endIndex else { return false }
    return bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return length == 0 }
      return memcmp(base + (index - bytes.startIndex), text.utf8Start, length) == 0
    }
  }
}

extension LogBytes: Hashable {
  package static func == (left: LogBytes, right: LogBytes) -> Bool {
    guard left.bytes.count == right.bytes.count else { return false }
    return left.bytes.withUnsafeBytes { left in
      right.bytes.withUnsafeBytes { right in
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return first == second || memcmp(first, second, left.count) == 0
      }
    }
  }

  /// Hashes sixteen bytes at a time, with a key that differs between processes, so that a log can't
  /// contain texts that collide.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(keyedHash)
  }

  private static let hashKey: (UInt64, UInt64) = (
    UInt64(bitPattern: Int64("log".hashValue)) | 1, UInt64(bitPattern: Int64("bytes".hashValue)) | 1
  )

  /// The hash of the bytes, with a key that differs between processes.
  var keyedHash: UInt64 {
    let (seed, factor) = LogBytes.hashKey
    return bytes.withUnsafeBytes { buffer in
      let count = buffer.count
      // Multiplied, so that the first bytes can't make up for another number of bytes.
      var hash = seed &+ UInt64(count) &* factor
      func word(_ offset: Int) -> UInt64 {
        buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      }
      func mix(_ first: UInt64, _ second: UInt64) {
        let product = (hash ^ first).multipliedFullWidth(by: factor ^ second)
        hash = (product.high ^ product.low) &+ seed
      }
      guard count >= 8 else {
        mix(buffer.reduce(0) { $0 << 8 | UInt64($1) }, 0)
        return hash
      }
      var offset = 0
      while offset + 16 < count {
        mix(word(offset), word(offset + 8))
        offset += 16
      }
      // The last bytes, of which some can be part of the words before.
      mix(word(max(0, count - 16)), word(count - 8))
      return hash
    }
  }
}

extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  /// Whether the byte is a space, a tab, a carriage return, or NUL, which some tools leave in a
  /// log.
  package var isWhitespace: Bool {
    self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == 0x0D || self == 0
  }
  var isUpper: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
  var isLower: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }
  /// Whether the byte is an ASCII letter, a digit, `_`, or part of a non-ASCII character.
  var isWord: Bool {
    isDigit || isUpper || isLower || self == UInt8(ascii: "_") || self >= 0x80
  }
}
