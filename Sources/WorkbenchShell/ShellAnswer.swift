package import WorkbenchText

/// What the shell says to one line.
package struct ShellAnswer: Sendable {
  /// Lines for standard output, without ends of line.
  package var lines: [String]
  /// The same as rows, for modes other than `table`, or in place of lines; nil for running text.
  package var table: ShellTable?
  /// Why the line was not done; nil when it was.
  package var failure: CommandFailure?
  /// Whether the shell is to end now.
  package var ends: Bool

  package init(
    _ lines: [String] = [], table: ShellTable? = nil, failure: CommandFailure? = nil,
    ends: Bool = false
  ) {
    self.lines = lines
    self.table = table
    self.failure = failure
    self.ends = ends
  }

  package init(_ line: String) {
    self.init([line])
  }

  /// The answer as a mode prints it, in lines alone.
  func printed(in mode: ShellMode) -> ShellAnswer {
    guard let table, mode != .table || lines.isEmpty else { return self }
    return ShellAnswer(table.lines(mode), failure: failure, ends: ends)
  }
}
