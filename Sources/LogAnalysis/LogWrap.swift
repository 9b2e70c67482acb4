import StatementAnalysis

/// How a log was broken at a column by the terminal, the console or the page that it was copied from.
package struct LogWrap: Sendable, Equatable {
  /// Where lines were broken.
  package enum Kind: String, Sendable {
    /// Behind so many characters, in the middle of a word as well.
    case anywhere
    /// At the last blank before the column, which is gone.
    case atBlanks
  }

  /// Narrower than any terminal, wider than any: such lines were not broken by one.
  static let columns = 40...512
  /// Blanks at the end of a line that a terminal does not copy.
  static let lostBlanks = 2

  package let kind: Kind
  /// The most characters of a line.
  package let column: Int
  /// Whether each line of the log begins with a time, so that one without goes on with the line before.
  let isTimed: Bool

  /// Finds the column in the beginning of a log; nil when nothing proves that it was broken at one.
  ///
  /// A proof is a statement, or a fault's line, that lacks its end where the column is and is followed by a
  /// line that begins nothing. Lines of one length alone prove nothing: one statement may run a hundred times.
  init?(of sample: [ArraySlice<UInt8>]) {
    let lines = sample.map { (width: LogWrap.width($0), line: LogLine($0)) }
    guard let widest = lines.map(\.width).max(), LogWrap.columns.contains(widest) else {
      return nil
    }
    var signs = Signs()
    for (index, (width, line)) in lines.enumerated().dropLast() {
      signs.take(
        line, sample[index], width: width, of: widest, before: lines[index + 1].line,
        sample[index + 1])
    }
    guard let kind = signs.kind else { return nil }
    self.kind = kind
    column = widest
    isTimed = signs.lines > 0 && signs.timed * 10 >= signs.lines * 9
  }

  /// Characters of a line; of bytes that aren't UTF-8 those count that could begin one.
  static func width(_ line: ArraySlice<UInt8>) -> Int {
    line.count { $0 & 0xC0 != 0x80 }
  }

  /// Whether the first word of a line had no room behind the line before.
  static func overflows(_ width: Int, by next: ArraySlice<UInt8>, _ column: Int) -> Bool {
    let word = next.prefix { !$0.isBlank }
    return !word.isEmpty && width + 1 + LogWrap.width(word) > column
  }

  /// Whether a line begins with a time.
  static func isTimed(_ line: ArraySlice<UInt8>) -> Bool {
    LogTime(in: LogBytes(line.prefix(32))).seconds != nil
  }

  /// Whether the break is inside of a mark such as `CoreData: sql: `, or right behind it.
  static func isInMark(
    _ line: ArraySlice<UInt8>, _ next: ArraySlice<UInt8>, _ blanks: Int
  ) -> Bool {
    let tail = Array(line.suffix(40)) + repeatElement(UInt8(ascii: " "), count: blanks)
    guard tail.contains(UInt8(ascii: "C")) else { return false }
    return marks.contains { mark in
      (1...min(mark.count, tail.count)).contains { length in
        tail.suffix(length).elementsEqual(mark.prefix(length))
          && next.starts(with: mark.dropFirst(length))
          && tail.dropLast(length).last?.isWord != true
      }
    }
  }

  /// Whether the break is inside of a record of `log show --style ndjson`.
  private static func isInRecord(_ line: ArraySlice<UInt8>, _ next: ArraySlice<UInt8>) -> Bool {
    line.starts(with: "{\"".utf8) && line.last != UInt8(ascii: "}")
      && next.first != UInt8(ascii: "{")
  }

  /// Whether Core Data puts two blanks before a word, of which a break at blanks leaves one.
  private static func hasTwoBlanks(before next: LogBytes) -> Bool {
    guard let first = SQLToken.all(in: next).first else { return false }
    return first.isColumn || first.keyword == "LIMIT"
  }

  private static let marks = LogClass.allCases.filter { ![.message, .cdprof].contains($0) }
    .map { Array("CoreData: \($0.rawValue): ".utf8) }

  /// What speaks for a break at the widest line, and what against it.
  private struct Signs {
    /// Broken where the column is.
    var full = 0
    /// Of those, the ones that no blank was lost at.
    var inWords = 0
    /// Of those, the ones that surely lost one: a keyword stands before the break, another word behind it.
    var betweenWords = 0
    /// Broken before, where the next word had no room.
    var atBlanks = 0
    /// Broken where there was room, by the writer of the log.
    var elsewhere = 0
    /// As wide as the widest, and whole.
    var whole = 0
    /// Lines that begin something, and those of them with a time.
    var lines = 0
    var timed = 0

    mutating func take(
      _ line: LogLine, _ bytes: ArraySlice<UInt8>, width: Int, of widest: Int,
      before next: LogLine, _ following: ArraySlice<UInt8>
    ) {
      let message = LogMessage(line)
      let isFull = width == widest
      // Where there was room, another line begins.
      if width < widest - LogWrap.lostBlanks, !LogWrap.overflows(width, by: following, widest),
        next.message != nil || LogWrap.width(following) == widest || LogWrap.isTimed(following)
      {
        lines += 1
        if LogWrap.isTimed(following) { timed += 1 }
      }
      if isFull, LogWrap.isInMark(bytes, following, 0) || LogWrap.isInRecord(bytes, following) {
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
        if isFull, message?.isBroken == false { whole += 1 }
        return
      }
      guard let message, message.isProof(with: next.text, isFull: isFull) else { return }
      if widest - width <= LogWrap.lostBlanks {
        full += 1
        let keepsBlank = line.text.last?.isBlank == true && !LogWrap.hasTwoBlanks(before: next.text)
        if isFull, keepsBlank || message.isBrokenInWord(by: next.text) {
          inWords += 1
        } else if isFull, message.endsInKeyword, next.text.first?.isWord == true {
          betweenWords += 1
        }
      } else if LogWrap.overflows(width, by: following, widest) {
        atBlanks += 1
      } else {
        elsewhere += 1
      }
    }

    /// A line that ends behind what a logger puts in front of a message.
    private mutating func takePrefix(
      isFull: Bool, _ bytes: ArraySlice<UInt8>, _ following: ArraySlice<UInt8>, of widest: Int
    ) {
      if isFull, bytes.last?.isBlank == true || following.first?.isBlank == true {
        full += 1
        inWords += 1
      } else if LogWrap.overflows(LogWrap.width(bytes), by: following, widest) {
        atBlanks += 1
      }
    }

    var kind: Kind? {
      // One short line may be as wide as the column by chance, and come again and again.
      guard whole <= 8 * (full + atBlanks) else { return nil }
      if full >= 2, inWords > 0, (atBlanks + betweenWords + elsewhere) * 4 <= full {
        return .anywhere
      }
      let all = full + atBlanks
      guard all >= 3, atBlanks > 0 || betweenWords > 1 else { return nil }
      return inWords * 4 <= all && elsewhere * 8 <= all ? .atBlanks : nil
    }
  }
}

extension LogMessage {
  /// The message of a line that has one.
  init?(_ line: LogLine) {
    guard let (logClass, text) = line.message else { return nil }
    self.init(line: 0, logClass: logClass, text: text, time: LogTime(), lane: "")
  }

  /// Whether its end is missing and the log does not say that it was cut.
  var isBroken: Bool {
    switch logClass {
    case .sql: !SQLText(text).isMarkedCut && !SQLText(text).isComplete
    case .annotation where text.contains(" time: "): !LogMessage.endsTime(text)
    case .annotation: brackets <= 0 && wantsMore
    default: false
    }
  }

  /// Whether the end of the line stands in the middle of a word, as no break at a blank leaves it.
  func isBrokenInWord(by next: LogBytes) -> Bool {
    guard let last = text.last, let first = next.first else { return false }
    if first.isBlank || ",.".utf8.contains(first) || last == UInt8(ascii: ".") { return true }
    // A URI has no blanks, and would have moved to the next line as a whole.
    if let uri = text.after("<x-coredata://") { return !uri.bytes.contains(UInt8(ascii: ">")) }
    guard logClass == .sql, last.isWord, !endsInKeyword else { return false }
    return first == UInt8(ascii: "(") || first.isWord && SQLText.isTail(next)
  }

  /// Whether a statement ends with a whole word of SQL.
  var endsInKeyword: Bool {
    guard logClass == .sql, let word = SQLToken.all(in: text).last?.keyword else { return false }
    return SQLText.clauses.contains(word) || SQLText.Verb(rawValue: word) != nil
  }

  /// Whether the message and a line that begins nothing show that one line was broken.
  ///
  /// A statement that its writer cut has an app's print behind it, not more SQL.
  func isProof(with next: LogBytes, isFull: Bool) -> Bool {
    guard logClass == .sql else { return isBroken }
    return isBroken && SQLText(text).mayGoOn(with: next)
      || isFull && isSurelyBroken(by: next)
  }

  /// Whether a line can only be the rest of a statement that seems whole: `… t0 WHE`, `RE t0.ZDATE > ?`.
  func isSurelyBroken(by next: LogBytes) -> Bool {
    logClass == .sql && SQLText(text).mayGoOn(with: next)
      && SQLToken.all(in: next).contains { $0.isColumn || $0.isSign("?") }
  }

  /// Whether a line goes on with the message, when it stands where a full line was broken.
  ///
  /// A message that is whole takes only what is surely not an app's own print.
  func goesOn(with next: LogBytes) -> Bool {
    switch logClass {
    case .sql: SQLText(text).mayGoOn(with: next) || isBroken && accepts(next)
    case .annotation where text.contains(" time: "): !LogMessage.endsTime(text)
    case .annotation where text.contains("sql text '"):
      !(text.contains("' returned ") && (text.contains(" rows") || text.ends(with: "(")))
    case .annotation: wantsMore || LogKind(logClass, text) == nil
    case .details where text.contains("EXPLAIN QUERY PLAN"): accepts(next)
    case .details: wantsMore || text.ends(with: "=") || LogKind(logClass, text) == nil
    case .cdprof:
      // Of ours, the hits of the row cache are longer than a column is wide.
      (text.starts(with: "annotation: fault ")
        || "annotation: fault ".utf8.starts(with: text.bytes))
        && !text.bytes.contains(UInt8(ascii: ">"))
    default: true
    }
  }

  /// Whether a time's line has its last word: `0.0001s`, `for 12 rows`, `for count of 3`.
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
  /// Whether a line behind a whole statement, as wide as the column, can only be the rest of it.
  func mayGoOn(with line: LogBytes) -> Bool {
    let tokens = SQLToken.all(in: line)
    guard let first = tokens.first else { return false }
    if verb == nil { return !text.ends(with: "<private>") }
    if SQLToken.all(in: text).last?.kind == .open { return true }
    if verb == .pragma, !text.contains("=") {
      // Its name, or the rest of it, and its value.
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

  /// Whether it ends in a name that Core Data does not write in capitals: a pragma's, `_Z_intarray0`,
  /// `NSCollateLocaleSensitive`.
  private var mayEndInLowerCase: Bool {
    let last = SQLToken.all(in: text).last?.text
    return verb == .pragma || last?.starts(with: "NS") == true || last?.starts(with: "_Z_") == true
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    byte.isUpper || byte.isDigit || byte >= 0x80 || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: ".")
  }
}
