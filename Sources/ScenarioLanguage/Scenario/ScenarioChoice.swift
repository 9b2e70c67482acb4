import OpenCoreData
import WorkbenchText

/// Which scenarios and variants are run, of those that were found.
package struct ScenarioChoice: Sendable {
  /// A part of the file's path or of the scenario's name, or an id that it covers; nil for all.
  package var only: String?
  /// Names of variants; empty for all.
  package var variants: [String]

  package init(only: String? = nil, variants: [String] = []) {
    self.only = only
    self.variants = variants
  }

  /// Why nothing is left to run.
  package struct Empty: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// The chosen scenarios with their chosen variants, in their order.
  ///
  /// - Throws: `Empty` when nothing fits, or a variant is named that no scenario has.
  package func scenarios(of all: [Scenario]) throws(Empty) -> [Scenario] {
    let fitting = all.filter(fits)
    if let only, fitting.isEmpty {
      throw empty(
        "no scenario fits `\(only)`", only, among: all.map(\.fileName) + all.map(\.name),
        "write a part of a file's path, of a scenario's name, or a catalogue id")
    }
    guard !variants.isEmpty else { return fitting }
    let names = fitting.flatMap { $0.variants.map(\.name) }
    for name in variants where !names.contains(name) {
      throw empty(
        "no scenario has a variant `\(name)`", name, among: names,
        "the variants are: \(ModelNames.list(names))")
    }
    return fitting.compactMap { scenario in
      var scenario = scenario
      scenario.variants.removeAll { !variants.contains($0.name) }
      return scenario.variants.isEmpty ? nil : scenario
    }
  }

  private func fits(_ scenario: Scenario) -> Bool {
    guard let only else { return true }
    return scenario.path.contains(only) || scenario.name.contains(only)
      || scenario.covers.contains { $0.id == only }
  }

  private func empty(
    _ message: String, _ word: String, among known: [String], _ nextStep: String
  ) -> Empty {
    let near = NearestName.of(word, among: known).map { "; did you mean `\($0)`?" } ?? ""
    let lines = ["\(message)\(near)", nextStep].map(PrintableText.line)
    return Empty(description: lines.joined(separator: "\n"))
  }
}
