/// The page that describes the commands, from which a manual takes what their declarations don't
/// contain: the synopsis, the exit statuses of all commands, and the environment.
struct CommandReference {
  /// A part of the page that doesn't exist.
  struct Missing: Error, CustomStringConvertible {
    /// What's missing: "the synopsis below the heading `cdprof run`".
    let part: String

    var description: String { "\(part) is missing" }
  }

  /// A row of a table with two columns.
  struct Row {
    let name: String
    let meaning: String
  }

  /// The lines below each heading of the second level.
  private let sections: [String: [String]]

  /// Creates a reference.
  ///
  /// - Parameter text: The page, in Markdown.
  init(_ text: String) {
    var sections: [String: [String]] = [:]
    var heading = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("## ") {
        heading = String(line.dropFirst(3)).filter { $0 != "`" }
      } else {
        sections[heading, default: []].append(line)
      }
    }
    self.sections = sections
  }

  /// Returns the first line of code below a command's heading.
  ///
  /// - Parameter command: The command with the program's name: `cdprof run`.
  /// - Throws: `Missing` if the page doesn't describe the command.
  func synopsis(of command: String) throws(Missing) -> String {
    let line = sections[command]?.first { $0 == command || $0.hasPrefix(command + " ") }
    guard let line else { throw Missing(part: "the synopsis below the heading `\(command)`") }
    return line
  }

  /// Returns the rows of the table below a heading.
  ///
  /// - Throws: `Missing` if there's no table.
  func table(below heading: String) throws(Missing) -> [Row] {
    let lines = (sections[heading] ?? []).filter { $0.hasPrefix("| ") }
    // The first two lines are the names of the columns and a rule.
    let rows = lines.dropFirst(2).compactMap { line -> Row? in
      let cells = line.dropFirst(2).split(separator: " | ", maxSplits: 1)
      guard cells.count == 2 else { return nil }
      return Row(name: String(cells[0]), meaning: String(cells[1].dropLast(2)))
    }
    guard !rows.isEmpty else { throw Missing(part: "the table below the heading \(heading)") }
    return rows
  }
}
