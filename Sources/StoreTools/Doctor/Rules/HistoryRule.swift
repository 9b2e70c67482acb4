import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Detects persistent history that's inconsistent with the rows or with itself.
struct HistoryRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    guard store.tables.contains(HistoryTables.changes),
      store.tables.contains(HistoryTables.transactions)
    else { return [] }
    return try loose(store) + strings(store) + outOfStep(store)
  }

  /// Returns findings for changes without a transaction, of an unknown entity, or of an unknown
  /// type.
  private func loose(_ store: ExaminedStore) throws -> [DoctorFinding] {
    let known = store.mapping.entities.map { String($0.number) }.joined(separator: ", ")
    let checks = [
      (
        "ZTRANSACTIONID IS NULL OR ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)",
        "without a transaction"
      ),
      ("ZENTITY IS NULL OR ZENTITY NOT IN (\(known))", "of an entity that isn't in the store"),
      (
        "ZCHANGETYPE IS NULL OR ZCHANGETYPE NOT IN (0, 1, 2)",
        "that aren't an insert, update, or delete"
      ),
    ]
    return try checks.compactMap { condition, words in
      let rows = try store.keys("SELECT Z_PK FROM ACHANGE WHERE \(condition)")
      return rows.count == 0
        ? nil
        : finding("the history has \(NumberText.counted(rows.count, "change")) \(words)", rows)
    }
  }

  /// Returns findings for transactions whose author, context, bundle, or process refers to a
  /// missing string.
  private func strings(_ store: ExaminedStore) throws -> [DoctorFinding] {
    guard store.tables.contains(HistoryTables.strings) else { return [] }
    let rows = try store.connection.values(
      "SELECT name FROM pragma_table_info('ATRANSACTION') "
        + "WHERE name IN ('ZAUTHORTS', 'ZBUNDLEIDTS', 'ZCONTEXTNAMETS', 'ZPROCESSIDTS')")
    let missing = rows.compactMap { row -> String? in
      guard case .text(let name)? = row.first else { return nil }
      return "(\(name) IS NOT NULL AND \(name) NOT IN (SELECT Z_PK FROM ATRANSACTIONSTRING))"
    }
    guard !missing.isEmpty else { return [] }
    let found = try store.keys(
      "SELECT Z_PK FROM ATRANSACTION WHERE \(missing.joined(separator: " OR "))")
    return found.count == 0
      ? []
      : [
        finding(
          "\(NumberText.counted(found.count, "transaction")) of the history "
            + "\(PluralForm.of(found.count, "refers", "refer")) to a string that doesn't exist",
          found, in: HistoryTables.transactions)
      ]
  }

  /// Returns findings for objects that exist although their last change is a delete, and for
  /// missing objects whose last change isn't.
  private func outOfStep(_ store: ExaminedStore) throws -> [DoctorFinding] {
    try store.roots.flatMap { root in
      // With MAX, SQLite takes the other columns from the row with the greatest key.
      let last =
        "SELECT ZENTITYPK k, ZCHANGETYPE kind, MAX(Z_PK) FROM ACHANGE "
        + "WHERE ZENTITY IN \(root.numberList) GROUP BY ZENTITYPK"
      let table = SQLSyntax.quoted(root.table)
      let alive = try store.keys(
        "SELECT k FROM (\(last)) WHERE kind = 2 AND k IN (SELECT Z_PK FROM \(table))")
      let gone = try store.keys(
        "SELECT k FROM (\(last)) WHERE kind IN (0, 1) AND k NOT IN (SELECT Z_PK FROM \(table))")
      return [
        (alive, "existing object", "deleted"), (gone, "missing object", "inserted or updated"),
      ].compactMap { rows, objects, change -> DoctorFinding? in
        guard rows.count > 0 else { return nil }
        var found = finding(
          "the history lists \(NumberText.counted(rows.count, objects)) of \(root.name) as \(change)",
          rows)
        found.entity = root.name
        found.examples = store.uris(rows.keys, of: root.name)
        return found
      }
    }
  }

  private func finding(
    _ message: String, _ rows: (count: Int, keys: [Int64]), in table: String = HistoryTables.changes
  ) -> DoctorFinding {
    DoctorFinding(
      .history, table: table, count: rows.count,
      examples: rows.keys.map { "Z_PK \($0)" }, message,
      nextStep:
        "delete the history up to now, and let its clients start over from the rows"
    )
  }
}
