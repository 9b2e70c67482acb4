import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// The rule that finds many small saves one after the other.
///
/// It fires when at least `threshold` saves of one context, each of few objects, follow each other with
/// no larger one between. Each of them is a transaction, and two when it inserts. No clock is asked: how
/// long a pause was says nothing of what the saves cost.
enum ChattySavesRule {
  static let rule = Rule(
    .chattySaves, chapter: 8,
    meaning: "Many small saves follow each other; each is one transaction, or two if it inserts.",
    condition:
      "\(threshold) saves of one context that reached the store, each of \(smallSave) objects "
      + "or fewer, with no larger one in between. Time doesn't matter.",
    remedy: "Save once, or in batches that fit in memory.",
    metrics: [.saves, .transactions], search: .work(findings))
  /// As many saves in a row are a habit.
  static let threshold = 10
  /// The objects a small save has at most.
  static let smallSave = 10

  static func findings(in work: FinishedWork) -> [Finding] {
    Dictionary(grouping: RecordedSave.all(in: work.recording)) { $0.save.context ?? "" }
      .sorted { ($0.value.first?.save.id ?? 0) < ($1.value.first?.save.id ?? 0) }
      .flatMap { runs(of: $0.value).compactMap(finding) }
  }

  /// Small saves that follow each other.
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
