import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Triggers without which derived attributes and ranges fall behind.
///
/// In a file made here each is asked for by name. Of Apple's, those of counts and sums are known in
/// part: such an attribute must have some trigger.
struct MissingTriggerRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let wanted = store.anatomy.derivedColumns
    guard !wanted.isEmpty || !store.anatomy.rangeIndexes.isEmpty else { return [] }
    let present = Set(
      try store.connection.values("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        .compactMap { row -> String? in
          if case .text(let name)? = row.first { name } else { nil }
        })
    let ranges = store.isMadeHere ? store.anatomy.rangeIndexes : []
    return wanted.compactMap { missing($0, present, isMadeHere: store.isMadeHere) }
      + ranges.compactMap { range in
        let lost = range.triggerNames.filter { !present.contains($0) }
        guard !lost.isEmpty else { return nil }
        return DoctorFinding(
          .triggerMissing, table: range.table, count: lost.count, examples: lost,
          "the R-tree \(range.name) is not kept up: "
            + "\(NumberText.counted(lost.count, "trigger")) of \(range.table) "
            + PluralForm.of(lost.count, "is missing", "are missing"),
          nextStep: "make them as `cdprof model STORE --ddl` prints them, and save each row once")
      }
  }

  private func missing(
    _ derived: DerivedColumn, _ present: Set<String>, isMadeHere: Bool
  ) -> DoctorFinding? {
    let lost: [String]
    if !isMadeHere, !derived.isGathered { return nil }
    if isMadeHere {
      lost = derived.triggerNames.filter { !present.contains($0) }
    } else {
      let part = "_\(derived.entity.name)_\(derived.name)_"
      lost = present.contains { $0.contains(part) } ? [] : ["Z_DA_…\(part)…"]
    }
    guard !lost.isEmpty else { return nil }
    return DoctorFinding(
      .triggerMissing, entity: derived.entity.name, property: derived.name,
      table: derived.entity.table, count: lost.count, examples: lost,
      "\(derived.entity.name).\(derived.name) is not kept up: "
        + (isMadeHere
          ? "\(NumberText.counted(lost.count, "trigger")) \(PluralForm.of(lost.count, "is", "are")) missing"
          : "it has no trigger"),
      nextStep: "make them as `cdprof model STORE --ddl` prints them; until then saves leave the "
        + "value as it was")
  }
}
