package import Foundation

/// A scenario created from the runs of a shell session, with a variant for each run that expects
/// the measured counts.
package struct ScenarioDraft: Sendable {
  package var name: String
  package var chapter: Int?
  /// The location of the model, or `nil` if the model is read from the store.
  package var modelURL: URL?
  package var data: DataPlan
  /// The runs, at least one.
  ///
  /// Runs without steps are omitted.
  package var runs: [RecordedRun]

  package init(
    name: String, chapter: Int? = nil, modelURL: URL?, data: DataPlan, runs: [RecordedRun]
  ) {
    self.name = name
    self.chapter = chapter
    self.modelURL = modelURL
    self.data = data
    self.runs = runs.filter { !$0.steps.isEmpty }
  }

  /// The number of expectations in the scenario.
  package var expectationCount: Int {
    runs.reduce(0) { $0 + $1.expectations.count }
  }

  /// Returns the scenario as YAML, with paths relative to the folder that will contain it.
  package func yaml(in folder: URL) -> String {
    var lines = [
      "# Recorded in cdprof's shell; each variant expects the counts that were measured.",
      "name: \(YAMLText.scalar(name))",
    ]
    if let chapter { lines.append("chapter: \(chapter)") }
    lines.append("source: ours")
    lines.append("story: \"Describe the work here, and what to guess before reading on.\"")
    if let modelURL {
      lines.append("model: \(YAMLText.scalar(Self.path(of: modelURL, from: folder)))")
    }
    var storePath = ""
    if case .copied(let store) = data.source { storePath = Self.path(of: store, from: folder) }
    lines.append("data:")
    lines += data.yamlLines(storePath: storePath)
    let shared = SharedSteps(runs.map(\.steps))
    lines.append("steps:" + (shared.steps.isEmpty ? " []" : ""))
    lines += shared.steps.map { "  - \($0.yaml)" }
    lines.append("variants:")
    for (index, one) in runs.enumerated() {
      lines.append("  - name: run \(index + 1)")
      lines.append("    why: As recorded.")
      if !shared.first[index].isEmpty {
        lines.append("    first:")
        lines += shared.first[index].map { "      - \($0.yaml)" }
      }
      if !shared.settings[index].isEmpty {
        lines.append("    set: {\(shared.settings[index].joined(separator: ", "))}")
      }
      lines.append("    expect: {\(one.expectations.joined(separator: ", "))}")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the relative path from a folder to a file, or an absolute path if they share only the
  /// root.
  static func path(of url: URL, from folder: URL) -> String {
    let target = url.standardizedFileURL.pathComponents
    let start = folder.standardizedFileURL.pathComponents
    let common = zip(target, start).prefix { $0 == $1 }.count
    guard common > 1 else { return url.standardizedFileURL.path }
    let up = Array(repeating: "..", count: start.count - common)
    return (up + target.dropFirst(common)).joined(separator: "/")
  }
}
