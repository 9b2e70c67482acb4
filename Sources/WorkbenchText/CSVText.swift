/// Formats rows as comma-separated values (RFC 4180).
package enum CSVText {
  /// Returns the lines of a row, without line feeds; a quoted value can contain line feeds.
  package static func lines(_ values: [String]) -> [String] {
    values.map(quoted).joined(separator: ",")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private static func quoted(_ text: String) -> String {
    guard text.contains(where: { ",\"".contains($0) || $0.isNewline }) else { return text }
    return "\"\(text.replacing("\"", with: "\"\""))\""
  }
}
