import OpenCoreData
import StatementAnalysis

/// Indexes that nobody asked for and that another one makes superfluous.
///
/// An index that the model asks for stays, even beside a longer one: its maker wanted it.
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
        // Of two that nobody asked for the first one stays.
        return !isEqual || other.offset < offset
          || isWanted(other.element, by: store.anatomy.indexes, names: names)
      }
    }
    return superfluous.map { _, index in
      let columns = index.parts.map(\.column).joined(separator: ", ")
      return DoctorFinding(
        .indexRedundant, table: index.table, examples: [index.name],
        "the index \(index.name) of \(index.table) (\(columns)) does nothing that another index "
          + "does not do, and costs at each save",
        nextStep: "DROP INDEX \(SQLNames.quoted(index.name))")
    }
  }

  /// Whether its name is one that frameworks give to an index of a model.
  private func hasNameOfModel(_ index: FileIndex, in store: ExaminedStore) -> Bool {
    store.mapping.entities.contains { index.name.hasPrefix("Z_\($0.name)_") }
  }

  /// Whether a model's index stands behind it: by the name new files use, or alone by its columns.
  private func isWanted(
    _ index: FileIndex, by wanted: [SchemaIndex], names: Set<String>
  ) -> Bool {
    wanted.contains { wanted in
      index.serves(wanted) && (index.name == wanted.name || !names.contains(wanted.name))
    }
  }
}
