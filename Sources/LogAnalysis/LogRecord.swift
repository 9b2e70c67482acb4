import Foundation

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

  /// Returns whether a line is a key, with its value, of a record that spans several lines.
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
  static func thread(_ line: LogBytes) -> LogBytes? {
    line.withoutIndent.starts(with: "\"threadID\"")
      ? value(of: "\"threadID\"", in: line)?.leadingNumber.map { LogBytes("\($0)") } : nil
  }

  /// Returns the class that a record on one line has by its category, or `nil` if its subsystem
  /// isn't Core Data.
  ///
  /// The message of such a record can be without `CoreData:`.
  static func logClass(_ line: LogBytes) -> LogClass? {
    guard string(of: "\"subsystem\"", in: line)?.hasPrefix("com.apple.coredata") == true else {
      return nil
    }
    return string(of: "\"category\"", in: line).flatMap { LogClass(LogBytes($0)) } ?? .message
  }

  /// Returns the records of an array on one line, `[{…},{…}]`; none for any other line.
  ///
  /// The last one is incomplete if the line is truncated. **Cost:** linear in the line.
  static func records(in line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    let array = LogBytes(line).withoutIndent
    guard array.first == UInt8(ascii: "["),
      LogBytes(array.bytes.dropFirst()).withoutIndent.first == UInt8(ascii: "{"),
      array.contains("\"eventMessage\"")
    else { return [] }
    let bytes = array.bytes
    var records: [ArraySlice<UInt8>] = []
    var (start, depth, isQuoted) = (bytes.startIndex, 0, false)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      switch bytes[index] {
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: "\\") where isQuoted: index += 1
      case UInt8(ascii: "{") where !isQuoted:
        if depth == 0 { start = index }
        depth += 1
      case UInt8(ascii: "}") where !isQuoted && depth > 0:
        depth -= 1
        if depth == 0 { records.append(bytes[start...index]) }
      default: break
      }
      index += 1
    }
    if depth > 0 { records.append(bytes[start...]) }
    return records
  }

  /// The keys of a record that spans several lines, as far as they were read.
  struct Keys {
    /// Whether the record contains a message.
    private(set) var hasMessage = false
    /// The message, with the number of its line, if it has neither a mark nor a class; the category
    /// determines its class.
    private(set) var unclassified: (text: LogBytes, line: Int)?
    private let indent: Int
    private var isOfCoreData = false
    private var category: LogClass?
    private var time = ""
    private var thread: Int?

    /// Creates the keys of a record that begins with a key.
    init(beginningWith key: LogBytes) {
      indent = Keys.indent(of: key)
    }

    private static func indent(of line: LogBytes) -> Int {
      line.count - line.withoutIndent.count
    }

    /// Returns whether a key is one of the record, or of an object in it.
    func contains(_ key: LogBytes) -> Bool { Keys.indent(of: key) >= indent }

    /// Returns whether a line is the end of the record.
    func isEnded(by line: LogBytes) -> Bool {
      line.withoutIndent.first == UInt8(ascii: "}")
        && (indent == 0 || Keys.indent(of: line) < indent)
    }

    /// Adds the key that a line contains, unless it's one of an object in the record.
    ///
    /// - Parameter number: The number of the line.
    mutating func add(_ key: LogBytes, _ line: LogLine, on number: Int) {
      guard Keys.indent(of: key) == indent else { return }
      let start = key.withoutIndent
      if line.beginsRecord {
        hasMessage = true
        if line.message == nil { unclassified = (line.text, number) }
      } else if start.starts(with: "\"subsystem\"") {
        isOfCoreData =
          LogRecord.string(of: "\"subsystem\"", in: start)?.hasPrefix("com.apple.coredata") == true
      } else if start.starts(with: "\"category\"") {
        category = LogRecord.string(of: "\"category\"", in: start).flatMap {
          LogClass(LogBytes($0))
        }
      } else if start.starts(with: "\"timestamp\"") {
        time = LogRecord.string(of: "\"timestamp\"", in: start) ?? ""
      } else if start.starts(with: "\"threadID\"") {
        thread = LogRecord.value(of: "\"threadID\"", in: start)?.leadingNumber
      }
    }

    /// The class that the category stands for, or `nil` if the subsystem isn't Core Data.
    var logClass: LogClass? { isOfCoreData ? category ?? .message : nil }

    /// The time and the thread, in the format of other logs.
    var prefix: LogBytes { LogBytes(thread.map { "\(time) [0:\($0)]" } ?? time) }
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
