/// A line of a log, taken apart: what is in front of Core Data's text, and that text.
struct LogLine {
  /// The class of the text and the text; nil for a line that is not Core Data's.
  var message: (logClass: LogClass, text: LogBytes)?
  /// All of the line, without colours, and decoded where the line is JSON.
  var text: LogBytes
  /// What stands before the message.
  private var prefix: LogBytes
  /// Whether it has the message of a JSON record that stands over several lines.
  let beginsRecord: Bool

  /// Takes a line apart.
  init(_ bytes: ArraySlice<UInt8>) {
    var line = LogBytes(bytes)
    if bytes.contains(0x1B) { line = line.withoutColours }
    let stamped = line.bytes
    line = line.withoutStamp
    let record = LogRecord(line)
    beginsRecord = record != nil && line.withoutIndent.first == UInt8(ascii: "\"")
    if let record { line = record.message }
    text = line
    prefix = line
    // The format of a record's message is no message.
    if record == nil, LogRecord.isKey(line) { return }
    if let found = LogLine.marked(line) ?? LogLine.categorised(line) ?? LogLine.bare(line) {
      message = (found.logClass, found.text.trimmed)
      prefix = LogBytes(line.bytes[..<found.start])
    }
    // The stamp's time is the line's.
    if record == nil { prefix = LogBytes(stamped[..<prefix.bytes.endIndex]) }
    if let record { prefix = record.prefix }
  }

  /// The time in front; empty where there is none.
  var time: LogTime { LogTime(in: prefix) }

  /// The thread's number in front, as the log has it: `App[73416:2971038]`, or the `0x1a2b` of
  /// `log show`; empty where there is none.
  var lane: String {
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
    // With a category in brackets behind it, `[pid:tid]` is not the last pair.
    for part in prefix.bytes.split(separator: UInt8(ascii: "[")).dropFirst() {
      if let thread = LogBytes(part).before("]").thread { return thread.string }
    }
    return ""
  }

  private typealias Found = (logClass: LogClass, text: LogBytes, start: Int)

  /// `CoreData: sql: …` anywhere in the line, the beginning of the line cut off or not.
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
    return beheaded(line)
  }

  /// Whether a message may begin behind a prefix: `we use CoreData: yes` is an app's own print.
  private static func isBeginning(_ prefix: LogBytes) -> Bool {
    guard let last = prefix.trimmed.last else { return true }
    return "]:)|>".utf8.contains(last)
  }

  /// `ata: sql: BEGIN EXCLUSIVE`: the end of `CoreData` at the beginning of a line.
  private static func beheaded(_ line: LogBytes) -> Found? {
    guard let colon = line.range(of: ": ")?.lowerBound, colon - line.bytes.startIndex < 8 else {
      return nil
    }
    let name = Array("CoreData".utf8)
    let head = line.bytes[..<colon]
    guard name.suffix(head.count).elementsEqual(head) else { return nil }
    let (logClass, text) = classified(LogBytes(line.bytes[(colon + 2)...]))
    return logClass.map { ($0, text, line.bytes.startIndex) }
  }

  /// `[com.apple.coredata:sql] …`, where the message itself does not say what it is.
  private static func categorised(_ line: LogBytes) -> Found? {
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

  /// `sql: SELECT …` without `CoreData:`, as people who quote logs leave it.
  ///
  /// An app's own prints may begin so too; words that many programs use are not taken alone.
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

  /// The class in front of a text, and the rest.
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
  /// The thread of `73416:2971038`; nil for anything else, such as a time.
  fileprivate var thread: LogBytes? {
    guard first?.isDigit == true, let thread = after(":"), !thread.isEmpty,
      thread.bytes.allSatisfy({ $0.isWord })
    else { return nil }
    return thread
  }
}
