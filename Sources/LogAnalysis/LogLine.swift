import Foundation

/// A parsed line of a log: the prefix and Core Data's message.
struct LogLine {
  /// The class and the text, or `nil` if the line isn't from Core Data.
  var message: (logClass: LogClass, text: LogBytes)?
  /// The entire line without colors, decoded if the line is JSON.
  var text: LogBytes
  /// The text before the message.
  private(set) var prefix: LogBytes
  /// A Boolean value that indicates whether the line contains the message of a JSON record that
  /// spans several lines.
  let beginsRecord: Bool

  /// Parses a line.
  init(_ bytes: ArraySlice<UInt8>) {
    if let usual = UsualLine(bytes) {
      let start = bytes.startIndex
      message = (usual.logClass, LogBytes(bytes[(start + usual.text)..<(start + usual.end)]))
      text = LogBytes(bytes)
      prefix = LogBytes(bytes[..<(start + usual.mark)])
      beginsRecord = false
      return
    }
    var line = LogBytes(bytes)
    if line.index(of: 0x1B) != nil { line = line.withoutColors }
    let stamped = line.bytes
    line = line.withoutStamp
    let record = LogRecord(line)
    beginsRecord = record != nil && line.withoutIndent.first == UInt8(ascii: "\"")
    if let record { line = record.message }
    text = line
    prefix = line
    // The format string of a record's message isn't a message.
    if record == nil, LogRecord.isKey(line) { return }
    if let found = LogLine.marked(line) ?? LogLine.categorized(line) ?? LogLine.bare(line) {
      message = (found.logClass, found.text.trimmed)
      prefix = LogBytes(line.bytes[..<found.start])
    }
    // The time that a CI service added is the time of the line.
    if record == nil { prefix = LogBytes(stamped[..<prefix.bytes.endIndex]) }
    if let record { prefix = record.prefix }
  }

  /// The time in the prefix.
  ///
  /// Empty if there is none.
  var time: LogTime { LogTime(in: prefix) }

  /// The thread in the prefix, as the log contains it.
  ///
  /// Empty if there is none.
  ///
  /// Examples are `App[73416:2971038]`, and the `0x1a2b` of `log show`.
  var thread: String {
    if let end = prefix.lastRange(of: "]")?.lowerBound,
      let start = prefix.bytes[..<end].lastIndex(of: UInt8(ascii: "["))
    {
      let inside = LogBytes(prefix.bytes[(start + 1)..<end])
      if let thread = inside.thread { return thread.string }
    }
    if let end = prefix.range(of: ":")?.lowerBound, let thread = prefix.range(of: " 0x", from: end)
    {
      return LogBytes(prefix.bytes[thread.lowerBound...]).trimmed.before(" ").string
    }
    // If a category in brackets follows, `[pid:tid]` isn't the last pair of brackets.
    for part in prefix.bytes.split(separator: UInt8(ascii: "[")).dropFirst() {
      if let thread = LogBytes(part).before("]").thread { return thread.string }
    }
    return ""
  }

  /// Returns a Boolean value that indicates whether a line is an object in the list of a fetch
  /// (level 3), and nothing else: `    "<Mood: 0x1> (entity: Mood; …`.
  static func isListed(_ bytes: ArraySlice<UInt8>) -> Bool {
    let line = LogBytes(bytes)
    return line.starts(with: "    \"<") && line.index(of: UInt8(ascii: "[")) == nil
      && line.index(of: UInt8(ascii: "]")) == nil && line.index(of: 0x1B) == nil
      && !line.contains("CoreData") && !line.contains("cdprof: ")
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
        return (.cloudKit, LogBytes(rest.bytes.dropFirst(11)), range.lowerBound)
      }
    }
    if let range = line.range(of: "cdprof: ") {
      let isAlone = range.lowerBound == bytes.startIndex || !bytes[range.lowerBound - 1].isWord
      if isAlone { return (.cdprof, LogBytes(bytes[range.upperBound...]), range.lowerBound) }
    }
    return truncated(line)
  }

  /// Returns a Boolean value that indicates whether a message can begin after a prefix.
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
  private static func classified(_ text: LogBytes) -> (LogClass?, LogBytes) {
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

extension LogBytes {
  /// The thread of `73416:2971038`, or `nil` for other text, such as a time.
  fileprivate var thread: LogBytes? {
    guard first?.isDigit == true, let thread = after(":"), !thread.isEmpty,
      thread.bytes.allSatisfy({ $0.isWord })
    else { return nil }
    return thread
  }
}

/// A record of `log show --style ndjson` or `--style json`: the message and its metadata.
struct LogRecord {
  let message: LogBytes
  /// The time and the thread, in the format of other logs.
  let prefix: LogBytes

  /// Parses the line of a record that contains its message.
  ///
  /// Returns `nil` for other lines.
  init?(_ line: LogBytes) {
    let start = line.withoutIndent
    guard start.first == UInt8(ascii: "{") || start.starts(with: "\"eventMessage\""),
      let message = LogRecord.string(of: "\"eventMessage\"", in: start)
    else { return nil }
    self.message = LogBytes(message)
    let time = LogRecord.string(of: "\"timestamp\"", in: start) ?? ""
    let process =
      LogRecord.value(of: "\"processID\"", in: start)?.leadingNumber.map(String.init) ?? "0"
    let thread = LogRecord.value(of: "\"threadID\"", in: start)?.leadingNumber.map { "\($0)" }
    prefix = LogBytes(thread.map { "\(time) [\(process):\($0)]" } ?? time)
  }

  /// Returns a Boolean value that indicates whether a line is a key, with its value, of a record
  /// that spans several lines.
  static func isKey(_ line: LogBytes) -> Bool {
    let start = line.withoutIndent
    guard start.first == UInt8(ascii: "\"") else { return false }
    let rest = LogBytes(start.bytes.dropFirst().drop(while: \.isWord))
    guard rest.first == UInt8(ascii: "\""), rest.count + 1 < start.count else { return false }
    return LogBytes(rest.bytes.dropFirst()).withoutIndent.first == UInt8(ascii: ":")
  }

  /// Returns the time in such a line, or `nil` if it has another key.
  static func time(_ line: LogBytes) -> LogTime? {
    line.withoutIndent.starts(with: "\"timestamp\"")
      ? string(of: "\"timestamp\"", in: line).map { LogTime(in: LogBytes($0)) } : nil
  }

  /// Returns the thread in such a line, or `nil` if it has another key.
  static func thread(_ line: LogBytes) -> String? {
    line.withoutIndent.starts(with: "\"threadID\"")
      ? value(of: "\"threadID\"", in: line)?.leadingNumber.map(String.init) : nil
  }

  /// Returns the text after a key and its colon.
  private static func value(of key: StaticString, in line: LogBytes) -> LogBytes? {
    guard let rest = line.after(key)?.withoutIndent, rest.first == UInt8(ascii: ":") else {
      return nil
    }
    return LogBytes(rest.bytes.dropFirst()).withoutIndent
  }

  private static func string(of key: StaticString, in line: LogBytes) -> String? {
    guard let value = value(of: key, in: line), value.first == UInt8(ascii: "\"") else {
      return nil
    }
    var end = value.bytes.startIndex + 1
    while end < value.bytes.endIndex, value.bytes[end] != UInt8(ascii: "\"") {
      end += value.bytes[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    // A truncated record has no closing quotation mark.
    let inside = value.bytes[(value.bytes.startIndex + 1)..<min(end, value.bytes.endIndex)]
    let quoted = Data("\"".utf8) + Data(inside) + Data("\"".utf8)
    let decoded = try? JSONSerialization.jsonObject(with: quoted, options: .fragmentsAllowed)
    return decoded as? String ?? LogBytes(inside).string
  }
}

/// The time of a log line, as text and as a number for measuring intervals.
package struct LogTime: Sendable, Hashable {
  /// The time as the log contains it.
  ///
  /// Empty if there is none.
  package var text = ""
  /// The number of seconds since the year 0, or since midnight if the log contains no date.
  ///
  /// `nil` without a time.
  package var seconds: Double?

  /// Creates an empty time.
  package init() {}

  /// Parses the time in a line's prefix: `2014-07-31 15:29:04.797` (also with `T`, a comma, or a
  /// time zone), `May  1 12:00:00`, or `15:29:04.797`.
  init(in prefix: LogBytes) {
    let bytes = prefix.bytes
    var index = bytes.startIndex
    while index + 7 < bytes.endIndex {
      if let clock = LogTime.clock(bytes, at: index) {
        let (start, day) = LogTime.day(bytes, before: index)
        var end = clock.end
        // The time zone is part of the text but isn't needed for intervals.
        if end < bytes.endIndex,
          bytes[end] == UInt8(ascii: "+") || bytes[end] == UInt8(ascii: "-")
            || bytes[end] == UInt8(ascii: "Z")
        {
          end += 1
          while end < bytes.endIndex, bytes[end].isDigit || bytes[end] == UInt8(ascii: ":") {
            end += 1
          }
        }
        text = LogBytes(bytes[start..<end]).string
        seconds = day * 86_400 + clock.seconds
        return
      }
      index += 1
    }
  }

  /// Parses `15:29:04.797` at an index.
  private static func clock(
    _ bytes: ArraySlice<UInt8>, at index: Int
  ) -> (seconds: Double, end: Int)? {
    guard bytes[index + 2] == UInt8(ascii: ":"), bytes[index + 5] == UInt8(ascii: ":"),
      index == bytes.startIndex || !bytes[index - 1].isDigit,
      let hours = number(bytes, index, 2), let minutes = number(bytes, index + 3, 2),
      let whole = number(bytes, index + 6, 2)
    else { return nil }
    var seconds = Double(hours * 3_600 + minutes * 60 + whole)
    var end = index + 8
    if end + 1 < bytes.endIndex,
      bytes[end] == UInt8(ascii: ".") || bytes[end] == UInt8(ascii: ","), bytes[end + 1].isDigit
    {
      var unit = 0.1
      end += 1
      while end < bytes.endIndex, bytes[end].isDigit {
        seconds += unit * Double(bytes[end] - UInt8(ascii: "0"))
        unit /= 10
        end += 1
      }
    }
    return (seconds, end)
  }

  /// Returns the start of the date before a time of day, and the number of the day.
  private static func day(
    _ bytes: ArraySlice<UInt8>, before index: Int
  ) -> (start: Int, day: Double) {
    if index - 11 >= bytes.startIndex, bytes[index - 7] == UInt8(ascii: "-"),
      bytes[index - 4] == UInt8(ascii: "-"), let year = number(bytes, index - 11, 4),
      let month = number(bytes, index - 6, 2), let day = number(bytes, index - 3, 2)
    {
      return (index - 11, Double(days(year: year, month: month, day: day)))
    }
    if index - 7 >= bytes.startIndex, bytes[index - 7].isUpper {
      let month = names.firstIndex(of: LogBytes(bytes[(index - 7)..<(index - 4)]).string)
      let day = LogBytes(bytes[(index - 3)..<index]).withoutIndent.leadingNumber
      if let month, let day {
        return (index - 7, Double(days(year: 0, month: month + 1, day: day)))
      }
    }
    return (index, 0)
  }

  private static let names = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns the number of days since March 1 of the year 0.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let years = month > 2 ? year : year - 1
    let months = (month + 9) % 12
    return 365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day
  }

  private static func number(_ bytes: ArraySlice<UInt8>, _ index: Int, _ count: Int) -> Int? {
    guard index >= bytes.startIndex, index + count <= bytes.endIndex else { return nil }
    var number = 0
    for byte in bytes[index..<(index + count)] {
      guard byte.isDigit else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }
}
