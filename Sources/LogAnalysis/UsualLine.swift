import Foundation

/// The positions in a line that Core Data writes in its usual format: a prefix without brackets at
/// its beginning, `CoreData: `, a class, and the text.
///
/// Nearly all lines of a log have this format. They're recognized in one step, without creating
/// parts of the line. `LogLine` parses all other formats, and parses these lines in the same way.
struct UsualLine {
  let logClass: LogClass
  /// The offset of `CoreData`, in bytes.
  let mark: Int
  /// The offset of the text, without whitespace at its beginning.
  let text: Int
  /// The offset of the end of the text, without whitespace at its end.
  let end: Int

  private static let name: StaticString = "CoreData"

  /// Finds the positions in a line.
  ///
  /// Returns `nil` if the line has another format, contains colors, or can be a JSON record.
  init?(_ line: ArraySlice<UInt8>) {
    guard let found = line.withUnsafeBufferPointer(UsualLine.init) else { return nil }
    self = found
  }

  private init?(_ line: UnsafeBufferPointer<UInt8>) {
    guard let start = line.baseAddress, let mark = UsualLine.mark(in: line),
      UsualLine.hasPlainBeginning(line), memchr(start, 0x1B, line.count) == nil
    else { return nil }
    var index = mark + UsualLine.name.utf8CodeUnitCount
    guard index + 1 < line.count, line[index] == UInt8(ascii: ":"),
      line[index + 1] == UInt8(ascii: " ") || line[index + 1] == UInt8(ascii: "\t")
    else { return nil }
    index = UsualLine.skipBlanks(line, from: index + 2)
    var colon = index
    while colon < line.count, colon - index < 12, line[colon] != UInt8(ascii: ":") { colon += 1 }
    guard colon < line.count, colon - index < 12,
      let logClass = LogClass(UnsafeBufferPointer(rebasing: line[index..<colon]))
    else { return nil }
    let text = UsualLine.skipBlanks(line, from: colon + 1)
    var end = line.count
    while end > text, line[end - 1].isBlank { end -= 1 }
    self.logClass = logClass
    self.mark = mark
    self.text = text
    self.end = end
  }

  /// Returns the offset of the first `CoreData`, or `nil` if there is none or a word contains it.
  private static func mark(in line: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let start = line.baseAddress else { return nil }
    let length = name.utf8CodeUnitCount
    var offset = 0
    while offset + length <= line.count {
      guard let found = memchr(start + offset, Int32(name.utf8Start[0]), line.count - offset) else {
        return nil
      }
      offset = UnsafeRawPointer(found) - UnsafeRawPointer(start)
      guard offset + length <= line.count else { return nil }
      if memcmp(start + offset, name.utf8Start, length) == 0 {
        return offset > 0 && line[offset - 1].isWord ? nil : offset
      }
      offset += 1
    }
    return nil
  }

  /// Returns a Boolean value that indicates whether the line begins with neither a CI service's
  /// time nor a part of a JSON record.
  private static func hasPlainBeginning(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    let first = line[0]
    if first.isDigit { return line.count <= 10 || line[10] != UInt8(ascii: "T") }
    return first.isWord
  }

  private static func skipBlanks(_ line: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start
    while index < line.count, line[index].isBlank { index += 1 }
    return index
  }
}
