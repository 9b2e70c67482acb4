/// How the shell prints what has rows.
package enum ShellMode: String, CaseIterable, Sendable {
  /// For people: aligned columns.
  case table
  /// An array of objects, one a line.
  case json
  /// As RFC 4180 has it, with a line of headings.
  case csv
  /// One value a line, `name = value`, a blank line between rows.
  case line
}
