import CEmbeddedFiles
package import Foundation
import ManagedModel
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// The counts of a history over its runs, as a self-contained HTML page without a script.
///
/// Each count that changed has a chart and a table of its changes; the one that changed last comes
/// first. Costs that never changed are listed by variant.
package struct HistoryPage {
  struct Change {
    var run: String
    var date: String
    var count: String
    /// The difference from the count before; empty for the first.
    var difference: String
  }

  struct Curve {
    var scenario: String
    /// The variant and the metric.
    var heading: String
    /// A description of the chart for assistive technology.
    var title: String
    var chart: HistoryChart
    var changes: [Change]
    /// The number of changes that aren't listed, in words.
    var more: String?
  }

  struct Constant {
    var scenario: String
    var variant: String
    var counts: String
  }

  /// The maximum number of runs, counts with a chart, changes of a count, and variants of the page.
  static let runLimit = 500
  static let curveLimit = 100
  static let changeLimit = 20
  static let constantLimit = 1_000

  let title: String
  let outcome: String
  let isGood: Bool
  let lead: String
  let summary: String
  let curves: [Curve]
  let hasCurves: Bool
  let first: String
  let last: String
  /// The counts whose charts aren't shown, or `nil` if all are.
  let more: String?
  let constants: [Constant]
  let hasConstants: Bool
  /// The variants that aren't listed, or `nil` if all are.
  let moreConstants: String?
  let version = ToolVersion.current

  /// - Parameters:
  ///   - history: The history.
  ///   - title: The name of its file.
  package init(_ history: RunHistory, title: String) {
    let offset = max(0, history.runs.count - HistoryPage.runLimit)
    let runs = Array(history.runs.dropFirst(offset))
    let series = history.counts.compactMap { key, counts -> Series? in
      let known = counts.filter { $0.key >= offset }.sorted { $0.key < $1.key }
        .map { (run: $0.key - offset, count: $0.value) }
      return known.isEmpty ? nil : Series(key: key, counts: known)
    }.sorted { $0.order < $1.order }
    let changed = series.filter { $0.changes.count > 1 }
    let increased = changed.filter { $0.increasesLast(in: runs.count) }
    self.title = title
    isGood = increased.isEmpty
    outcome =
      isGood
      ? "no cost increased in the latest run"
      : "\(NumberText.counted(increased.count, "cost")) increased in the latest run"
    let scenarios = Set(series.map(\.key.scenario)).count
    lead =
      "\(NumberText.counted(runs.count, "run")) of \(NumberText.counted(scenarios, "scenario")): "
      + "\(NumberText.counted(changed.count, of: series.count, "count")) changed."
    summary =
      (offset > 0 ? "Only the latest runs are shown. " : "")
      + "Counts are exact and don't depend on the machine."
    curves = changed.sorted { $0.lastChange > $1.lastChange }.prefix(HistoryPage.curveLimit)
      .map { $0.curve(in: runs) }
    hasCurves = !curves.isEmpty
    first = runs.first.map(HistoryPage.name) ?? ""
    last = runs.last.map(HistoryPage.name) ?? ""
    let hidden = changed.count - curves.count
    more = hidden > 0 ? "and \(NumberText.counted(hidden, "count")) that changed earlier" : nil
    let all = HistoryPage.constants(series.filter { $0.changes.count == 1 })
    constants = Array(all.prefix(HistoryPage.constantLimit))
    hasConstants = !constants.isEmpty
    let left = all.count - constants.count
    moreConstants = left > 0 ? "and \(NumberText.counted(left, "variant"))" : nil
  }

  /// Returns the page as HTML.
  ///
  /// - Throws: An error of the template's parser, which a test rules out.
  package func data() throws -> Data {
    Data(try PageTemplate.render(String(cString: embedded_history_html()), self).utf8)
  }

  /// Returns the costs that never changed, by variant, without those that are 0.
  private static func constants(_ series: [Series]) -> [Constant] {
    var constants: [Constant] = []
    for one in series where one.key.metric.metric.isCost {
      guard let count = one.counts.last?.count, count != 0 else { continue }
      let text = "\(one.key.metric) \(NumberText.grouped(count))"
      if let last = constants.indices.last, constants[last].scenario == one.key.scenario,
        constants[last].variant == one.label
      {
        constants[last].counts += ", \(text)"
      } else {
        constants.append(
          Constant(scenario: one.key.scenario, variant: one.label, counts: text))
      }
    }
    return constants
  }

  /// The maximum length of a commit's name, two of which fit below a chart.
  private static let nameLength = 32

  /// Returns the name of a run: its commit, shortened if it's a hash, or its time.
  fileprivate static func name(_ run: RunHistory.Run) -> String {
    guard let commit = run.commit else { return run.date }
    if commit.count >= 40, commit.allSatisfy(\.isHexDigit) { return String(commit.prefix(9)) }
    return commit.count > nameLength ? commit.prefix(nameLength - 1) + "…" : commit
  }
}

/// A count over the runs of a history.
private struct Series {
  var key: RunHistory.Key
  var counts: [(run: Int, count: Int)]
  /// The first count, and each one that differs from the one before.
  var changes: [(run: Int, count: Int)]

  init(key: RunHistory.Key, counts: [(run: Int, count: Int)]) {
    self.key = key
    self.counts = counts
    changes = counts.reduce(into: []) { changes, next in
      if changes.last?.count != next.count { changes.append(next) }
    }
  }

  var label: String {
    VariantLabel.text(key.variant, scale: key.scale) + (key.engine.map { " on \($0)" } ?? "")
  }

  /// The index of the run of the last change.
  var lastChange: Int { changes.last?.run ?? 0 }

  /// The position on the page: by scenario, variant, and engine, costs first.
  var order: (String, String, String, Int, Int, String) {
    (
      key.scenario, key.variant, key.engine ?? "", key.scale, key.metric.metric.isCost ? 0 : 1,
      key.metric.description
    )
  }

  /// Returns whether the count is a cost that increased in the latest of a number of runs.
  func increasesLast(in runs: Int) -> Bool {
    guard key.metric.metric.isCost, changes.count > 1, lastChange == runs - 1 else { return false }
    return changes[changes.count - 1].count > changes[changes.count - 2].count
  }

  func curve(in runs: [RunHistory.Run]) -> HistoryPage.Curve {
    let texts = zip(changes, [nil] + changes.map(Optional.some)).map { change, before in
      HistoryPage.Change(
        run: HistoryPage.name(runs[change.run]), date: runs[change.run].date,
        count: NumberText.grouped(change.count),
        difference: before.map {
          ComparedCount(metric: key.metric, before: $0.count, after: change.count).difference
        } ?? "")
    }
    let hidden = texts.count - HistoryPage.changeLimit
    let heading = "\(label) · \(key.metric)"
    return HistoryPage.Curve(
      scenario: key.scenario, heading: heading,
      title:
        "\(heading), \(NumberText.counted(texts.count - 1, "change")); the table below has the "
        + "numbers",
      chart: HistoryChart(counts, runs: runs.count),
      changes: texts.suffix(HistoryPage.changeLimit).reversed(),
      more: hidden > 0 ? "and \(NumberText.counted(hidden, "earlier change"))" : nil)
  }
}
