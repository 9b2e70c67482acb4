/// Puts the lines of a log together again that were broken at a column.
///
/// Where none were, each line passes as it is. Only the beginning of the log is kept, to find the column.
struct WrappedLineJoiner {
  /// A line of the log as it was written, and how many lines it stands on now.
  typealias Line = (bytes: ArraySlice<UInt8>, pieces: Int)

  /// Lines and bytes of the beginning in which the column is looked for.
  private static let sample = (lines: 20_000, bytes: 4 << 20)
  /// A line goes on over no more lines than this.
  private static let mostPieces = 2_000

  /// The break that was found.
  private(set) var wrap: LogWrap?
  private let source: () -> ArraySlice<UInt8>?
  /// What was read and not given yet, the next at the end.
  private var waiting: [ArraySlice<UInt8>] = []

  /// - Parameter source: The lines as they are; nil at the end.
  init(_ source: @escaping () -> ArraySlice<UInt8>?) {
    self.source = source
    var read: [ArraySlice<UInt8>] = []
    var bytes = 0
    while read.count < WrappedLineJoiner.sample.lines, bytes < WrappedLineJoiner.sample.bytes,
      let line = source()
    {
      // A slice of its own, as the source's buffer moves on.
      read.append(Array(line)[...])
      bytes += line.count
    }
    wrap = LogWrap(of: read)
    waiting = read.reversed()
  }

  /// The next line; nil at the end of the log.
  mutating func next() -> Line? {
    guard var line = piece() else { return nil }
    guard let wrap else { return (line, 1) }
    var pieces = 1
    var width = LogWrap.width(line)
    while pieces < WrappedLineJoiner.mostPieces, let following = piece() {
      guard let blanks = wrap.blanks(between: line, width, following) else {
        waiting.append(following)
        break
      }
      line = (Array(line) + repeatElement(UInt8(ascii: " "), count: blanks) + following)[...]
      width = LogWrap.width(following)
      pieces += 1
    }
    return (line, pieces)
  }

  private mutating func piece() -> ArraySlice<UInt8>? {
    waiting.popLast() ?? source()
  }
}

extension LogWrap {
  /// How many blanks were lost between a line and the one that goes on with it; nil when it does not.
  ///
  /// - Parameter width: Characters of the last piece of the line.
  fileprivate func blanks(
    between line: ArraySlice<UInt8>, _ width: Int, _ next: ArraySlice<UInt8>
  ) -> Int? {
    guard let first = next.first, next.contains(where: { !$0.isBlank }), width <= column else {
      return nil
    }
    let lost: Int
    switch kind {
    case .anywhere:
      lost = column - width
      guard lost <= LogWrap.lostBlanks, lost == 0 || !first.isBlank else { return nil }
    case .atBlanks:
      lost = 1
      guard LogWrap.overflows(width, by: next, column) else { return nil }
    }
    return goesOn(line, with: next, lost) ? lost : nil
  }

  private func goesOn(
    _ line: ArraySlice<UInt8>, with next: ArraySlice<UInt8>, _ blanks: Int
  ) -> Bool {
    if line.first == UInt8(ascii: "{") { return next.first != UInt8(ascii: "{") }
    if isTimed, LogWrap.isTimed(next) { return false }
    let following = LogLine(next)
    if LogWrap.isInMark(line, next, blanks) { return true }
    let message = LogMessage(LogLine(line))
    // The time and the process are on this line, the message on the next.
    if message?.text.isEmpty ?? true, following.message != nil {
      return isTimed && LogWrap.isTimed(line)
    }
    guard let message else { return false }
    return following.message == nil && message.goesOn(with: LogBytes(next))
  }
}
