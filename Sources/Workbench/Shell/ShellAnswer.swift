/// What the shell says to one line.
package struct ShellAnswer: Sendable {
  /// Lines for standard output, without ends of line.
  package var lines: [String]
  /// Why the line was not done; nil when it was.
  package var failure: ShellFailure?
  /// Whether the shell is to end now.
  package var ends: Bool

  package init(_ lines: [String] = [], failure: ShellFailure? = nil, ends: Bool = false) {
    self.lines = lines
    self.failure = failure
    self.ends = ends
  }

  package init(_ line: String) {
    self.init([line])
  }
}
