import Foundation

/// A parsed line of a log: the prefix and Core Data's message.
struct LogLine {
  /// The class and the text, or `nil` if the line isn't from Core Data.
  var message: (logClass: LogClass, text: LogBytes)?
  /// The entire line without colors, decoded if the line is JSON.
  var text: LogBytes
  /// The text before the message.
  private(set) var prefix: LogBytes
  /// Whether the line contains the message of a JSON record that spans several lines.
  let beginsRecord: Bool
  /// The line if it's a key, with its value, of such a record, without colors.
  let key: LogBytes?

  /// Parses a line.
  init(_ bytes: ArraySlice<UInt8>) {
    if let standard = StandardLine(bytes) {
      let start = bytes.startIndex
      message = (
        standard.logClass, LogBytes(bytes[(start + standard.text)..<(start + standard.end)])
      )
      text = LogBytes(bytes)
      prefix = LogBytes(bytes[..<(start + standard.mark)])
      beginsRecord = false
      key = nil
      return
    }
    var line = LogBytes(bytes)
    if line.index(of: 0x1B) != nil { line = line.withoutColors }
    let stamped = line.bytes
    line = line.withoutStamp
    let whole = line
    let record = LogRecord(line)
    beginsRecord = record != nil && line.withoutIndent.first == UInt8(ascii: "\"")
    key = LogRecord.isKey(line) ? line : nil
    if let record { line = record.message }
    text = line
    prefix = line
    // The format string of a record's message isn't a message.
    if record == nil, key != nil { return }
    if let found = LogLine.marked(line) ?? LogLine.categorized(line) ?? LogLine.bare(line) {
      message = (found.logClass, found.text.trimmed)
      prefix = LogBytes(line.bytes[..<found.start])
    } else if record != nil, let logClass = LogRecord.logClass(whole) {
      let (named, text) = LogLine.classified(line.trimmed)
      message = (named ?? logClass, text)
    }
    // The time that a CI service added is the time of the line.
    if record == nil { prefix = LogBytes(stamped[..<prefix.bytes.endIndex]) }
    if let record { prefix = record.prefix }
  }

  /// The time in the prefix.
  ///
  /// Empty if there is none.
  var time: LogTime { LogTime(in: prefix) }

  /// The thread in the prefix, as the log contains it, or else the process.
  ///
  /// Empty if there is neither.
  ///
  /// Examples are `App[73416:2971038]`, and the `0x1a2b` of `log show`.
  var thread: LogBytes { LogLine.thread(in: prefix) }

  /// Returns the thread in the prefix of a line, or else the process.
  static func thread(in prefix: LogBytes) -> LogBytes {
    if let end = prefix.bytes.lastIndex(of: UInt8(ascii: "]")),
      let start = prefix.bytes[..<end].lastIndex(of: UInt8(ascii: "["))
    {
      let inside = LogBytes(prefix.bytes[(start + 1)..<end])
      if let thread = inside.thread { return thread }
    }
    if let end = prefix.range(of: ":")?.lowerBound, let thread = prefix.range(of: " 0x", from: end)
    {
      return LogBytes(prefix.bytes[thread.lowerBound...]).trimmed.before(" ")
    }
    // If a category in brackets follows, `[pid:tid]` isn't the last pair of brackets.
    for part in prefix.bytes.split(separator: UInt8(ascii: "[")).dropFirst() {
      if let thread = LogBytes(part).before("]").thread { return thread }
    }
    return prefix.process ?? LogBytes("")
  }

  /// What a line is in the list of a fetch (level 3).
  enum Listed {
    /// An object in quotation marks, and nothing else: `    "<Mood: 0x1> (entity: Mood; …",`.
    case whole
    /// An object with other quotation marks, or the first of its lines; or the list's end.
    case other
  }

  /// Returns what a line is in the list of a fetch; `nil` if it's neither an object nor the end.
  static func listed(_ line: LogBytes) -> Listed? {
    guard line.starts(with: "    \"<") else {
      return line.count == 1 && line.first == UInt8(ascii: ")") ? .other : nil
    }
    switch line.bytes.withUnsafeBufferPointer(plain) {
    case let known?: return known
    case nil:
      let isPlain =
        line.index(of: UInt8(ascii: "[")) == nil && line.index(of: UInt8(ascii: "]")) == nil
        && line.index(of: 0x1B) == nil && !line.contains("CoreData") && !line.contains("cdprof: ")
      return isPlain ? .other : nil
    }
  }

  /// Returns what a line is that begins as an object, if it certainly contains neither brackets,
  /// nor colors, nor a mark; examines many bytes at a time.
  private static func plain(_ line: UnsafeBufferPointer<UInt8>) -> Listed? {
    guard line.count >= 8, let bytes = line.baseAddress else { return nil }
    // The last quotation mark of a whole object is the last byte, or the one before a comma.
    let last = line.count - (bytes[line.count - 1] == UInt8(ascii: ",") ? 2 : 1)
    // A line with another end isn't whole.
    guard bytes[last] == UInt8(ascii: "\"") else { return nil }
    var differences = ListedDifferences()
    let (part, count) = (ListedDifferences.part, last - 5)
    if count <= part {
      differences.add(bytes + 5, count)
    } else {
      differences.add(bytes + 5, count - count % part)
      // The rest, with bytes before it, which takes less time than the rest by itself.
      differences.add(bytes + (last - part), part)
    }
    return differences.other == 0 ? nil : differences.quote == 0 ? .other : .whole
  }

  private typealias Found = (logClass: LogClass, text: LogBytes, start: Int)

  /// Finds `CoreData: sql: …` in the line, even if the beginning of the line is truncated.
  private static func marked(_ line: LogBytes) -> Found? {
    let bytes = line.bytes
    var from = bytes.startIndex
    while let range = line.range(of: "CoreData", from: from) {
      from = range.upperBound
      guard range.lowerBound == bytes.startIndex || !bytes[range.lowerBound - 1].isWord,
        range.upperBound < bytes.endIndex
      else { continue }
      let rest = LogBytes(bytes[range.upperBound...])
      if rest.starts(with: ": ") || rest.starts(with: ":\t") {
        let (logClass, text) = classified(LogBytes(rest.bytes.dropFirst(2)).withoutIndent)
        if logClass == nil, !isBeginning(LogBytes(bytes[..<range.lowerBound])) { continue }
        return (logClass ?? .message, text, range.lowerBound)
      }
      if rest.starts(with: "+CloudKit: ") {
        let text = LogBytes(bytes[range.lowerBound...])
        if let problem = mirroringProblem(text, in: line) { return problem }
        return (.cloudKit, LogBytes(rest.bytes.dropFirst(11)), range.lowerBound)
      }
    }
    if let range = line.range(of: "cdprof: ") {
      let isAlone = range.lowerBound == bytes.startIndex || !bytes[range.lowerBound - 1].isWord
      if isAlone { return (.cdprof, LogBytes(bytes[range.upperBound...]), range.lowerBound) }
    }
    return truncated(line)
  }

  /// Returns a message of mirroring to CloudKit with the class before it, as in
  /// `error: CoreData+CloudKit: …`, or `nil` if it isn't a problem.
  private static func mirroringProblem(_ text: LogBytes, in line: LogBytes) -> Found? {
    let before = LogBytes(line.bytes[..<text.bytes.startIndex]).trimmed
    for (word, logClass) in problems where before.ends(with: word) {
      let start = before.bytes.endIndex - word.utf8CodeUnitCount
      guard start == line.bytes.startIndex || !line.bytes[start - 1].isWord else { continue }
      return (logClass, text, start)
    }
    return nil
  }

  private static let problems: [(StaticString, LogClass)] = [
    ("error:", .error), ("warning:", .warning), ("fault:", .fault),
  ]

  /// Returns whether a message can begin after a prefix.
  ///
  /// `we use CoreData: yes` is printed by an app.
  private static func isBeginning(_ prefix: LogBytes) -> Bool {
    guard let last = prefix.trimmed.last else { return true }
    return "]:)|>".utf8.contains(last)
  }

  /// Finds a message after the end of `CoreData` at the beginning of a line:
  /// `ata: sql: BEGIN EXCLUSIVE`.
  private static func truncated(_ line: LogBytes) -> Found? {
    guard let colon = line.range(of: ": ")?.lowerBound, colon - line.bytes.startIndex < 8 else {
      return nil
    }
    let name = Array("CoreData".utf8)
    let head = line.bytes[..<colon]
    guard name.suffix(head.count).elementsEqual(head) else { return nil }
    let (logClass, text) = classified(LogBytes(line.bytes[(colon + 2)...]))
    return logClass.map { ($0, text, line.bytes.startIndex) }
  }

  /// Finds a message after `[com.apple.coredata:sql]`, whose text doesn't contain its class.
  private static func categorized(_ line: LogBytes) -> Found? {
    guard let range = line.range(of: "[com.apple.coredata"),
      let end = line.range(of: "]", from: range.upperBound)?.lowerBound
    else { return nil }
    let category = LogBytes(line.bytes[range.upperBound..<end])
    let rest = LogBytes(line.bytes[(end + 1)...]).withoutIndent
    let (logClass, text) = classified(rest)
    if let logClass { return (logClass, text, end + 1) }
    let named =
      category.first == UInt8(ascii: ":") ? LogClass(LogBytes(category.bytes.dropFirst())) : nil
    return (named ?? .message, rest, end + 1)
  }

  /// Finds `sql: SELECT …` without `CoreData:`, as in quoted logs.
  ///
  /// An app's own output can begin the same way, so words that many programs use aren't sufficient.
  private static func bare(_ line: LogBytes) -> Found? {
    let rest = line.withoutPrefix
    guard let (logClass, text) = classifiedAll(rest) else { return nil }
    let start = rest.bytes.startIndex
    switch logClass {
    case .sql:
      return SQLText(text).verb == nil ? nil : (logClass, text, start)
    case .annotation, .details:
      return LogKind(logClass, text) == nil ? nil : (logClass, text, start)
    case .debug:
      return LogKind(logClass, text) == .debug ? nil : (logClass, text, start)
    case .error, .warning, .fault, .info:
      return line.bytes[..<start].contains(UInt8(ascii: "[")) && rest.hasCategory(in: line)
        ? (logClass, text, start) : nil
    case .cloudKit, .message, .cdprof:
      return nil
    }
  }

  /// Returns the class before the text, and the rest.
  static func classified(_ text: LogBytes) -> (LogClass?, LogBytes) {
    guard let (logClass, rest) = classifiedAll(text) else { return (nil, text) }
    return (logClass, rest)
  }

  private static func classifiedAll(_ text: LogBytes) -> (LogClass, LogBytes)? {
    guard let colon = text.bytes.prefix(12).firstIndex(of: UInt8(ascii: ":")),
      let logClass = LogClass(LogBytes(text.bytes[..<colon]))
    else { return nil }
    return (logClass, LogBytes(text.bytes[(colon + 1)...]).withoutIndent)
  }
}

/// The least differences of an object's bytes from what it's searched for: 0 if it was found.
///
/// The compiler vectorizes minimums, but not flags.
private struct ListedDifferences {
  /// The number of bytes that are examined at a time.
  static let part = 32

  /// The difference from a quotation mark.
  private(set) var quote = UInt8.max
  /// The differences from brackets, colors, and marks.
  private(set) var other = UInt8.max

  /// Adds bytes; up to four bytes before them can be part of a mark.
  mutating func add(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    var index = 0
    while index < count {
      let byte = bytes[index]
      quote = min(quote, byte ^ UInt8(ascii: "\""))
      // `[` and a color's first byte are the same without one bit.
      other = min(other, (byte & 0xBF) ^ 0x1B, byte ^ UInt8(ascii: "]"))
      // The marks: `CoreData`, and `cdprof:`.
      let (fourthLast, before) = (bytes[index &- 4], bytes[index &- 1])
      other = min(other, (byte ^ UInt8(ascii: "D")) | (fourthLast ^ UInt8(ascii: "C")))
      other = min(other, (byte ^ UInt8(ascii: ":")) | (before ^ UInt8(ascii: "f")))
      index &+= 1
    }
  }
}

extension LogBytes {
  /// The thread of `73416:2971038`, or `nil` for other text, such as a time.
  fileprivate var thread: LogBytes? {
    guard first?.isDigit == true, let colon = index(of: UInt8(ascii: ":")) else { return nil }
    let thread = bytes[(colon + 1)...]
    return !thread.isEmpty && thread.allSatisfy(\.isWord) ? LogBytes(thread) : nil
  }
}

/// The positions in a line that Core Data writes in its usual format: a prefix without brackets at
/// its beginning, `CoreData: `, a class, and the text.
///
/// Nearly all lines of a log have this format. They're recognized in one step, without creating
/// parts of the line. `LogLine` parses all other formats, and parses these lines in the same way.
struct StandardLine {
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
    guard let found = line.withUnsafeBufferPointer(StandardLine.init) else { return nil }
    self = found
  }

  private init?(_ line: UnsafeBufferPointer<UInt8>) {
    guard let start = line.baseAddress, let mark = StandardLine.mark(in: line),
      StandardLine.hasPlainBeginning(line), memchr(start, 0x1B, line.count) == nil
    else { return nil }
    var index = mark + StandardLine.name.utf8CodeUnitCount
    guard index + 1 < line.count, line[index] == UInt8(ascii: ":"),
      line[index + 1] == UInt8(ascii: " ") || line[index + 1] == UInt8(ascii: "\t")
    else { return nil }
    index = StandardLine.skipWhitespace(line, from: index + 2)
    guard let (word, logClass) = LogClass.beginning(UnsafeBufferPointer(rebasing: line[index...]))
    else { return nil }
    let text = StandardLine.skipWhitespace(line, from: index + word.utf8CodeUnitCount + 1)
    var end = line.count
    while end > text, line[end - 1].isWhitespace { end -= 1 }
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

  /// Returns whether the line begins with neither a CI service's time nor a part of a JSON record.
  private static func hasPlainBeginning(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
    let first = line[0]
    if first.isDigit { return line.count <= 10 || line[10] != UInt8(ascii: "T") }
    return first.isWord
  }

  private static func skipWhitespace(_ line: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start
    while index < line.count, line[index].isWhitespace { index += 1 }
    return index
  }
}
