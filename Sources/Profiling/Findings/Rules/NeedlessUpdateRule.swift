import ProfileEvents
import ScenarioLanguage

/// Finds saves that wrote only new row versions.
///
/// It fires if every statement of a save is an UPDATE that sets only the row version: properties
/// were set to the values they had, or to values that aren't stored. It doesn't fire if the save
/// wrote anything else, because a changed relationship also gives its owner a new row version.
enum NeedlessUpdateRule {
  static let rule = Rule(
    .needlessUpdate, chapter: 7,
    meaning: "A save updated the row version and nothing else, because properties were set to the "
      + "values they had.",
    condition: "All statements of a save are UPDATEs that set only `Z_OPT`.",
    remedy:
      "Set a property only if its value differs: `if object.name != name { object.name = name "
      + "}`.",
    metrics: [.updates], search: .work(findings))

  static func findings(in work: FinishedWork) -> [Finding] {
    RecordedSave.all(in: work.recording).compactMap { written in
      guard written.statements.allSatisfy(setsVersionAlone),
        let entity = RecordedSave.mostWritten(in: [written])
      else { return nil }
      return Finding(
        rule: rule.name, subject: entity, count: written.statements.count,
        callSite: written.save.callSite, what: "rows written only with a new version",
        sql: written.statements.first?.statement?.sql,
        cure: cure(key(setBefore: written.save, in: work) ?? "KEY"))
    }
  }

  private static func cure(_ key: String) -> SuggestedFix {
    SuggestedFix(swift: ["if object.\(key) != value { object.\(key) = value }"])
  }

  /// Returns the first key that the last `set` step before a save assigned in the same context, or
  /// `nil` if there's no such step.
  private static func key(setBefore save: Event, in work: FinishedWork) -> String? {
    work.parts.last {
      $0.recorded.through < save.id && $0.step.verb == .set && $0.context == save.context
    }?.step.assignments.first?.key
  }

  private static func setsVersionAlone(_ event: Event) -> Bool {
    event.statement?.kind == .update
      && event.statement?.sql.contains(" SET Z_OPT = ? WHERE ") == true
  }
}
