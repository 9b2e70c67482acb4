import EngineInterface
import OpenCoreData
import PostgresDriver
import PostgresStore

import class ManagedModel.NSManagedObjectModel

/// A copy of a store in a schema of its own, on which indexes are tried.
final class PostgresTrials: IndexTrials {
  private let connection: PostgresConnection
  private let names: StoreNames
  private let remove: () -> Void

  let unit = "row"
  let minimumGains = (proposal: 500, finding: 1_000)
  let presentIndexes: [PresentIndex]

  private static let pageSize = 8_192

  /// Creates trials in a schema that has a copy.
  ///
  /// - Parameter remove: Removes the copy, when the trials are released.
  init(
    _ connection: PostgresConnection, schema: String, model: NSManagedObjectModel,
    remove: @escaping () -> Void
  ) throws {
    names = try StoreNames(model)
    presentIndexes = try Self.indexes(of: schema, connection, names)
    (self.connection, self.remove) = (connection, remove)
  }

  deinit {
    remove()
  }

  func measure(_ statement: ServerStatement) -> TrialMeasure? {
    guard let lines = try? PostgresPlan.lines(of: statement, on: connection) else { return nil }
    let plan = PostgresPlan(lines: lines)
    return TrialMeasure(cost: plan.visitedRows, lines: lines, indexes: plan.indexes)
  }

  func makeIndex(_ index: TrialIndex, named name: String) -> Bool {
    (try? connection.execute(sql(of: index, named: name))) != nil
  }

  func dropIndex(named name: String) {
    _ = try? connection.execute("DROP INDEX IF EXISTS \(Self.quotedIndex(name))")
  }

  func sql(of index: TrialIndex, named name: String) -> String {
    let columns = zip(index.columns, index.isDescending).map { column, isDescending in
      quoted(column) + (isDescending ? " DESC NULLS LAST" : " ASC NULLS FIRST")
    }
    return "CREATE INDEX \(Self.quotedIndex(name)) ON \(QuotedIdentifier.of(index.table)) "
      + "(\(columns.joined(separator: ", ")))"
      + (index.notNull.map { " WHERE \(quoted($0)) IS NOT NULL" } ?? "")
  }

  func size(ofIndexNamed name: String) -> (pages: Int, bytes: Int)? {
    let found = try? connection.query(
      "SELECT pg_relation_size($1::text::regclass)", [.text(Self.quotedIndex(name))])
    guard let bytes = found?.integer(0, 0) else { return nil }
    return (Int(bytes) / Self.pageSize, Int(bytes))
  }

  func sparseColumns(of table: String, among columns: [String]) -> Set<String> {
    guard !columns.isEmpty,
      let result = try? connection.query(
        "SELECT count(*), \(columns.map { "count(\(quoted($0)))" }.joined(separator: ", ")) "
          + "FROM \(QuotedIdentifier.of(table))"),
      let all = result.integer(0, 0)
    else { return [] }
    return Set(
      columns.enumerated().filter { (result.integer(0, $0.offset + 1) ?? 0) * 2 < all }
        .map(\.element))
  }

  func properties(
    of columns: [String], in table: String
  ) -> (entity: String, properties: [String])? {
    names.properties(of: columns, in: table)
  }

  private func quoted(_ column: String) -> String { QuotedIdentifier.of(column) }

  /// Returns the name of an index, which is shortened if it's too long for the server.
  private static func quotedIndex(_ name: String) -> String {
    QuotedIdentifier.of(StoreNames.identifier(name))
  }

  private static func indexes(
    of schema: String, _ connection: PostgresConnection, _ names: StoreNames
  ) throws -> [PresentIndex] {
    // Bit 0 of an option is for descending order, and bit 1 for NULLs at the beginning.
    let result = try connection.query(
      """
      SELECT i.relname::text, t.relname::text, x.indisunique, x.indpred IS NOT NULL, \
      EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.oid), \
      array_to_string(ARRAY(SELECT COALESCE((SELECT a.attname FROM pg_attribute a \
      WHERE a.attrelid = t.oid AND a.attnum = k.n), '') FROM unnest(x.indkey::int2[]) \
      WITH ORDINALITY AS k(n, o) ORDER BY k.o), E'\\x01'), \
      array_to_string(x.indoption::int2[], ' ') \
      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid \
      WHERE t.relnamespace = $1::text::regnamespace ORDER BY 1
      """, [.text(QuotedIdentifier.of(schema))])
    return (0..<result.rowCount).compactMap { row in
      guard let name = result.text(row, 0), let table = result.text(row, 1) else { return nil }
      let columns = (result.text(row, 5) ?? "").split(
        separator: "\u{1}", omittingEmptySubsequences: false
      ).map(String.init)
      let options = (result.text(row, 6) ?? "").split(separator: " ").map { Int($0) ?? 0 }
      let isUnique = result.boolean(row, 2) ?? false
      // The store's ORDER BY has NULLs at the other end than a constraint's index, which therefore
      // doesn't serve it, nor makes a fetch index redundant that does.
      if isUnique, options.contains(where: { [0, 3].contains($0) }) { return nil }
      return PresentIndex(
        name: name, table: table, columns: columns,
        isDescending: columns.indices.map { $0 < options.count && options[$0] & 1 == 1 },
        isUnique: isUnique, isPartial: result.boolean(row, 3) ?? false,
        isAutomatic: result.boolean(row, 4) ?? false
          || names.isOwn(columns[0], in: table))
    }
  }
}
