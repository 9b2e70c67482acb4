import Foundation

/// A record of `log show --style ndjson` or `--style json`: the message and what was known with it.
struct LogRecord {
  let message: LogBytes
  /// Time and thread, in the form of other logs.
  let prefix: LogBytes

  /// Reads the line of a record that has its message; nil for other lines.
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

  /// Whether a line is a key of a record that stands over several lines, with its value.
  static func isKey(_ line: LogBytes) -> Bool {
    let start = line.withoutIndent
    guard start.first == UInt8(ascii: "\"") else { return false }
    let rest = LogBytes(start.bytes.dropFirst().drop(while: \.isWord))
    guard rest.first == UInt8(ascii: "\""), rest.count + 1 < start.count else { return false }
    return LogBytes(rest.bytes.dropFirst()).withoutIndent.first == UInt8(ascii: ":")
  }

  /// The time of such a line; nil when it has another key.
  static func time(_ line: LogBytes) -> LogTime? {
    line.withoutIndent.starts(with: "\"timestamp\"")
      ? string(of: "\"timestamp\"", in: line).map { LogTime(in: LogBytes($0)) } : nil
  }

  /// The thread of such a line; nil when it has another key.
  static func thread(_ line: LogBytes) -> String? {
    line.withoutIndent.starts(with: "\"threadID\"")
      ? value(of: "\"threadID\"", in: line)?.leadingNumber.map(String.init) : nil
  }

  /// What stands behind a key and its colon.
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
    // A cut record has no closing quote.
    let inside = value.bytes[(value.bytes.startIndex + 1)..<min(end, value.bytes.endIndex)]
    let quoted = Data("\"".utf8) + Data(inside) + Data("\"".utf8)
    let decoded = try? JSONSerialization.jsonObject(with: quoted, options: .fragmentsAllowed)
    return decoded as? String ?? LogBytes(inside).string
  }
}
