import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Which finding explains that a number is not the expected one.
enum LikelyCause {
  /// `likely: fault-storm(Mood.country), 60 of the 59 too many …; cure: …`; nil where none explains it.
  ///
  /// A finding explains a surplus when its events are counted by the metric and are at least half of
  /// what is too many.
  /// - Parameter surplus: What was found beyond the expectation; nothing explains too few.
  static func sentence(for metric: Metric, surplus: Int, among findings: [Finding]) -> String? {
    guard surplus > 0 else { return nil }
    let fitting = findings.filter { adds($0.rule, to: metric) && $0.count * 2 >= surplus }
    guard let finding = fitting.max(by: { $0.count < $1.count }) else { return nil }
    let place = finding.callSite.map { " at \($0)" } ?? ""
    return "likely: \(finding.name)\(place), \(finding.counted)"
      + " where \(NumberText.grouped(surplus)) \(PluralForm.of(surplus, "is", "are")) too many; cure: \(finding.cure.text)"
  }

  /// Whether the events of a rule are counted by a metric.
  private static func adds(_ rule: RuleName, to metric: Metric) -> Bool {
    switch rule {
    case .faultStorm, .countPerRow, .ineffectivePrefetch:
      [.selects, .misses, .faults, .rows].contains(metric)
    case .unusedPrefetch: [.rows, .prefetches, .selects].contains(metric)
    case .fetchToCount, .partlyRead: [.rows, .registered, .peak].contains(metric)
    case .fetchLoop: [.fetches, .selects, .rows].contains(metric)
    case .batchWalked: [.selects, .rows, .registered, .peak].contains(metric)
    case .sortedInMemory: [.faults, .hits].contains(metric)
    case .chattySaves: [.saves, .transactions].contains(metric)
    case .needlessUpdate: metric == .updates
    case .keptAlive: [.registered, .peak].contains(metric)
    case .unmergedBatch, .lostChanges, .busyMainQueue, .missingIndex: false
    }
  }
}
