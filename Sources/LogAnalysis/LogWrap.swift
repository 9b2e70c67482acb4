import StatementAnalysis

/// The way a log was wrapped at a column by the terminal, the console, or the page that it was
/// copied from.
package struct LogWrap: Sendable, Equatable {
  /// Where lines were wrapped.
  package enum Kind: String, Sendable {
    /// After a number of characters, including inside words.
    case anywhere
    /// At the last space before the column, which is lost.
    case atSpaces
  }

  /// The column widths of terminals.
  ///
  /// Other widths aren't considered.
  static let columns = 40...512
  /// The maximum number of spaces at the end of a line that a terminal doesn't copy.
  static let lostSpaces = 2

  package let kind: Kind
  /// The maximum number of characters in a line.
  package let column: Int
  /// Whether each line of the log begins with a time, so a line without one continues the previous
  /// line.
  let isTimed: Bool

  /// Detects the column from the beginning of a log.
  ///
  /// Returns `nil` if there's no evidence that lines were wrapped.
  ///
  /// The evidence is a statement, or the line of a fault, whose end is missing at the column and
  /// that is followed by a line that doesn't begin a message. Lines of equal length aren't
  /// sufficient, because a statement can be executed a hundred times.
  init?(of sample: [ArraySlice<UInt8>]) {
    // The log is usually wider, and its lines don't need to be parsed.
    let widths = sample.map(LogWrap.width)
    guard let widest = widths.max(), LogWrap.columns.contains(widest) else { return nil }
    var evidence = Evidence()
    for index in sample.indices.dropLast() {
      let (line, following) = (sample[index], sample[index + 1])
      if widths[index] < widest, LogWrap.isWhole(line, before: following) { continue }
      evidence.take(
        LogLine(line), line, width: widths[index], of: widest, before: LogLine(following), following
      )
    }
    guard let kind = evidence.kind else { return nil }
    self.kind = kind
    column = widest
    isTimed = LogWrap.isTimed(sample, widths, widest)
  }

  /// Returns whether a line is certainly not wrapped if it isn't as wide as the widest: a message
  /// that another one follows, or an object in the list of a fetch.
  private static func isWhole(
    _ line: ArraySlice<UInt8>, before next: ArraySlice<UInt8>
  ) -> Bool {
    if LogLine.listed(LogBytes(line)) != nil { return true }
    guard let message = StandardLine(line), message.text < message.end else { return false }
    return StandardLine(next) != nil
  }

  /// Returns whether nearly all lines that begin a message, because they don't continue another,
  /// begin with a time.
  private static func isTimed(
    _ sample: [ArraySlice<UInt8>], _ widths: [Int], _ widest: Int
  ) -> Bool {
    var (lines, timed) = (0, 0)
    for index in sample.indices.dropLast() {
      let following = sample[index + 1]
      // If the next word fits, another line begins.
      if widths[index] < widest - lostSpaces, !overflows(widths[index], by: following, widest),
        widths[index + 1] == widest || isTimed(following) || LogLine(following).message != nil
      {
        lines += 1
        if isTimed(following) { timed += 1 }
      }
    }
    return lines > 0 && timed * 10 >= lines * 9
  }

  /// Returns the number of characters in a line.
  ///
  /// In invalid UTF-8, bytes that could begin a character are counted.
  static func width(_ line: ArraySlice<UInt8>) -> Int {
    line.withUnsafeBufferPointer { bytes in
      var (width, index) = (0, 0)
      while index < bytes.count {
        // A byte can't overflow in a part of this length, so that many are examined at a time.
        var part: UInt8 = 0
        let end = min(index &+ 255, bytes.count)
        while index < end {
          part = part &+ (bytes[index] & 0xC0 == 0x80 ? 0 : 1)
          index &+= 1
        }
        width += Int(part)
      }
      return width
    }
  }

  /// Returns whether the first word of a line didn't fit on the previous line.
  static func overflows(_ width: Int, by next: ArraySlice<UInt8>, _ column: Int) -> Bool {
    let word = next.prefix { !$0.isWhitespace }
    return !word.isEmpty && width + 1 + LogWrap.width(word) > column
  }

  /// Returns whether a line begins with a time.
  static func isTimed(_ line: ArraySlice<UInt8>) -> Bool {
    LogTime(in: LogBytes(line.prefix(32))).seconds != nil
  }

  /// Returns whether the line break is in a mark such as `CoreData: sql: ` or `cdprof: `, or
  /// directly after it.
  static func isInClassPrefix(
    _ line: ArraySlice<UInt8>, _ next: ArraySlice<UInt8>, _ spaces: Int
  ) -> Bool {
    let isFirst: (UInt8) -> Bool = { $0 == UInt8(ascii: "C") || $0 == UInt8(ascii: "c") }
    let end = line.suffix(40)
    guard end.contains(where: isFirst) else { return false }
    let tail = Array(end) + repeatElement(UInt8(ascii: " "), count: spaces)
    return tail.indices.contains { start in
      guard isFirst(tail[start]), start == 0 || !tail[start - 1].isWord else { return false }
      let begun = tail[start...]
      return classPrefixes.contains { mark in
        mark.starts(with: begun) && next.starts(with: mark.dropFirst(begun.count))
      }
    }
  }

  /// Returns whether the line break is in a record of `log show --style ndjson`.
  private static func isInRecord(_ line: ArraySlice<UInt8>, _ next: ArraySlice<UInt8>) -> Bool {
    line.starts(with: "{\"".utf8) && line.last != UInt8(ascii: "}")
      && next.first != UInt8(ascii: "{")
  }

  /// Returns whether Core Data puts two spaces before a word, so one is left after wrapping at a
  /// space.
  private static func hasTwoSpaces(before next: LogBytes) -> Bool {
    guard let first = SQLToken.all(in: next).first else { return false }
    return first.isColumn || first.keyword == "LIMIT"
  }

  private static let classPrefixes: [[UInt8]] =
    LogClass.allCases.filter { ![.message, .cdprof].contains($0) }
    .map { Array("CoreData: \($0.name): ".utf8) } + [Array("cdprof: ".utf8)]

  /// The evidence for and against wrapping at the widest line.
  private struct Evidence {
    /// The number of lines wrapped at the column.
    var full = 0
    /// Of those, the number of lines that didn't lose a space.
    var inWords = 0
    /// Of those, the number of lines that lost a space: a keyword is before the line break, and
    /// another word is after it.
    var betweenWords = 0
    /// The number of lines wrapped before the column, because the next word didn't fit.
    var atSpaces = 0
    /// The number of lines broken where the next word fits, by the writer of the log.
    var elsewhere = 0
    /// The number of complete lines that are as wide as the widest.
    var whole = 0
    /// Whether statements that are as wide as the widest line are broken, by text.
    ///
    /// Many are repeated.
    private var broken: [LogBytes: Bool] = [:]

    mutating func take(
      _ line: LogLine, _ bytes: ArraySlice<UInt8>, width: Int, of widest: Int,
      before next: LogLine, _ following: ArraySlice<UInt8>
    ) {
      let message = LogMessage(line)
      let isFull = width == widest
      if isFull,
        LogWrap.isInClassPrefix(bytes, following, 0) || LogWrap.isInRecord(bytes, following)
      {
        full += 1
        inWords += 1
        return
      }
      if message?.text.isEmpty == true, next.message != nil, LogWrap.isTimed(bytes),
        !LogWrap.isTimed(following)
      {
        takePrefix(isFull: isFull, bytes, following, of: widest)
        return
      }
      if next.message != nil || next.text.trimmed.isEmpty {
        if isFull, let message, !isBroken(message) { whole += 1 }
        return
      }
      guard let message, message.isEvidence(with: next.text, isFull: isFull) else { return }
      if widest - width <= LogWrap.lostSpaces {
        full += 1
        let keepsSpace =
          line.text.last?.isWhitespace == true && !LogWrap.hasTwoSpaces(before: next.text)
        if isFull, keepsSpace || message.isBrokenInWord(by: next.text) {
          inWords += 1
        } else if isFull, message.endsInKeyword, next.text.first?.isWord == true {
          betweenWords += 1
        }
      } else if LogWrap.overflows(width, by: following, widest) {
        atSpaces += 1
      } else {
        elsewhere += 1
      }
    }

    private mutating func isBroken(_ message: LogMessage) -> Bool {
      guard message.logClass == .sql else { return message.isBroken }
      if let known = broken[message.text] { return known }
      let isBroken = message.isBroken
      broken[message.text] = isBroken
      return isBroken
    }

    /// Processes a line that ends after a logger's prefix.
    private mutating func takePrefix(
      isFull: Bool, _ bytes: ArraySlice<UInt8>, _ following: ArraySlice<UInt8>, of widest: Int
    ) {
      if isFull, bytes.last?.isWhitespace == true || following.first?.isWhitespace == true {
        full += 1
        inWords += 1
      } else if LogWrap.overflows(LogWrap.width(bytes), by: following, widest) {
        atSpaces += 1
      }
    }

    var kind: Kind? {
      // A short line can be as wide as the column by chance, and occur many times.
      guard whole <= 8 * (full + atSpaces) else { return nil }
      if full >= 2, inWords > 0, (atSpaces + betweenWords + elsewhere) * 4 <= full {
        return .anywhere
      }
      let all = full + atSpaces
      guard all >= 3, atSpaces > 0 || betweenWords > 1 else { return nil }
      return inWords * 4 <= all && elsewhere * 8 <= all ? .atSpaces : nil
    }
  }
}

extension LogMessage {
  /// Creates the message of a line, or returns `nil` if the line has none.
  init?(_ line: LogLine) {
    guard let (logClass, text) = line.message else { return nil }
    self.init(line: 0, logClass: logClass, text: text)
  }

  /// Whether the end of the message is missing, although the log doesn't mark it as truncated.
  var isBroken: Bool {
    switch logClass {
    case .sql: !SQLText(text).isMarkedTruncated && !SQLText(text).isComplete
    case .annotation where text.contains(" time: "): !LogMessage.endsTime(text)
    case .annotation, .cdprof: brackets <= 0 && isIncomplete
    default: false
    }
  }

  /// Returns whether the line ends inside a word, which doesn't happen when lines are wrapped at
  /// spaces.
  func isBrokenInWord(by next: LogBytes) -> Bool {
    guard let last = text.last, let first = next.first else { return false }
    if first.isWhitespace || ",.".utf8.contains(first) || last == UInt8(ascii: ".") { return true }
    // A URI has no spaces, so it would be on the next line in full.
    if let uri = text.after("<x-coredata://") { return !uri.bytes.contains(UInt8(ascii: ">")) }
    guard logClass == .sql else { return false }
    // `VALUES(?, ?)` has no space after the parenthesis.
    if last == UInt8(ascii: "("), first == UInt8(ascii: "?") { return true }
    guard last.isWord, !endsInKeyword else { return false }
    return first == UInt8(ascii: "(") || first.isWord && SQLText.isTail(next)
  }

  /// Whether the statement ends with a complete SQL keyword.
  var endsInKeyword: Bool {
    logClass == .sql && SQLText.keyword(atEndOf: text) != nil
  }

  /// Returns whether the message and the next line, which doesn't begin a message, show that a line
  /// was wrapped.
  ///
  /// A statement that the log truncated is followed by an app's own output, not by more SQL.
  func isEvidence(with next: LogBytes, isFull: Bool) -> Bool {
    guard logClass == .sql else { return isBroken }
    return isBroken && SQLText(text).mayBeContinued(by: next)
      || isFull && isSurelyBroken(by: next)
  }

  /// Returns whether a line must be the rest of a statement that looks complete: `… t0 WHE`,
  /// `RE t0.ZDATE > ?`.
  func isSurelyBroken(by next: LogBytes) -> Bool {
    logClass == .sql && SQLText(text).mayBeContinued(by: next)
      && SQLToken.all(in: next).contains { $0.isColumn || $0.isSign("?") }
  }

  /// Returns whether a line continues the message after a full line.
  ///
  /// A complete message accepts only lines that are certainly not an app's own output.
  func isContinued(by next: LogBytes) -> Bool {
    switch logClass {
    case .sql: SQLText(text).mayBeContinued(by: next) || isBroken && accepts(next)
    case .annotation where text.contains(" time: "): !LogMessage.endsTime(text)
    case .annotation where text.contains("sql text '"):
      !(text.contains("' returned ") && (text.contains(" rows") || text.ends(with: "(")))
    case .annotation: isIncomplete || LogKind(logClass, text) == nil
    case .details where text.contains("EXPLAIN QUERY PLAN"): accepts(next)
    case .details: isIncomplete || text.ends(with: "=") || LogKind(logClass, text) == nil
    case .cdprof:
      // The name of a section can be any text.
      isIncomplete || text.starts(with: "begin ")
        || LogMessage.ownBeginnings.contains { $0.utf8.starts(with: text.bytes) }
    default: true
    }
  }

  /// The beginnings of OpenCoreData's own messages, as far as their ends depend on them.
  private static let ownBeginnings = [
    "annotation: fault fulfilled from ", "annotation: to-many relationship fault ",
    "annotation: save execution time", "annotation: this log has ", "begin ",
  ]

  /// Returns whether the line of a time is complete: `0.0001s`, `for 12 rows`, `for count of 3`.
  private static func endsTime(_ text: LogBytes) -> Bool {
    if text.starts(with: "total fetch") {
      return text.ends(with: "rows.") || text.ends(with: "rows")
    }
    if text.starts(with: "total count") {
      return text.contains("count of ") && text.ends(with: ".")
    }
    return text.ends(with: "s") || text.ends(with: "s.")
  }
}

extension SQLText {
  /// Returns whether a line after a complete statement as wide as the column must be the rest of
  /// it.
  func mayBeContinued(by line: LogBytes) -> Bool {
    let tokens = SQLToken.all(in: line)
    guard let first = tokens.first else { return false }
    if verb == nil { return !text.ends(with: "<private>") }
    if SQLToken.all(in: text).last?.kind == .open { return true }
    if verb == .pragma, !text.contains("=") {
      // The pragma's name, or the rest of it, and its value.
      return tokens.count == 1 || tokens.contains { $0.isSign("=") }
    }
    let breaksName =
      text.last?.isWord == true && line.first?.isWord == true
      && (first.text.bytes.allSatisfy(SQLText.isOfName) || mayEndInLowerCase)
    return tokens.enumerated().allSatisfy { index, token in
      if index == 0, breaksName { return true }
      return token.kind == .sign || token.kind == .quoted || token.isColumn || token.isStoreName
        || token.isAlias || token.text.starts(with: "NSCo")
        || SQLText.clauses.contains(token.text.string)
        || token.text.bytes.allSatisfy(\.isDigit) || token.text.starts(with: "_Z_")
        || token.text.contains("_") && token.text.bytes.allSatisfy(SQLText.isOfName)
    }
  }

  /// Whether the statement ends with a name that Core Data doesn't write in uppercase: a pragma's
  /// name, `_Z_intarray0`, or `NSCollateLocaleSensitive`.
  private var mayEndInLowerCase: Bool {
    let last = SQLToken.all(in: text).last?.text
    return verb == .pragma || last?.starts(with: "NS") == true || last?.starts(with: "_Z_") == true
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    byte.isUpper || byte.isDigit || byte >= 0x80 || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: ".")
  }
}
