import OpenCoreData
import SQLiteDriver

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
    return store.anatomy.rangeIndexes.filter { !names.contains($0.name.uppercased()) }.map {
      DoctorFinding(
        .indexMissing, table: $0.table, examples: $0.statements,
        "\($0.table) has no R-tree \($0.name) of \($0.columns.joined(separator: ", "))",
        nextStep: "make it with the statements above, then save each row once")
    }
  }
}
