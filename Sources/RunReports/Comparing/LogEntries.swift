import LogAnalysis
import ProfileEvents
import Profiling
import ScenarioLanguage
import WorkbenchText

/// What two logs have that can be compared: each as a whole, then its sections in their order.
struct LogEntries {
  /// What the whole of a log is called.
  static let whole = "the whole log"

  let before: [RunComparison.Entry]
  let after: [RunComparison.Entry]

  init(_ before: LogReport, _ after: LogReport) {
    // A number that one log alone tells says nothing beside the other's 0.
    let hits = before.tellsHits && after.tellsHits
    let subjects = LogEntries.subjects(before.costs).union(LogEntries.subjects(after.costs))
    func entries(_ report: LogReport) -> [RunComparison.Entry] {
      let all = LogEntries.entry(
        LogEntries.whole, report.costs, report.storms, subjects: subjects, hits: hits)
      var seen: [String: Int] = [:]
      return [all]
        + report.sections.map { section in
          seen[section.name, default: 0] += 1
          let number = seen[section.name, default: 1]
          return LogEntries.entry(
            number == 1 ? section.name : "\(section.name) (\(number))", section.costs,
            section.storms, subjects: subjects, hits: hits)
        }
    }
    self.before = entries(before)
    self.after = entries(after)
  }

  /// What makes the numbers of one log mean less beside the other's.
  static func notes(_ before: LogReport, _ after: LogReport) -> [String] {
    var notes: [String] = []
    if before.tellsHits != after.tellsHits {
      let teller = before.tellsHits ? before.file : after.file
      notes.append("faults and hits: \(teller) alone tells those that the row cache filled")
    }
    for report in [before, after] where report.unmatchedTimes > 0 {
      notes.append(
        "\(report.file) is cut: \(NumberText.counted(report.unmatchedTimes, "time")) without a "
          + "statement")
    }
    return notes
  }

  /// The entities and relationships whose faults went to the database.
  private static func subjects(_ costs: LogCosts) -> Set<MetricScope> {
    Set(costs.byEntity.keys.map(MetricScope.entity))
      .union(
        costs.byRelationship.keys.compactMap { key -> MetricScope? in
          let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
          return parts.count == 2 ? .relationship(entity: parts[0], name: parts[1]) : nil
        })
  }

  private static func entry(
    _ name: String, _ costs: LogCosts, _ storms: [LogStorm], subjects: Set<MetricScope>,
    hits: Bool
  ) -> RunComparison.Entry {
    let told = Metric.allCases.filter { $0.isToldByLogs(withHits: hits) }
    let scoped = subjects.map { ScopedMetric(.misses, $0) }
    let variant = ScaledRun.Variant(
      name: name,
      metrics: Dictionary(uniqueKeysWithValues: told.map { ($0, costs.value(of: $0)) }),
      scopedMetrics: Dictionary(
        uniqueKeysWithValues: scoped.map { ($0, costs.value(of: $0) { _ in nil }) }),
      nanoseconds: UInt64(costs.microseconds) * 1_000)
    let findings = storms.map(\.name).reduce(into: [String]()) { names, name in
      if !names.contains(name) { names.append(name) }
    }
    return (name, variant, findings)
  }
}
