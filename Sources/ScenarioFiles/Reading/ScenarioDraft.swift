package import Foundation
package import ScenarioLanguage

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

/// Splits several lists of steps into the shared steps and the differences of each variant.
struct SharedSteps {
  /// The steps that all lists have in common.
  private(set) var steps: [Step] = []
  /// For each list, the steps before the shared ones.
  private(set) var first: [[Step]]
  /// For each list, the options that differ in shared steps, as YAML pairs.
  private(set) var settings: [[String]]

  init(_ lists: [[Step]]) {
    first = lists.map { _ in [] }
    settings = first.map { _ in [] }
    guard let model = lists.first else { return }
    if lists.allSatisfy({ SharedSteps.areAlike($0, model) }) {
      for index in model.indices {
        share(lists.map { $0[index] })
      }
      return
    }
    let shortest = lists.map(\.count).min() ?? 0
    let common =
      (0..<shortest).first { offset in
        lists.contains { $0[$0.count - 1 - offset] != model[model.count - 1 - offset] }
      } ?? shortest
    steps = model.suffix(common)
    first = lists.map { $0.dropLast(common) }
  }

  /// Returns whether two lists differ only in the options of named steps.
  private static func areAlike(_ one: [Step], _ other: [Step]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).allSatisfy { first, second in
      var bare = (first, second)
      bare.0.options = []
      bare.1.options = []
      let hasUniqueName = first.name != nil && one.count { $0.name == first.name } == 1
      return bare.0 == bare.1 && (hasUniqueName || first.options == second.options)
    }
  }

  private mutating func share(_ alike: [Step]) {
    var shared = alike[0]
    shared.options.removeAll { option in alike.contains { !$0.options.contains(option) } }
    steps.append(shared)
    for (index, step) in alike.enumerated() {
      let own = step.options.filter { !shared.options.contains($0) }
      settings[index] += own.map { "\(step.name ?? "").\($0.word.rawValue): \($0.value.yaml)" }
    }
  }
}
