import ArgumentParser
import ScenarioLanguage

/// `cdprof schema`: prints the JSON Schema of scenario files.
struct Schema: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Print the JSON Schema of scenarios, for editors.",
    discussion: """
      Draft 2020-12. An editor's YAML server completes and checks a scenario whose first line is \
      "# yaml-language-server: $schema=scenario.schema.json".
      """)

  func execute(_ console: Console) throws -> ExitStatus {
    console.say(ScenarioSchema.document.dropLastLineEnd)
    return .success
  }
}

extension String {
  /// The text without the end of its last line, which printing adds.
  fileprivate var dropLastLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}
