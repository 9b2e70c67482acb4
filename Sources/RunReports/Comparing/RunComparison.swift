package import LogAnalysis
import ProfileEvents
package import Profiling
import WorkbenchText

/// Two results of the same scenario side by side, variant by variant, or two logs, section by section.
package struct RunComparison: Sendable {
  /// The scenario's name, or both where they differ.
  package let title: String
  /// The variants that both have, in the order of the first result, scale by scale.
  package let variants: [ComparedVariant]
  /// Variants of the first result that the second does not have.
  package let missing: [String]
  /// Variants of the second result that the first does not have.
  package let added: [String]
  /// What else differs and may explain a difference: data, seed, versions.
  package let notes: [String]
  /// Every statement of two logs; empty for results.
  package let statements: [ComparedStatement]

  /// Compares what was found out; nothing is run.
  package init(_ before: RunResult, _ after: RunResult) {
    title =
      before.scenario == after.scenario
      ? before.scenario : "\(before.scenario) and \(after.scenario)"
    let environments = RunComparison.differences(before.environment, after.environment)
    notes = RunComparison.notes(before, after) + environments
    let obstacle = RunComparison.obstacle(before.environment, after.environment)
    statements = []
    let one = RunComparison.entries(of: before)
    let other = RunComparison.entries(of: after)
    (variants, missing, added) = RunComparison.matched(one, other, obstacle: obstacle)
  }

  /// Puts two logs side by side: each as a whole, their sections of the same names, their statements.
  package init(_ before: LogReport, _ after: LogReport) {
    title = "\(before.file) and \(after.file)"
    notes = LogEntries.notes(before, after)
    statements = ComparedStatement.all(before, after)
    let entries = LogEntries(before, after)
    (variants, missing, added) = RunComparison.matched(
      entries.before, entries.after, obstacle: "a log is one run")
  }

  private static func matched(
    _ one: [Entry], _ other: [Entry], obstacle: String?
  ) -> (variants: [ComparedVariant], missing: [String], added: [String]) {
    let variants = one.compactMap { entry -> ComparedVariant? in
      guard let match = other.first(where: { $0.name == entry.name }) else { return nil }
      return ComparedVariant(
        name: entry.name, entry.variant, match.variant,
        findings: (entry.findings, match.findings), obstacle: obstacle)
    }
    return (
      variants, one.map(\.name).filter { name in !other.contains { $0.name == name } },
      other.map(\.name).filter { name in !one.contains { $0.name == name } }
    )
  }

  /// What is compared by its name: its numbers and its findings.
  typealias Entry = (name: String, variant: ScaledRun.Variant, findings: [String])

  /// Every variant at every scale.
  private static func entries(of result: RunResult) -> [Entry] {
    let here = zip(ScaledRun(result).variants, result.variants).map { numbers, variant in
      (
        name: label(variant.name, scale: result.scale), variant: numbers,
        findings: variant.findings.map(\.name).reduce(into: [String]()) { names, name in
          if !names.contains(name) { names.append(name) }
        }
      )
    }
    return here
      + result.scales.flatMap { run in
        run.variants.map { (label($0.name, scale: run.scale), $0, []) }
      }
  }

  private static func label(_ name: String, scale: Int) -> String {
    scale == 1 ? name : "\(name) at scale \(NumberText.grouped(scale))"
  }

  private static func notes(_ before: RunResult, _ after: RunResult) -> [String] {
    var notes: [String] = []
    if before.seed != after.seed { notes.append("seed \(before.seed) and \(after.seed)") }
    for entity in before.data {
      let other = after.data.first { $0.name == entity.name }?.count ?? 0
      guard other != entity.count else { continue }
      notes.append(
        "\(entity.name): \(NumberText.counted(entity.count, "row")) and \(NumberText.grouped(other))"
      )
    }
    return notes
  }

  private static func differences(_ one: RunEnvironment, _ other: RunEnvironment) -> [String] {
    [
      ("cdprof", one.cdprof, other.cdprof), ("SQLite", one.sqlite, other.sqlite),
      ("Swift", one.swift, other.swift), ("machine", one.machine, other.machine),
      ("build", one.build, other.build),
    ].filter { $0.1 != $0.2 }.map { "\($0.0): \($0.1) and \($0.2)" }
  }

  private static func obstacle(_ one: RunEnvironment, _ other: RunEnvironment) -> String? {
    if one.machine != other.machine { return "two machines" }
    if one.build != other.build { return "two kinds of build" }
    return one.build == "debug" ? "a debug build" : nil
  }
}
