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
        nextStep: "save each of them once, which its triggers hear of")
    }
  }
}
