import WorkbenchText

/// Rejoins the lines of a log that were wrapped at a column.
///
/// If no lines were wrapped, each line passes unchanged. Only the beginning of the log is buffered,
/// to detect the column.
struct WrappedLineJoiner {
  /// An original line of the log, with the number of lines it was wrapped into.
  typealias Line = (bytes: ArraySlice<UInt8>, lineCount: Int)

  /// The maximum number of lines and bytes that are examined to detect the column.
  private static let sample = (lines: 20_000, bytes: 4 << 20)

  /// The detected wrapping, or `nil` if lines weren't wrapped.
  private(set) var wrap: LogWrap?
  private let source: () -> ArraySlice<UInt8>?
  /// The lines that were read but not returned yet, in reverse order.
  private var waiting: [ArraySlice<UInt8>] = []

  /// Creates a joiner.
  ///
  /// - Parameter source: A closure that returns the lines of the file, and `nil` at the end.
  init(_ source: @escaping () -> ArraySlice<UInt8>?) {
    self.source = source
    var read: [ArraySlice<UInt8>] = []
    var bytes = 0
    while read.count < WrappedLineJoiner.sample.lines, bytes < WrappedLineJoiner.sample.bytes,
      let line = source()
    {
      read.append(line)
      bytes += line.count
    }
    wrap = LogWrap(of: read)
    waiting = read.reversed()
  }

  /// Returns the next line, or `nil` at the end of the log.
  mutating func next() -> Line? {
    guard var line = physicalLine() else { return nil }
    guard let wrap else { return (line, 1) }
    var lineCount = 1
    var width = LogWrap.width(line)
    while lineCount < InputLimits.joinedLines, let following = physicalLine() {
      guard let spaces = wrap.spaces(between: line, width, following) else {
        waiting.append(following)
        break
      }
      line = (Array(line) + repeatElement(UInt8(ascii: " "), count: spaces) + following)[...]
      width = LogWrap.width(following)
      lineCount += 1
    }
    return (line, lineCount)
  }

  /// Returns the next line as the file contains it, or `nil` at the end of the log.
  mutating func physicalLine() -> ArraySlice<UInt8>? {
    if let line = waiting.popLast() { return line }
    return source()
  }
}

extension LogWrap {
  /// Returns the number of spaces that were lost between a line and its continuation, or `nil` if
  /// the next line isn't a continuation.
  ///
  /// - Parameters:
  ///   - line: The line so far.
  ///   - width: The number of characters in the last of its lines in the file.
  ///   - next: The next line.
  fileprivate func spaces(
    between line: ArraySlice<UInt8>, _ width: Int, _ next: ArraySlice<UInt8>
  ) -> Int? {
    guard let first = next.first, next.contains(where: { !$0.isWhitespace }), width <= column else {
      return nil
    }
    let lost: Int
    switch kind {
    case .anywhere:
      lost = column - width
      guard lost <= LogWrap.lostSpaces, lost == 0 || !first.isWhitespace else { return nil }
    case .atSpaces:
      lost = 1
      guard LogWrap.overflows(width, by: next, column) else { return nil }
    }
    return isContinued(line, by: next, lost) ? lost : nil
  }

  private func isContinued(
    _ line: ArraySlice<UInt8>, by next: ArraySlice<UInt8>, _ spaces: Int
  ) -> Bool {
    if line.first == UInt8(ascii: "{") { return next.first != UInt8(ascii: "{") }
    if isTimed, LogWrap.isTimed(next) { return false }
    let following = LogLine(next)
    if LogWrap.isInClassPrefix(line, next, spaces) { return true }
    let message = LogMessage(LogLine(line))
    // The time and the process are on this line, and the message is on the next.
    if message?.text.isEmpty ?? true, following.message != nil {
      return isTimed && LogWrap.isTimed(line)
    }
    guard let message else { return false }
    return following.message == nil && message.isContinued(by: LogBytes(next))
  }
}
