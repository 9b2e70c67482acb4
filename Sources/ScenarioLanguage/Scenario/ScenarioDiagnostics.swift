/// Everything that is wrong with a scenario file.
package struct ScenarioDiagnostics: Error, Sendable, CustomStringConvertible {
  /// At least one, in the order of the file.
  package let diagnostics: [ScenarioDiagnostic]

  package init(_ diagnostics: [ScenarioDiagnostic]) {
    self.diagnostics = diagnostics
  }

  /// One after the other, and how many there are when there are several.
  package var description: String {
    var parts = diagnostics.map(\.description)
    if diagnostics.count > 1 {
      parts.append("\(diagnostics.count) problems; nothing was run and nothing was written.")
    }
    return parts.joined(separator: "\n\n")
  }
}
