import ArgumentParser
import ScenarioFiles
import ScenarioLanguage

/// `cdprof schema`: prints the JSON Schema of scenario files.
struct Schema: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Print the JSON Schema of scenario files, for editors.",
    discussion: """
      The schema conforms to draft 2020-12. An editor with a YAML language server completes and \
      validates a scenario whose first line is \
      "# yaml-language-server: $schema=scenario.schema.json".
      """)

  func execute(_ console: Console) throws -> ExitStatus {
    console.write(ScenarioSchema.document.dropLastLineEnd)
    return .success
  }
}

extension String {
  /// The string without its final line feed, which printing adds.
  fileprivate var dropLastLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}
