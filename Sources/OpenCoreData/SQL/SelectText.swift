/// Puts the parts of a SELECT together with the blanks that Apple's logs show.
///
/// An operand such as `t0.ZDATE` brings one blank before it, an `IN (SELECT …)` one behind it;
/// `LIMIT` has two before it.
struct SelectText {
  var list: String
  var table: String
  var isDistinct = false

  /// ` JOIN ZCOUNTRY t1 ON …`, each with its blank before it.
  var joins = ""

  /// What follows `WHERE `, empty for all rows.
  var condition = ""

  /// What follows `GROUP BY ` and `HAVING `, empty for none.
  var grouping = ""
  var having = ""

  /// What follows `ORDER BY `, empty for none.
  var order = ""

  /// 0 for none.
  var limit = 0
  var offset = 0

  /// Whether the table goes without its alias, as in `SELECT COUNT(*) FROM ZITEM`.
  var hidesAlias = false

  /// Whether the rows are only counted, after limit and offset.
  var isNested = false

  var sql: String {
    isNested ? "SELECT COUNT(*) FROM (\(plain))" : plain
  }

  private var plain: String {
    var sql = isDistinct ? "SELECT DISTINCT " : "SELECT "
    sql += list + " FROM " + SQLNames.quoted(table) + (hidesAlias ? "" : " t0") + joins
    if !condition.isEmpty { sql += " WHERE " + condition }
    if !grouping.isEmpty { sql += " GROUP BY " + grouping }
    if !having.isEmpty { sql += " HAVING " + having }
    if !order.isEmpty { sql += " ORDER BY " + order }
    if limit > 0 {
      sql += "  LIMIT \(limit)"
    } else if offset > 0 {
      sql += "  LIMIT -1"
    }
    if offset > 0 { sql += " OFFSET \(offset)" }
    while sql.last == " " { sql.removeLast() }
    return sql
  }
}
