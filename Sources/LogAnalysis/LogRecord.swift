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
