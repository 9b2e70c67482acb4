import OpenCoreData
import SQLiteDriver
import StatementAnalysis
import WorkbenchText

/// Detects missing indexes that the model declares or that relationships always have.
struct MissingIndexRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let present = try FileIndex.all(on: store.connection)
    return try missingRanges(in: store)
      + store.anatomy.indexes
      .filter { wanted in !present.contains { $0.serves(wanted) } }
      .map { wanted in
        DoctorFinding(
          .indexMissing, table: wanted.table, examples: [wanted.sql],
          // Without it, a save doesn't detect a constraint conflict.
          severity: wanted.isUnique ? .error : nil,
          "\(wanted.table) has no \(wanted.isUnique ? "unique index" : "index") on "
            + wanted.parts.map(\.column).joined(separator: ", "),
          nextStep: wanted.isUnique
            ? "remove duplicate values, then create it with the statement above"
            : "create it with the statement above; until then, searches scan the whole table")
      }
  }

  /// Returns findings for R-trees, which are virtual tables that triggers keep up to date.
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
          "\($0.table) has no R-tree \($0.name) on \($0.columns.joined(separator: ", "))",
          nextStep: "create it with the statements above, then save each row once")
      }
  }

  /// Returns findings for R-trees with missing rows.
  ///
  /// The contents of R-trees that Core Data on Apple platforms creates aren't known, so they aren't
  /// checked.
  private func incomplete(
    _ ranges: [RangeIndex], in store: ExaminedStore
  ) throws -> [DoctorFinding] {
    guard store.isMadeHere else { return [] }
    return try ranges.compactMap { range in
      let present = range.columns.map { "\(SQLSyntax.quoted($0)) IS NOT NULL" }.joined(
        separator: " AND ")
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLSyntax.quoted(range.table)) WHERE \(present) "
          + "AND Z_PK NOT IN (SELECT Z_PK FROM \(SQLSyntax.quoted(range.name)))")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .indexMissing, table: range.table, count: rows.count,
        examples: rows.keys.map { "Z_PK \($0)" },
        "the R-tree \(range.name) is missing \(NumberText.counted(rows.count, "row")) of "
          + range.table,
        nextStep: "save each of them once, which runs the triggers")
    }
  }
}

/// Detects indexes that the model doesn't declare and that another index makes redundant.
///
/// An index of the model isn't reported, even if a longer one exists: it was added on purpose;
/// neither is one that a deferred migration removes when it's finished.
struct RedundantIndexRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let present = try FileIndex.all(on: store.connection)
    let names = Set(present.map(\.name))
    let isInferred = store.anatomy.source.isInferred
    let redundant = present.enumerated().filter { offset, index in
      guard index.isExplicit, !index.isUnique,
        store.anatomy.deferredObjects.isDisjoint(with: [index.name, index.table]),
        !isWanted(index, by: store.anatomy.indexes, names: names)
      else { return false }
      return present.enumerated().contains { other in
        guard other.offset != offset, other.element.covers(index) else { return false }
        let isEqual = other.element.parts.count == index.parts.count
        // Without a model, only the name indicates whether an index was declared. Of two equal
        // indexes that weren't, one is redundant.
        if isInferred && (!isEqual || hasNameOfModel(index, in: store)) { return false }
        // Of two equal indexes that the model doesn't declare, keep the first.
        return !isEqual || other.offset < offset
          || isWanted(other.element, by: store.anatomy.indexes, names: names)
      }
    }
    return redundant.map { _, index in
      let columns = index.parts.map(\.column).joined(separator: ", ")
      return DoctorFinding(
        .indexRedundant, table: index.table, examples: [index.name],
        "the index \(index.name) of \(index.table) (\(columns)) is redundant: another index serves "
          + "the same searches, and each save updates both",
        nextStep: "DROP INDEX \(SQLSyntax.quoted(index.name))")
    }
  }

  /// Returns whether an index has the kind of name that the frameworks give to an index of a model.
  private func hasNameOfModel(_ index: FileIndex, in store: ExaminedStore) -> Bool {
    store.mapping.entities.contains { index.name.hasPrefix("Z_\($0.name)_") }
  }

  /// Returns whether an index is declared by the model, by its name or, if no index has that name,
  /// its columns.
  private func isWanted(
    _ index: FileIndex, by wanted: [SchemaIndex], names: Set<String>
  ) -> Bool {
    wanted.contains { wanted in
      index.serves(wanted) && (index.name == wanted.name || !names.contains(wanted.name))
    }
  }
}

/// Detects missing triggers that keep derived attributes and R-trees up to date.
///
/// In a file that OpenCoreData created, each trigger is checked by name. In one that Core Data on
/// Apple platforms created, an attribute that's a count or a sum must have at least one trigger.
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
          "the R-tree \(range.name) isn't kept up to date: "
            + "\(NumberText.counted(lost.count, "trigger")) of \(range.table) "
            + PluralForm.of(lost.count, "is missing", "are missing"),
          nextStep: "create them as `cdprof model STORE --ddl` prints them, and save each row once")
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
      "\(derived.entity.name).\(derived.name) isn't kept up to date: "
        + (isMadeHere
          ? "\(NumberText.counted(lost.count, "trigger")) \(PluralForm.of(lost.count, "is", "are")) missing"
          : "it has no trigger"),
      nextStep: "create them as `cdprof model STORE --ddl` prints them; until then, saves don't "
        + "update the value")
  }
}

extension FileIndex {
  /// Returns whether the index serves as one that a model requires, regardless of its name.
  fileprivate func serves(_ wanted: SchemaIndex) -> Bool {
    table == wanted.table.uppercased() && isPartial == (wanted.condition != nil)
      && (isUnique || !wanted.isUnique)
      && parts.map(\.column) == wanted.parts.map { $0.column.uppercased() }
  }
}
