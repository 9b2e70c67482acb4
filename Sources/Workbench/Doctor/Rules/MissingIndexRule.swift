import OpenCoreData

/// Indexes that the model asks for, or that relationships always have, and the file lacks.
struct MissingIndexRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let present = try FileIndex.all(on: store.connection)
    return store.anatomy.indexes
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
}
