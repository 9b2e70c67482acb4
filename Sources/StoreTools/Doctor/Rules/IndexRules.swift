import OpenCoreData
import SQLiteDriver
import StatementAnalysis
import WorkbenchText

/// Indexes that the model asks for, or that relationships always have, and the file lacks.
struct MissingIndexRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let present = try FileIndex.all(on: store.connection)
    return try missingRanges(in: store)
      + store.anatomy.indexes
      .filter { wanted in !present.contains { $0.serves(wanted) } }
      .map { wanted in
        DoctorFinding(
          .indexMissing, table: wanted.table, examples: [wanted.sql],
          "\(wanted.table) has no \(wanted.isUnique ? "unique index" : "index") of "
            + wanted.parts.map(\.column).joined(separator: ", "),
          nextStep: wanted.isUnique
            ? "look for duplicate values first; then make it with the statement above"
            : "make it with the statement above; until then searches read the whole table")
      }
  }

  /// R-trees are virtual tables, which triggers keep up.
  private func missingRanges(in store: ExaminedStore) throws -> [DoctorFinding] {
    guard !store.anatomy.rangeIndexes.isEmpty else { return [] }
    let names = try store.connection.values(
      "SELECT upper(name) FROM sqlite_master WHERE type = 'table'"
    ).compactMap { row -> String? in
      guard case .text(let name)? = row.first else { return nil }
      return name
    }
    return try incomplete(
      store.anatomy.rangeIndexes.filter { names.contains($0.name.uppercased()) }, in: store)
      + store.anatomy.rangeIndexes.filter { !names.contains($0.name.uppercased()) }.map {
        DoctorFinding(
          .indexMissing, table: $0.table, examples: $0.statements,
          "\($0.table) has no R-tree \($0.name) of \($0.columns.joined(separator: ", "))",
          nextStep: "make it with the statements above, then save each row once")
      }
  }

  /// R-trees made here that lack rows; what is in those of Apple's is not known.
  private func incomplete(
    _ ranges: [RangeIndex], in store: ExaminedStore
  ) throws -> [DoctorFinding] {
    guard store.isMadeHere else { return [] }
    return try ranges.compactMap { range in
      let present = range.columns.map { "\(SQLNames.quoted($0)) IS NOT NULL" }.joined(
        separator: " AND ")
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLNames.quoted(range.table)) WHERE \(present) "
          + "AND Z_PK NOT IN (SELECT Z_PK FROM \(SQLNames.quoted(range.name)))")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .indexMissing, table: range.table, count: rows.count,
        examples: rows.keys.map { "Z_PK \($0)" },
        "the R-tree \(range.name) lacks \(NumberText.counted(rows.count, "row")) of \(range.table)",
        nextStep: "save each of them once, which runs the triggers")
    }
  }
}

/// Indexes that the model does not declare and that another index makes redundant.
///
/// An index of the model isn't reported, even if a longer one exists: it was added on purpose.
struct RedundantIndexRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let present = try FileIndex.all(on: store.connection)
    let names = Set(present.map(\.name))
    let isGuessed = store.anatomy.source.isGuessed
    let superfluous = present.enumerated().filter { offset, index in
      guard index.isExplicit, !index.isUnique,
        !isWanted(index, by: store.anatomy.indexes, names: names)
      else { return false }
      return present.enumerated().contains { other in
        guard other.offset != offset, other.element.covers(index) else { return false }
        let isEqual = other.element.parts.count == index.parts.count
        // Without a model, the name alone says whether one was asked for; of two equal ones that
        // were not one is too many.
        if isGuessed && (!isEqual || hasNameOfModel(index, in: store)) { return false }
        // Of two that the model does not declare, the first one stays.
        return !isEqual || other.offset < offset
          || isWanted(other.element, by: store.anatomy.indexes, names: names)
      }
    }
    return superfluous.map { _, index in
      let columns = index.parts.map(\.column).joined(separator: ", ")
      return DoctorFinding(
        .indexRedundant, table: index.table, examples: [index.name],
        "the index \(index.name) of \(index.table) (\(columns)) is redundant: another index "
          + "does not do, and costs at each save",
        nextStep: "DROP INDEX \(SQLNames.quoted(index.name))")
    }
  }

  /// Whether its name is one that frameworks give to an index of a model.
  private func hasNameOfModel(_ index: FileIndex, in store: ExaminedStore) -> Bool {
    store.mapping.entities.contains { index.name.hasPrefix("Z_\($0.name)_") }
  }

  /// Whether it's an index of the model: by the name in new files, or by its columns.
  private func isWanted(
    _ index: FileIndex, by wanted: [SchemaIndex], names: Set<String>
  ) -> Bool {
    wanted.contains { wanted in
      index.serves(wanted) && (index.name == wanted.name || !names.contains(wanted.name))
    }
  }
}

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
