/// A fetch index whose elements are ranges: an R-tree beside the table, kept up by triggers.
///
/// A row is in it when all its indexed values are there; its range in each dimension is the value.
package struct RangeIndex: Hashable, Sendable {
  /// The virtual table's name: `Z_RT_Place_byPosition`.
  package let name: String
  /// The table of the rows, as the file spells it.
  package let table: String
  /// The columns of the dimensions, one to five.
  package let columns: [String]

  /// What SQLite's module takes.
  static let maximumDimensions = 5

  /// The statements that make it: the virtual table, then its triggers.
  package var statements: [String] {
    let index = SQLNames.quoted(name)
    let key = "Z_PK INTEGER PRIMARY KEY"
    let bounds = columns.flatMap { column in
      ["MIN", "MAX"].map { "\(SQLNames.quoted("\(column)_\($0)")) FLOAT" }
    }
    let quoted = columns.map(SQLNames.quoted)
    let present = quoted.map { "NEW.\($0) IS NOT NULL" }.joined(separator: " AND ")
    let values = quoted.flatMap { ["NEW.\($0)", "NEW.\($0)"] }.joined(separator: ", ")
    let insert = "INSERT OR REPLACE INTO \(index) SELECT NEW.Z_PK, \(values) WHERE \(present);"
    let delete = "DELETE FROM \(index) WHERE Z_PK = OLD.Z_PK;"
    return [
      "CREATE VIRTUAL TABLE \(index) USING RTREE (\(([key] + bounds).joined(separator: ", ")))",
      trigger("INSERT", "INSERT", insert),
      trigger("UPDATE", "UPDATE OF \(quoted.joined(separator: ", "))", "\(delete) \(insert)"),
      trigger("DELETE", "DELETE", delete),
    ]
  }

  /// The names of the triggers that keep it up.
  package var triggerNames: [String] { ["INSERT", "UPDATE", "DELETE"].map(triggerName) }

  private func triggerName(_ suffix: String) -> String { "\(name)_\(suffix)" }

  private func trigger(_ suffix: String, _ event: String, _ body: String) -> String {
    "CREATE TRIGGER IF NOT EXISTS \(SQLNames.quoted(triggerName(suffix))) AFTER \(event) "
      + "ON \(SQLNames.quoted(table)) FOR EACH ROW BEGIN \(body) END"
  }
}
