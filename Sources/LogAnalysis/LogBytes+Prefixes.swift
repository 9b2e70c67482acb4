import Foundation

extension LogBytes {
  /// The bytes without the control sequences with which a terminal or Xcode's former color plug-in
  /// colors text.
  var withoutColors: LogBytes {
    var kept: [UInt8] = []
    kept.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if bytes[index] == 0x1B {
        index = end(ofSequenceAt: index)
      } else {
        kept.append(bytes[index])
        index += 1
      }
    }
    return LogBytes(kept[...])
  }

  private func end(ofSequenceAt start: Int) -> Int {
    var index = start + 1
    guard index < bytes.endIndex else { return index }
    switch bytes[index] {
    case UInt8(ascii: "["):
      index += 1
      // Xcode's plug-in: `ESC[fg0,0,255;`, `ESC[bg;`, `ESC[;`.
      let rest = LogBytes(bytes[index...])
      if rest.starts(with: "fg") || rest.starts(with: "bg") || rest.first == UInt8(ascii: ";") {
        let end = bytes[index...].prefix(16).firstIndex(of: UInt8(ascii: ";"))
        return (end ?? index) + 1
      }
      while index < bytes.endIndex, !(0x40...0x7E).contains(bytes[index]) { index += 1 }
      return min(index + 1, bytes.endIndex)
    case UInt8(ascii: "]"):
      while index < bytes.endIndex, bytes[index] != 0x07, bytes[index] != 0x1B { index += 1 }
      return min(index + 1, bytes.endIndex)
    default:
      return index + 1
    }
  }

  /// The bytes without the time that a CI service adds to each line, including continuation lines:
  /// `2024-01-01T00:00:00.0000000Z ` on GitHub and Azure, and `[12:00:00]: ▸ ` with fastlane.
  var withoutStamp: LogBytes {
    let head = bytes.prefix(48)
    if head.first?.isDigit == true {
      guard head.count > 10, head[head.startIndex + 10] == UInt8(ascii: "T"),
        let end = LogBytes(head).range(of: "Z ")?.upperBound,
        let separator = LogBytes(head).range(of: "T")?.lowerBound, separator < end,
        separator - head.startIndex == 10, end - separator >= 18,
        head[separator..<(end - 2)].dropFirst().allSatisfy({ $0.isDigit || ":.".utf8.contains($0) })
      else { return self }
      return LogBytes(bytes[end...])
    }
    guard head.first == UInt8(ascii: "["), let end = LogBytes(head).range(of: "]: ")?.upperBound,
      end - head.startIndex == 12, LogTime(in: LogBytes(head[..<end])).seconds != nil
    else { return self }
    let rest = LogBytes(bytes[end...])
    return rest.starts(with: "▸ ") ? LogBytes(rest.bytes.dropFirst(4)) : rest
  }

  /// The bytes without a logger's prefix: a time, `App[pid:tid]`, or `[category]`.
  var withoutPrefix: LogBytes {
    var rest = withoutIndent
    if LogTime(in: LogBytes(rest.bytes.prefix(32))).seconds != nil,
      let end = rest.end(ofFirst: "] ")
    {
      rest = LogBytes(rest.bytes[end...]).withoutIndent
    }
    while rest.first == UInt8(ascii: "["), let end = rest.range(of: "] ")?.upperBound {
      rest = LogBytes(rest.bytes[end...]).withoutIndent
    }
    return rest
  }

  /// Returns whether the brackets directly before this part of a line contain a category.
  func hasCategory(in line: LogBytes) -> Bool {
    let before = LogBytes(line.bytes[..<bytes.startIndex]).trimmed
    guard before.last == UInt8(ascii: "]"),
      let start = before.bytes.lastIndex(of: UInt8(ascii: "["))
    else { return false }
    return LogClass(LogBytes(before.bytes[(start + 1)...].dropLast())) != nil
  }

  /// Returns the end of the first occurrence in the first 160 bytes.
  private func end(ofFirst text: StaticString) -> Int? {
    LogBytes(bytes.prefix(160)).range(of: text)?.upperBound
  }
}

extension LogBytes {
  /// The number of the process in the prefix of a line, as devices and `log show --style syslog`
  /// write it: `123` of `App[123]: ` and of `App(CoreData)[123] `; `nil` if there's none.
  var process: LogBytes? {
    for start in bytes.indices.dropFirst() where bytes[start] == UInt8(ascii: "[") {
      // A number in brackets by itself can be a counter.
      guard bytes[start - 1].isWord || bytes[start - 1] == UInt8(ascii: ")") else { continue }
      let digits = bytes[(start + 1)...].prefix(while: \.isDigit)
      guard !digits.isEmpty, digits.endIndex < bytes.endIndex,
        bytes[digits.endIndex] == UInt8(ascii: "]")
      else { continue }
      return LogBytes(digits)
    }
    return nil
  }
}
