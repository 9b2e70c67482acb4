import Foundation
import WorkbenchText

/// A message of a log: a line and the lines that continue it.
struct LogMessage {
  /// The number of its first line, starting at 1.
  var line: Int
  var logClass: LogClass
  /// The text after the class, trimmed.
  var text: LogBytes
  /// The time, as the log contains it.
  ///
  /// Empty if there is none.
  var time: LogTime
  var thread: LogThread
  /// The number of lines that continue it.
  var continued = 0
  /// The kind of the message, or `nil` if it isn't determined yet or unrecognized.
  private(set) var kind: LogKind?
  /// The time and the numbers in a message of a kind that has a time.
  private(set) var measurement = LogMeasurement()
  /// The number of unclosed brackets in all lines, once there are several.
  private var openBrackets: Int?
  /// The number of unclosed parentheses of a statement, once it has several lines.
  private var openParentheses: Int?
  /// Whether the statement of a message that is too long to be extended is complete.
  private var isLongComplete: Bool?
  /// The number of other lines since the message's last line.
  var passed = 0

  init(
    line: Int, logClass: LogClass, text: LogBytes, time: LogTime = LogTime(),
    thread: LogThread = .unknown
  ) {
    self.line = line
    self.logClass = logClass
    self.text = text
    self.time = time
    self.thread = thread
  }

  /// Determines the kind and the measurement from the text so far.
  ///
  /// A message with a time or a number beyond its limit is unrecognized.
  mutating func classify() {
    (kind, measurement) = LogMessage.classified(logClass, text)
    if kind == .fetchResult { openBrackets = LogMessage.balance(text) }
  }

  private static func classified(
    _ logClass: LogClass, _ text: LogBytes
  ) -> (LogKind?, LogMeasurement) {
    let kind = LogKind(logClass, text)
    guard kind?.isTimed == true else { return (kind, LogMeasurement()) }
    let measurement = LogMeasurement(text)
    return (measurement.isBeyondLimits ? nil : kind, measurement)
  }

  /// Whether the message is a fetch whose objects are on the next lines (level 3), which aren't
  /// kept.
  var listsObjects: Bool {
    logClass == .annotation && text.last == UInt8(ascii: "(")
      && text.starts(with: "fetch using ")
  }
}

extension LogMessage {
  /// The number of unclosed brackets so far.
  @inline(__always) var brackets: Int {
    // `??` would copy the message for its second operand, and a call for this property.
    if let openBrackets { return openBrackets }
    return LogMessage.balance(text)
  }

  /// Whether the message is visibly incomplete.
  var isIncomplete: Bool {
    guard statement == nil else { return !isStatementComplete }
    return logClass == .details ? isOpenQuote : lacksItsEnd || brackets > 0
  }

  /// Returns whether a line without a class continues the message.
  func accepts(_ line: LogBytes) -> Bool {
    if let statement { return statement.accepts(line, isComplete: isStatementComplete) }
    switch logClass {
    case .details: return isOpenQuote && passed == 0
    default:
      if !listsObjects, acceptsEnd(line) { return true }
      guard brackets > 0, passed == 0, let first = line.first else { return false }
      // The lines of a list or a dictionary are indented, and its last line closes it.
      return first.isWhitespace || ")}]\"<;,".utf8.contains(first)
    }
  }

  /// Adds an object in the list of a fetch, which isn't kept.
  ///
  /// - Parameter isWhole: Whether all brackets of the line are in the object's quotation marks.
  mutating func addObject(_ line: LogBytes, isWhole: Bool) {
    continued += 1
    passed = 0
    if !isWhole { openBrackets = brackets + LogMessage.balance(line) }
  }

  /// Adds a line that continues the message.
  mutating func add(_ line: LogBytes) {
    guard !listsObjects else { return addObject(line, isWhole: false) }
    continued += 1
    passed = 0
    if logClass != .sql { openBrackets = brackets + LogMessage.balance(line) }
    // Don't keep the text of very long lists.
    guard text.count < InputLimits.logMessage else {
      if isLongComplete == nil { isLongComplete = statement?.isComplete }
      return
    }
    if let statement {
      let known = openParentheses ?? statement.openParentheses
      openParentheses = known.flatMap { known in
        SQLText(line).openParentheses.map { known + $0 }
      }
    }
    if logClass == .sql {
      text = SQLText(text).adding(line)
    } else {
      text.bytes.append(UInt8(ascii: " "))
      text.bytes += line.trimmed.bytes
    }
  }

  /// The statement of the message, or `nil` if it has none.
  private var statement: SQLText? {
    switch logClass {
    case .sql: SQLText(text)
    case .details where text.contains("EXPLAIN QUERY PLAN"):
      SQLText(text.after("EXPLAIN QUERY PLAN ") ?? text)
    default: nil
    }
  }

  /// Whether the statement isn't visibly truncated.
  ///
  /// A long list of values has many lines, so all of them aren't read again for each.
  private var isStatementComplete: Bool {
    if let isLongComplete { return isLongComplete }
    guard let statement else { return true }
    let isInParentheses = (openParentheses ?? 0) > 0 && statement.needsClosingParentheses
    return !isInParentheses && statement.isComplete
  }

  /// Whether a bound string contains a newline, so that its closing quotation mark is on a later
  /// line.
  private var isOpenQuote: Bool {
    guard let value = text.after(" = "), value.first == UInt8(ascii: "\"") else { return false }
    return value.count == 1 || value.last != UInt8(ascii: "\"")
  }

  /// Returns the number of opening brackets minus the number of closing brackets, except those in
  /// quotation marks.
  static func balance(_ text: LogBytes) -> Int {
    text.bytes.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      var (depth, index) = (0, 0)
      while index < bytes.count {
        let quote = offset(of: 0x22, in: bytes, from: index)
        depth += unquotedBalance(start + index, (quote ?? bytes.count) - index)
        guard let quote, let end = offset(of: 0x22, in: bytes, from: quote + 1) else {
          return depth
        }
        index = end + 1
      }
      return depth
    }
  }

  private static func offset(
    of byte: UInt8, in bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int? {
    guard start < bytes.count, let base = bytes.baseAddress.map({ UnsafeRawPointer($0) }),
      let found = memchr(base + start, Int32(byte), bytes.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// Counts brackets without branches, so that the compiler examines many bytes at a time.
  private static func unquotedBalance(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
    var (depth, index) = (0, 0)
    while index < count {
      // A byte can't overflow in a part of this length.
      var part: Int8 = 0
      let end = min(index &+ 96, count)
      while index < end {
        let byte = bytes[index]
        // `{` and `}` are `[` and `]` with another bit.
        let square = byte & 0xDF
        let opens: Int8 =
          (byte == UInt8(ascii: "(") ? 1 : 0) | (square == UInt8(ascii: "[") ? 1 : 0)
        let closes: Int8 =
          (byte == UInt8(ascii: ")") ? 1 : 0) | (square == UInt8(ascii: "]") ? 1 : 0)
        part = part &+ opens &- closes
        index &+= 1
      }
      depth += Int(part)
    }
    return depth
  }

  /// The text of an annotation, or `nil` for other messages; OpenCoreData writes its own
  /// annotations with `cdprof:`.
  private var annotation: LogBytes? {
    switch logClass {
    case .annotation: text
    case .cdprof: text.starts(with: "annotation: ") ? text.after("annotation: ") : nil
    default: nil
    }
  }

  /// Whether an annotation lacks the words that it always ends with.
  private var lacksItsEnd: Bool {
    guard let text = annotation else { return false }
    if text.starts(with: "fault fulfilled from ") {
      guard let uri = text.after("<x-coredata://") else { return !text.contains("<private>") }
      return !uri.bytes.contains(UInt8(ascii: ">"))
    }
    if text.contains("relationship fault ") {
      return !(text.contains(" Got ") && (text.ends(with: "rows") || text.contains("rows ")))
        && !text.contains("rows.")
    }
    if text.starts(with: "total fetch execution time") { return !text.contains("rows") }
    if text.starts(with: "total count request") { return !text.contains("count of ") }
    if text.starts(with: "Connecting to sqlite database file at \"") {
      return (text.after("\"")?.bytes.contains(UInt8(ascii: "\""))) == false
    }
    if text.starts(with: "Prefetching with key") { return !text.contains("rows") }
    if text.starts(with: "save execution time") { return !text.contains("objects.") }
    if text.starts(with: "this log has ") { return !text.contains("save times") }
    return false
  }

  /// Returns whether a line is the missing end of an annotation.
  private func acceptsEnd(_ line: LogBytes) -> Bool {
    guard lacksItsEnd, continued < 3 else { return false }
    let part = line.trimmed
    if part.contains("x-coredata://") { return true }
    var joined = self
    joined.text = LogBytes((Array(text.bytes) + [UInt8(ascii: " ")] + Array(part.bytes))[...])
    return !joined.lacksItsEnd && passed == 0
  }
}

/// A thread of the app, identified by the hash of its name in the log.
///
/// The key of the hash differs between processes, so that a log can't contain names that collide.
struct LogThread: Hashable {
  /// The thread of messages whose prefix has none.
  static let unknown = LogThread(LogBytes(""))

  private let hash: UInt64

  init(_ name: LogBytes) {
    hash = name.keyedHash
  }
}
