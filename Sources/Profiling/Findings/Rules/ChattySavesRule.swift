import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Finds many consecutive small saves.
///
/// It fires if at least `threshold` saves of one context, each of at most `smallSave` objects,
/// follow each other with no larger save in between. Each save is one transaction, or two if it
/// inserts. The time between saves doesn't matter because it doesn't affect their cost.
enum ChattySavesRule {
  static let rule = Rule(
    .chattySaves, chapter: 8,
    meaning: "Many small saves follow each other; each is one transaction, or two if it inserts.",
    condition:
      "\(threshold) saves of one context that reached the store, each of \(smallSave) objects "
      + "or fewer, with no larger one in between. Time doesn't matter.",
    remedy: "Save once, or in batches that fit in memory.",
    metrics: [.saves, .transactions], search: .work(findings))
  /// The minimum number of consecutive saves.
  static let threshold = 10
  /// The maximum number of objects in a small save.
  static let smallSave = 10

  static func findings(in work: FinishedWork) -> [Finding] {
    Dictionary(grouping: RecordedSave.all(in: work.recording)) { $0.save.context ?? "" }
      .sorted { ($0.value.first?.save.id ?? 0) < ($1.value.first?.save.id ?? 0) }
      .flatMap { runs(of: $0.value).compactMap(finding) }
  }

  /// Returns the runs of consecutive small saves.
  private static func runs(of saves: [RecordedSave]) -> [[RecordedSave]] {
    saves.split { $0.save.rows > smallSave }.map(Array.init).filter { $0.count >= threshold }
  }

  private static func finding(_ saves: [RecordedSave]) -> Finding? {
    guard let entity = RecordedSave.mostWritten(in: saves) else { return nil }
    let objects = saves.reduce(0) { $0 + $1.save.rows }
    return Finding(
      rule: rule.name, subject: entity, count: saves.count, callSite: saves.first?.save.callSite,
      what: "saves of \(NumberText.counted(objects, "object")) in all",
      cure: SuggestedFix(swift: ["if isLastChange { try context.save() }"]))
  }
}
