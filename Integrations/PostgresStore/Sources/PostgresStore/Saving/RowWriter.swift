import OpenCoreData
import PostgresDriver

/// Writes the rows of a save, with a statement for many rows at once, in a transaction that is
/// open.
struct RowWriter {
  private let connection: PostgresConnection
  /// The new versions of updated rows that had to have no certain one.
  private var versions: [RowIdentity: Int64] = [:]
  /// The objects whose rows have other versions than expected.
  private(set) var changed: [NSManagedObject] = []

  private static let key = SystemColumn.key
  private static let entity = SystemColumn.entity
  private static let version = SystemColumn.version

  init(_ connection: PostgresConnection) {
    self.connection = connection
  }

  /// Writes all rows and links.
  ///
  /// Tables are written in the order of their names, and rows in that of their keys, so that
  /// transactions rarely wait for each other in a circle.
  mutating func write(_ rows: SavedRows) throws {
    for (_, group) in rows.locked.sorted(by: { $0.key < $1.key }) { try compare(group) }
    for (_, links) in rows.cleared.sorted(by: { $0.key < $1.key }) {
      try clear(links.storage, links.keys)
    }
    for (_, group) in rows.deleted.sorted(by: { $0.key < $1.key }) { try delete(group) }
    for group in rows.updated.sorted(by: { $0.columns.identity < $1.columns.identity }) {
      for batch in group.batches { try update(group.columns, batch) }
    }
    for group in rows.inserted.sorted(by: { $0.columns.identity < $1.columns.identity }) {
      for batch in group.batches { try insert(group.columns, batch) }
    }
    guard changed.isEmpty else { return }
    let links = rows.links.sorted { $0.key < $1.key }.map(\.value)
    for link in links { try remove(link) }
    for link in links { try add(link) }
    for link in links { try order(link) }
  }

  // MARK: Rows

  /// Returns the version that a written row has now.
  func newVersion(of row: SavedRows.Row, in table: StoreTable) -> Int64? {
    guard !row.isNew else { return (row.version ?? 0) + 1 }
    return row.version.map { $0 + 1 } ?? versions[RowIdentity(table: table.name, key: row.key)]
  }

  private mutating func insert(_ written: WrittenColumns, _ batch: SavedRows.Batch) throws {
    let rows = batch.rows
    let columns = [Self.key, Self.entity, Self.version] + written.names
    let marks = (1...columns.count).map { "$\($0)" }.joined(separator: ", ")
    let result = try connection.query(
      "INSERT INTO \(written.table.name) (\(columns.joined(separator: ", "))) "
        + "SELECT * FROM unnest(\(marks)) ON CONFLICT (\(Self.key)) DO NOTHING RETURNING \(Self.key)",
      [
        .integers(rows.map(\.key)), .integers(rows.map(\.entity)),
        .integers(rows.map { ($0.version ?? 0) + 1 }),
      ] + batch.parameters)
    guard result.rowCount < rows.count else { return }
    let keys = Set(result.integers(0))
    for row in rows where !keys.contains(row.key) {
      if row.isRestored {
        changed.append(row.object)
      } else {
        throw StoreError.make(
          NSPersistentStoreSaveError,
          "The key \(row.key) of a new object is in use: the sequence \(SchemaCreation.keySequence) is behind "
            + "the rows, or the previous save has succeeded, though its connection was lost.",
          [NSAffectedObjectsErrorKey: [row.object]])
      }
    }
  }

  private mutating func update(_ written: WrittenColumns, _ batch: SavedRows.Batch) throws {
    let rows = batch.rows
    let names = written.names.indices.map { "c\($0)" }
    let marks = (1...(names.count + 2)).map { "$\($0)" }.joined(separator: ", ")
    let sets = zip(written.names, names).map { ", \($0) = v.\($1)" }.joined()
    let aliases = (["pk", "opt"] + names).joined(separator: ", ")
    let result = try connection.query(
      "UPDATE \(written.table.name) t SET \(Self.version) = t.\(Self.version) + 1\(sets) "
        + "FROM unnest(\(marks)) AS v(\(aliases)) WHERE t.\(Self.key) = v.pk "
        + "AND (v.opt IS NULL OR t.\(Self.version) = v.opt) RETURNING t.\(Self.key), t.\(Self.version)",
      [
        .integers(rows.map(\.key)),
        Self.versions(rows.map(\.version)),
      ] + batch.parameters)
    guard result.rowCount < rows.count || rows.contains(where: { $0.version == nil }) else {
      return
    }
    var found: [Int64: Int64] = [:]
    for row in 0..<result.rowCount {
      if let key = result.integer(row, 0) { found[key] = result.integer(row, 1) }
    }
    for (key, version) in found {
      versions[RowIdentity(table: written.table.name, key: key)] = version
    }
    changed += rows.filter { found[$0.key] == nil }.map(\.object)
  }

  private static func versions(_ versions: [Int64?]) -> PostgresValue {
    var array = PostgresArray(.integer, capacity: versions.count)
    for version in versions {
      if let version { array.append(version) } else { array.appendNull() }
    }
    return array.finished()
  }

  /// Deletes rows; one that no longer exists isn't a conflict.
  private mutating func delete(
    _ group: (table: StoreTable, rows: [SavedRows.Comparison])
  ) throws {
    let rows = group.rows.sorted { $0.key < $1.key }
    let result = try connection.query(
      "DELETE FROM \(group.table.name) t USING unnest($1, $2) AS v(pk, opt) WHERE t.\(Self.key) = v.pk "
        + "AND (v.opt IS NULL OR t.\(Self.version) = v.opt) RETURNING t.\(Self.key)",
      [
        .integers(rows.map(\.key)),
        Self.versions(rows.map(\.version)),
      ])
    let deleted = Set(result.integers(0))
    let others = rows.filter { !deleted.contains($0.key) }
    guard !others.isEmpty else { return }
    let present = Set(
      try connection.query(
        "SELECT \(Self.key) FROM \(group.table.name) WHERE \(Self.key) = ANY($1)",
        [.integers(others.map(\.key))]
      ).integers(0))
    changed += others.filter { present.contains($0.key) }.map(\.object)
  }

  /// Compares the versions of rows that aren't written, and keeps others from changing them before
  /// the COMMIT.
  private mutating func compare(
    _ group: (table: StoreTable, rows: [SavedRows.Comparison])
  ) throws {
    let result = try connection.query(
      "SELECT \(Self.key), \(Self.version) FROM \(group.table.name) WHERE \(Self.key) = ANY($1) "
        + "ORDER BY \(Self.key) FOR SHARE",
      [.integers(group.rows.map(\.key))])
    var found: [Int64: Int64] = [:]
    for row in 0..<result.rowCount {
      if let key = result.integer(row, 0) { found[key] = result.integer(row, 1) }
    }
    changed += group.rows.filter { row in
      guard let present = found[row.key] else { return true }
      return row.version.map { $0 != present } ?? false
    }.map(\.object)
  }

  // MARK: Links

  private func parameters(_ links: some Collection<SavedRows.Link>) -> [PostgresValue] {
    let sorted = links.sorted { ($0.source, $0.target) < ($1.source, $1.target) }
    return [.integers(sorted.map(\.source)), .integers(sorted.map(\.target))]
  }

  /// Removes the links of deleted objects.
  private func clear(_ storage: ToManyMapping.Storage, _ keys: [Int64]) throws {
    switch storage {
    case .join(let table, let source, _, _):
      try connection.query(
        "DELETE FROM \(table) WHERE \(source) = ANY($1)", [.integers(keys)])
    case .column(let table, let column, _):
      try connection.query(
        "UPDATE \(table.name) SET \(column) = NULL WHERE \(column) = ANY($1)", [.integers(keys)])
    }
  }

  private func remove(_ links: SavedRows.Links) throws {
    guard !links.removed.isEmpty else { return }
    switch links.storage {
    case .join(let table, let source, let target, _):
      try connection.query(
        "DELETE FROM \(table) j USING unnest($1, $2) AS v(s, t) WHERE j.\(source) = v.s AND j.\(target) = v.t",
        parameters(links.removed))
    case .column(let table, let column, _):
      try connection.query(
        "UPDATE \(table.name) d SET \(column) = NULL FROM unnest($1, $2) AS v(s, t) "
          + "WHERE d.\(Self.key) = v.t AND d.\(column) = v.s",
        parameters(links.removed))
    }
  }

  private func add(_ links: SavedRows.Links) throws {
    guard !links.added.isEmpty else { return }
    switch links.storage {
    case .join(let table, let source, let target, _):
      try connection.query(
        "INSERT INTO \(table) (\(source), \(target)) SELECT * FROM unnest($1, $2) ON CONFLICT DO NOTHING",
        parameters(links.added))
    case .column(let table, let column, _):
      try connection.query(
        "UPDATE \(table.name) d SET \(column) = v.s FROM unnest($1, $2) AS v(s, t) WHERE d.\(Self.key) = v.t",
        parameters(links.added))
    }
  }

  /// Writes the positions in ordered relationships that have changed.
  private func order(_ links: SavedRows.Links) throws {
    let pairs = links.lists.flatMap { list in
      list.enumerated().map { (link: $1, position: Int64($0)) }
    }
    guard !pairs.isEmpty else { return }
    let (table, source, target, order): (String, String, String, String?)
    switch links.storage {
    case .join(let name, let from, let to, let column):
      (table, source, target, order) = (name, from, to, column)
    case .column(let destination, let column, let position):
      (table, source, target, order) = (destination.name, column, Self.key, position)
    }
    guard let order else { return }
    try connection.query(
      "UPDATE \(table) d SET \(order) = v.p FROM unnest($1, $2, $3) AS v(s, t, p) WHERE d.\(source) = v.s "
        + "AND d.\(target) = v.t AND d.\(order) IS DISTINCT FROM v.p",
      [
        .integers(pairs.map(\.link.source)), .integers(pairs.map(\.link.target)),
        .integers(pairs.map(\.position)),
      ])
  }
}
