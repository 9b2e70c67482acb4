import ProfileEvents

/// The rule that finds saves which wrote nothing but new versions of rows.
///
/// It fires when every statement of a save is an UPDATE that sets the version alone: the objects were
/// given the values that they had, or values that are not stored. Where the save wrote anything else the
/// rule is silent, as an owner gets a new version when its relationship changes.
enum NeedlessUpdate: WorkRule {
  static let rule = Finding.Rule.needlessUpdate

  static func findings(in work: FinishedWork) -> [Finding] {
    WrittenSave.all(in: work.recording).compactMap { written in
      guard written.statements.allSatisfy(setsVersionAlone),
        let entity = WrittenSave.mostWritten(in: [written])
      else { return nil }
      return Finding(
        rule: rule, subject: entity, count: written.statements.count,
        callSite: written.save.callSite, what: "rows written with a new version and nothing else",
        sql: written.statements.first?.statement?.sql,
        cure: Cure(swift: ["if object.KEY != value { object.KEY = value }"]))
    }
  }

  private static func setsVersionAlone(_ event: Event) -> Bool {
    event.statement?.kind == .update
      && event.statement?.sql.contains(" SET Z_OPT = ? WHERE ") == true
  }
}
