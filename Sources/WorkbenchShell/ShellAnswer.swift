package import WorkbenchText

/// The result of a line of the shell.
package struct ShellAnswer: Sendable {
  /// The lines for standard output, without line feeds.
  package var lines: [String]
  /// The result as rows, for modes other than `table` or if `lines` is empty; nil for text.
  package var table: ShellTable?
  /// The lines after the table in the `table` mode.
  package var notes: [String] = []
  /// The reason why the line failed; nil if it succeeded.
  package var failure: CommandFailure?
  /// A Boolean value that indicates whether the shell quits.
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

  /// Returns the result in a mode, with lines only.
  ///
  /// - Parameters:
  ///   - mode: The mode for the result's rows.
  ///   - width: The width of the screen in characters; `nil` for no limit.
  func printed(in mode: ShellMode, width: Int?) -> ShellAnswer {
    guard let table, mode != .table || lines.isEmpty else { return self }
    return ShellAnswer(
      table.lines(mode, width: width) + (mode == .table ? notes : []), failure: failure, ends: ends)
  }
}
