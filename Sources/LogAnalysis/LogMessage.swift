/// What one line of a log says, with the lines that continue it.
struct LogMessage {
  /// The line it begins on, counted from 1.
  var line: Int
  var logClass: LogClass
  /// Behind the class, without blanks at its ends.
  var text: LogBytes
  /// As the log has it; empty where it has none.
  var time: LogTime
  /// What tells one thread's lines from another's; empty where the log does not say.
  var lane: String
  /// Lines that continue it.
  var continued = 0
  /// Brackets that the lines so far have opened and not closed.
  var brackets: Int
  /// Lines of others that came since, while it waited for its end.
  var passed = 0

  init(line: Int, logClass: LogClass, text: LogBytes, time: LogTime, lane: String) {
    self.line = line
    self.logClass = logClass
    self.text = text
    self.time = time
    self.lane = lane
    brackets = LogMessage.balance(text)
  }
}

extension LogMessage {
  /// Whether something is seen to be missing at its end.
  var wantsMore: Bool {
    switch logClass {
    case .sql: !SQLText(text).isComplete
    case .details: text.contains("EXPLAIN QUERY PLAN") ? !explained.isComplete : isOpenQuote
    default: lacksItsEnd || brackets > 0
    }
  }

  /// Whether a line without a class goes on with it.
  func accepts(_ line: LogBytes) -> Bool {
    switch logClass {
    case .sql: return SQLText(text).accepts(line)
    case .details where text.contains("EXPLAIN QUERY PLAN"): return explained.accepts(line)
    case .details: return isOpenQuote && passed == 0
    default:
      if acceptsEnd(line) { return true }
      guard brackets > 0, passed == 0, let first = line.first else { return false }
      // The lines of a list or a dictionary are indented, its last one closes it.
      return first.isBlank || ")}]\"<;,".utf8.contains(first)
    }
  }

  /// Adds a line that it accepts.
  mutating func add(_ line: LogBytes) {
    continued += 1
    passed = 0
    // A list of a million objects is counted and not kept.
    guard text.count < 1 << 16 else {
      brackets += LogMessage.balance(line)
      return
    }
    if logClass == .sql {
      text = SQLText(text).adding(line)
    } else {
      brackets += LogMessage.balance(line)
      text = LogBytes((Array(text.bytes) + [UInt8(ascii: " ")] + Array(line.trimmed.bytes))[...])
    }
  }

  private var explained: SQLText {
    SQLText(text.after("EXPLAIN QUERY PLAN ") ?? text)
  }

  /// A bound text with a line feed in it: its closing quote is on a later line.
  private var isOpenQuote: Bool {
    guard let value = text.after(" = "), value.first == UInt8(ascii: "\"") else { return false }
    return value.count == 1 || value.last != UInt8(ascii: "\"")
  }

  /// Opening brackets without a closing one, those in quotes left out.
  static func balance(_ text: LogBytes) -> Int {
    var depth = 0
    var quote: UInt8?
    for byte in text.bytes {
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") {
        quote = byte
      } else if "({[".utf8.contains(byte) {
        depth += 1
      } else if ")}]".utf8.contains(byte) {
        depth -= 1
      }
    }
    return depth
  }

  /// Whether an annotation stops before the words it always ends with.
  private var lacksItsEnd: Bool {
    guard logClass == .annotation else { return false }
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
    return false
  }

  /// Whether a line is the end that an annotation lacks.
  private func acceptsEnd(_ line: LogBytes) -> Bool {
    guard lacksItsEnd, continued < 3 else { return false }
    let part = line.trimmed
    if part.contains("x-coredata://") { return true }
    var joined = self
    joined.text = LogBytes((Array(text.bytes) + [UInt8(ascii: " ")] + Array(part.bytes))[...])
    return !joined.lacksItsEnd && passed == 0
  }
}
