/// Statements shortened for one line of a terminal or a table.
package enum SQLAbbreviation {
  /// The statement with its column list cut after the first three columns of the table.
  ///
  /// `SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, ... FROM ZMOOD t0 WHERE  t0.Z_PK = ?`. A constant in
  /// the place of `Z_ENT` is not counted as a column.
  package static func short(_ sql: String) -> String {
    guard sql.hasPrefix("SELECT "), let from = sql.firstRange(of: " FROM ") else { return sql }
    let columns = sql[..<from.lowerBound].dropFirst("SELECT ".count).split(separator: ", ")
    let kept = columns.first?.allSatisfy(\.isNumber) == true ? 4 : 3
    guard columns.count > kept + 1 else { return sql }
    return "SELECT " + columns.prefix(kept).joined(separator: ", ") + ", ..."
      + sql[from.lowerBound...]
  }
}
