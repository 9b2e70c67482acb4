package import RunResults
import ScenarioLanguage
import WorkbenchText

/// A result compared with a baseline.
package struct BaselineComparison: Sendable {
  /// A count above the baseline.
  package struct Increase: Sendable, Equatable {
    /// The name of the variant, with its scale if that isn't 1.
    package let label: String
    /// The name of the variant.
    package let variant: String
    package let count: ComparedCount

    /// The count in words: `plain · selects   baseline 2, actual 61`.
    package var text: String { "\(label) · \(count.metric)   \(numbers)" }

    /// The numbers in words: `baseline 2, actual 61`.
    package var numbers: String {
      "baseline \(NumberText.grouped(count.before)), actual \(NumberText.grouped(count.after))"
    }
  }

  /// The comparison; `nil` if the baseline doesn't contain the scenario on the engine and at a
  /// scale of the result.
  private let comparison: RunComparison?
  /// The engine of the result, if the baseline has the scenario only on others.
  private let engine: String?
  /// The times of variants that the baseline has for this machine, by label.
  private let times: [(label: String, time: ComparedTime)]
  private let isPartial: Bool
  /// The counts that are costs and have increased, which fail a run.
  package let increases: [Increase]

  /// Compares a result with a baseline.
  ///
  /// - Parameters:
  ///   - result: The result.
  ///   - baseline: The accepted counts.
  ///   - isPartial: Whether the result contains only some variants.
  package init(_ result: RunResult, with baseline: Baseline, isPartial: Bool = false) {
    let comparison = baseline.accepted(for: result).map { RunComparison($0, result) }
    self.comparison = comparison
    self.isPartial = isPartial
    let others = baseline.runs.keys.filter { $0.scenario == result.scenario }.map(\.engine)
    engine =
      others.isEmpty || others.contains(result.engine?.name) ? nil : result.engine?.name ?? "SQLite"
    let runs = [ScaledRun(result)] + result.scales
    let reason = result.environment.isConcurrent ? ComparedTime.concurrencyReason : nil
    var names: [String: String] = [:]
    var times: [(label: String, time: ComparedTime)] = []
    for run in runs {
      let known = baseline.runs[Baseline.Key(result, scale: run.scale)]
      for variant in run.variants {
        let label = VariantLabel.text(variant.name, scale: run.scale)
        names[label] = variant.name
        guard let spread = TimeSpread(variant.repeats), result.environment.build == "release",
          let before = known?.variants[variant.name]?.times[Baseline.machine(of: result)]
        else { continue }
        times.append((label, ComparedTime(before, spread, reasonInconclusive: reason)))
      }
    }
    self.times = times
    increases = (comparison?.variants ?? []).flatMap { variant in
      variant.differences.filter(ComparisonFailureCriteria.increases.isFailure).map { count in
        Increase(label: variant.name, variant: names[variant.name] ?? variant.name, count: count)
      }
    }
  }

  private var missing: [String] { isPartial ? [] : comparison?.missing ?? [] }

  /// The counts above the baseline as a table in Markdown; an empty string if there are none.
  package var markdown: String {
    guard !increases.isEmpty else { return "" }
    let rows = increases.map { increase in
      MarkdownText.row([
        MarkdownText.plain(increase.label), MarkdownText.code(increase.count.metric.description),
        NumberText.grouped(increase.count.before),
        "**\(NumberText.grouped(increase.count.after))**",
      ])
    }
    return
      (["| ✗ variant | metric | baseline | actual |", "| --- | --- | ---: | ---: |"] + rows)
      .joined(separator: "\n") + "\n"
  }

  /// Returns the comparison as lines for a terminal, without the increases.
  ///
  /// - Parameter name: The name of the baseline's file.
  package func lines(_ name: String) -> [String] {
    guard let comparison else {
      return ["\(name): the scenario is new" + (engine.map { " on \($0)" } ?? "")]
    }
    let variants = comparison.variants.filter { !$0.differences.isEmpty }
    let differing = variants.reduce(0) { $0 + $1.differences.count }
    let all = comparison.variants.reduce(0) { $0 + $1.counts.count }
    let heading =
      differing == 0
      ? "the same \(NumberText.counted(all, "count"))"
      : "\(NumberText.counted(differing, of: all, "count")) changed"
    var lines = ["\(name): \(heading)"]
    if differing > 0 { lines += comparison.notes.map { "  differs: \($0)" } }
    for variant in variants {
      lines.append("  \(variant.name)")
      lines += ComparisonText.counts(of: variant).map { "  \($0)" }
    }
    lines += comparison.added.map { "  \($0): new" }
    lines += missing.map { "  \($0): no longer exists" }
    lines += times.map { "  time of \($0.label)   \($0.time.text)" }
    return lines
  }
}
