import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Rows of a table that no object can be of: of an unknown entity, or with a key below 1.
package struct StrayRows: Encodable, Sendable {
  package let table: String
  package let count: Int
  /// `Z_PK` of some of them.
  package let keys: [Int64]

  private static let most = 5

  /// Looks through the table of each root entity; two SELECTs for a table that has some, else one.
  static func all(
    of mapping: SQLModel, on connection: Connection
  ) throws(SQLiteError) -> [StrayRows] {
    var found: [StrayRows] = []
    for root in mapping.entities where root.superentity == nil {
      let rows =
        "FROM \(SQLNames.quoted(root.table)) "
        + "WHERE Z_PK < 1 OR Z_ENT IS NULL OR Z_ENT NOT IN \(root.numberList)"
      guard case .integer(let count)? = try connection.values("SELECT COUNT(*) \(rows)").first?[0],
        count > 0
      else { continue }
      let keys = try connection.values("SELECT Z_PK \(rows) ORDER BY Z_PK LIMIT \(most)")
      found.append(
        StrayRows(
          table: root.table, count: Int(clamping: count),
          keys: keys.compactMap { if case .integer(let key) = $0[0] { key } else { nil } }))
    }
    return found
  }

  /// What is wrong, on one line.
  package var line: String {
    let others = count > keys.count ? " …" : ""
    return
      "\(NumberText.counted(count, "row")) of \(table) \(PluralForm.of(count, "is", "are")) of an unknown "
      + "entity or \(PluralForm.of(count, "has", "have")) a key below 1: Z_PK "
      + keys.map { "\($0)" }.joined(separator: ", ") + others
  }
}
