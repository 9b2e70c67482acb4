import OpenCoreData
import SQLiteDriver

/// What `Z_PRIMARYKEY` says of the entities, against itself and against the model.
///
/// Names are not compared: the table may have an entity's former one.
struct EntityListRule: DoctorRule {
  private struct Listed {
    let number: Int64
    let name: String
    let parent: Int64
  }

  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let listed = try store.connection.values(
      "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT "
        + "LIMIT \(HousekeepingTables.largestEntityList)"
    ).compactMap { row -> Listed? in
      guard case .integer(let number) = row[0], case .text(let name) = row[1] else { return nil }
      if case .integer(let parent) = row[2] {
        return Listed(number: number, name: name, parent: parent)
      }
      return Listed(number: number, name: name, parent: 0)
    }
    return twice(listed) + circles(listed)
      + (store.anatomy.source.isGuessed ? [] : otherParents(listed, store.mapping))
  }

  private func twice(_ listed: [Listed]) -> [DoctorFinding] {
    Dictionary(grouping: listed, by: \.name).filter { $0.value.count > 1 }
      .sorted { $0.key < $1.key }
      .map { name, entries in
        finding(
          entries,
          "\(name) is listed \(entries.count) times in Z_PRIMARYKEY: which number its "
            + "rows have is not told", "delete the rows that no Z_ENT of the table names")
      }
  }

  private func circles(_ listed: [Listed]) -> [DoctorFinding] {
    let parents = Dictionary(listed.map { ($0.number, $0.parent) }) { first, _ in first }
    let lost = listed.filter { entity in
      var (number, steps) = (entity.number, 0)
      while number != 0, steps <= listed.count {
        number = parents[number] ?? 0
        steps += 1
      }
      return number != 0
    }
    guard !lost.isEmpty else { return [] }
    return [
      finding(
        lost, "Z_SUPER makes \(lost.map(\.name).joined(separator: ", ")) their own parents",
        "set Z_SUPER to the number of the parent, 0 for none")
    ]
  }

  private func otherParents(_ listed: [Listed], _ mapping: SQLModel) -> [DoctorFinding] {
    listed.compactMap { entry in
      guard let entity = mapping.entity(number: Int(clamping: entry.number)) else { return nil }
      let parent = entity.superentity
      guard entry.parent != Int64(parent?.number ?? 0) else { return nil }
      return finding(
        [entry],
        "\(entity.name) is below entity \(entry.parent) in Z_PRIMARYKEY, and below "
          + (parent.map { "\($0.number), \($0.name)," } ?? "none") + " in the model",
        "set Z_SUPER to \(parent?.number ?? 0)")
    }
  }

  private func finding(
    _ entries: [Listed], _ message: String, _ nextStep: String
  ) -> DoctorFinding {
    DoctorFinding(
      .entityList, entity: entries.first?.name, table: "Z_PRIMARYKEY", count: entries.count,
      examples: entries.map { "Z_ENT \($0.number) \($0.name), Z_SUPER \($0.parent)" }, message,
      nextStep: nextStep)
  }
}
