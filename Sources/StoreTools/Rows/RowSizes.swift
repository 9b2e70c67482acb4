import Foundation
import OpenCoreData
import SQLiteDriver

/// The sizes of the rows of a large store, which limit how many of them are read at a time.
struct RowSizes {
  /// `nil` if the store can't be read, whose rows then are groups of their own.
  private let source: Source?

  private struct Source {
    let connection: Connection
    /// Retained, because a relationship doesn't retain its destination.
    let mapping: SQLModel
    let entity: SQLEntity
  }

  /// Opens a store without modifying any file, or returns `nil` if its files together aren't larger
  /// than a number of bytes.
  init?(ofStoreAt url: URL, entity name: String, largerThan limit: Int) {
    if let files = try? StoreFileInspection(path: url.path),
      files.database.size + (files.log?.size ?? 0) <= Int64(limit)
    {
      return nil
    }
    guard let connection = try? Connection(path: url.path, access: .inspecting) else {
      source = nil
      return
    }
    guard let mapping = try? StoreAnatomy(reading: connection).mapping,
      let entity = mapping.entities.first(where: { $0.name == name })
    else {
      connection.close()
      source = nil
      return
    }
    source = Source(connection: connection, mapping: mapping, entity: entity)
  }

  /// Closes the store.
  func close() { source?.connection.close() }

  /// Returns rows in groups, in the same order, whose sizes add up to at most a number of bytes; a
  /// larger row is alone, and so is each row if the sizes can't be read.
  ///
  /// **Cost:** one SELECT, which reads the rows.
  func groups(of ids: [NSManagedObjectID], upTo limit: Int) -> [[NSManagedObjectID]] {
    guard let source, let rows = try? RowSizes.rows(ids, source) else { return ids.map { [$0] } }
    var sizes: [Int64: Int] = [:]
    for row in rows {
      guard case .integer(let key)? = row.first else { continue }
      sizes[key] = RowSizes.sum(row.dropFirst())
    }
    var groups: [[NSManagedObjectID]] = []
    var (group, bytes): ([NSManagedObjectID], Int) = ([], 0)
    for id in ids {
      let size = sizes[id.primaryKey] ?? 0
      if !group.isEmpty, bytes + size > limit {
        groups.append(group)
        (group, bytes) = ([], 0)
      }
      group.append(id)
      bytes += size
    }
    return group.isEmpty ? groups : groups + [group]
  }

  /// Returns the size of the rows that a to-many relationship of rows refers to, in bytes, or `nil`
  /// if it can't be read.
  ///
  /// **Cost:** one SELECT, which reads those rows.
  func ofDestinations(_ name: String, from ids: [NSManagedObjectID]) -> Int? {
    guard let source, let relationship = source.entity.toMany[name] else { return nil }
    let condition =
      switch relationship.storage {
      case .foreignKey(let column, _):
        "\(SQLSyntax.quoted(column)) IN (\(RowSizes.keys(ids)))"
      case .joinTable(let table, let source, let destination, _):
        "Z_PK IN (SELECT \(SQLSyntax.quoted(destination)) FROM \(SQLSyntax.quoted(table)) "
          + "WHERE \(SQLSyntax.quoted(source)) IN (\(RowSizes.keys(ids))))"
      }
    let columns = RowSizes.columns(of: relationship.destination).map { "SUM(\($0))" }
    let rows = try? source.connection.values(
      "SELECT \((["COUNT(*) * 100"] + columns).joined(separator: ", ")) "
        + "FROM \(SQLSyntax.quoted(relationship.destination.table)) WHERE \(condition)")
    return rows?.first.map { RowSizes.sum($0[...]) }
  }

  /// Returns the keys of rows and the sizes of their columns.
  private static func rows(
    _ ids: [NSManagedObjectID], _ source: Source
  ) throws -> [[SQLiteValue]] {
    let columns = ["Z_PK"] + Self.columns(of: source.entity)
    return try source.connection.values(
      "SELECT \(columns.joined(separator: ", ")) FROM \(SQLSyntax.quoted(source.entity.table)) "
        + "WHERE Z_PK IN (\(keys(ids)))")
  }

  private static func keys(_ ids: [NSManagedObjectID]) -> String {
    ids.map { String($0.primaryKey) }.joined(separator: ", ")
  }

  /// Returns the sizes of all columns of an entity's table as SQL expressions.
  private static func columns(of entity: SQLEntity) -> [String] {
    entity.root.family.flatMap(\.ownColumns).map { column in
      let name = SQLSyntax.quoted(column.name)
      // SQLite doesn't read a BLOB for its length; that of a string ends at a zero character.
      return "CASE typeof(\(name)) WHEN 'blob' THEN length(\(name)) "
        + "ELSE length(CAST(\(name) AS BLOB)) END"
    }
  }

  private static func sum(_ values: ArraySlice<SQLiteValue>) -> Int {
    values.reduce(0) { sum, value in
      if case .integer(let size) = value { sum + Int(size) } else { sum }
    }
  }
}
