internal import Foundation

// Compares strings as SQLite compares text: by their UTF-8 bytes.
extension String {
  /// Calls a closure with the bytes of both strings.
  func withBytes<Result>(
    and other: String, _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    // Reading native strings, the usual case, requires neither a copy nor reference counting.
    let made = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in body(left, right) }
    }
    if let made, let made { return made }
    var (first, second) = (self, other)
    return first.withUTF8 { left in second.withUTF8 { right in body(left, right) } }
  }

  /// Returns whether both strings have the same bytes; canonically equal strings can differ.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    return withBytes(and: other) { left, right in Self.areEqual(left[...], right) }
  }

  func beginsWithBytes(of prefix: String) -> Bool {
    let length = prefix.utf8.count
    guard length <= utf8.count else { return false }
    return withBytes(and: prefix) { left, right in Self.areEqual(left[..<length], right) }
  }

  func endsWithBytes(of suffix: String) -> Bool {
    let start = utf8.count - suffix.utf8.count
    guard start >= 0 else { return false }
    return withBytes(and: suffix) { left, right in Self.areEqual(left[start...], right) }
  }

  func containsBytes(of part: String) -> Bool {
    withBytes(and: part) { text, part in Self.contains(text, part) }
  }

  func orderOfBytes(and other: String) -> ComparisonResult {
    withBytes(and: other) { left, right in
      let common = Swift.min(left.count, right.count)
      var order = 0
      if common > 0, let first = left.baseAddress, let second = right.baseAddress {
        order = Int(memcmp(first, second, common))
      }
      if order == 0 { order = left.count - right.count }
      return order < 0 ? .orderedAscending : order == 0 ? .orderedSame : .orderedDescending
    }
  }

  private static func areEqual(
    _ left: Slice<UnsafeBufferPointer<UInt8>>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    let left = UnsafeBufferPointer(rebasing: left)
    guard left.count == right.count else { return false }
    guard left.count > 0, let first = left.baseAddress, let second = right.baseAddress else {
      return true
    }
    return memcmp(first, second, left.count) == 0
  }

  /// Returns whether a string contains the bytes of another one, by searching for the first byte.
  private static func contains(
    _ text: UnsafeBufferPointer<UInt8>, _ part: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard let first = part.first else { return true }
    var start = 0
    while start + part.count <= text.count {
      if text[start] == first, areEqual(text[start..<(start + part.count)], part) { return true }
      start += 1
    }
    return false
  }
}
