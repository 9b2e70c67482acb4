import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// `Z_MAX` below the largest key in use, and keys that are none.
struct KeyMaximumRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    var tables = store.roots.map { (number: $0.number, name: $0.name, table: $0.table) }
    for (number, table) in HistoryTables.numbers where store.tables.contains(table) {
      tables.append((number, table, table))
    }
    return try impossible(in: store)
      + tables.compactMap { number, name, table in
        let largest = try store.number("SELECT MAX(Z_PK) FROM \(SQLNames.quoted(table))")
        let rows = try store.connection.values(
          "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(number))])
        var maximum: Int?
        if case .integer(let value)? = rows.first?.first { maximum = Int(clamping: value) }
        if let maximum, maximum > Self.lastUsable {
          return full(number, name, table, maximum: maximum, largest: largest)
        }
        guard largest > maximum ?? (rows.isEmpty ? -1 : 0) else { return nil }
        let said = maximum.map { "Z_MAX of \(name) is \($0)" } ?? "\(name) has no Z_MAX"
        return DoctorFinding(
          .keyMaximum, entity: name, table: table, count: 1,
          examples: store.uris([Int64(largest)], of: name),
          "\(said), and its largest key is \(largest): new objects would get keys that are taken",
          nextStep: "UPDATE Z_PRIMARYKEY SET Z_MAX = \(largest) WHERE Z_ENT = \(number)")
      }
  }

  /// Above it there is not room for a large save.
  private static let lastUsable = Int.max - 1_000_000_000

  private func full(
    _ number: Int, _ name: String, _ table: String, maximum: Int, largest: Int
  ) -> DoctorFinding {
    let isFull = largest > Self.lastUsable
    return DoctorFinding(
      .keyMaximum, entity: name, table: table, count: 1, examples: ["Z_MAX \(maximum)"],
      "Z_MAX of \(name) is \(maximum): no keys are left for new objects",
      nextStep: isFull
        ? "give the rows with the largest keys others, and to what leads to them as well"
        : "UPDATE Z_PRIMARYKEY SET Z_MAX = \(largest) WHERE Z_ENT = \(number)")
  }

  /// Rows whose key no object can have.
  private func impossible(in store: ExaminedStore) throws -> [DoctorFinding] {
    try store.roots.compactMap { root in
      let rows = try store.keys("SELECT Z_PK FROM \(SQLNames.quoted(root.table)) WHERE Z_PK < 1")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .keyMaximum, entity: root.name, table: root.table, count: rows.count,
        examples: rows.keys.map { "Z_PK \($0)" },
        "\(NumberText.counted(rows.count, "row")) of \(root.table) "
          + "\(PluralForm.of(rows.count, "has", "have")) a key below 1: fetches fail at "
          + PluralForm.of(rows.count, "it", "them"),
        nextStep: "give each a key above Z_MAX, and to what leads to it as well")
    }
  }
}
