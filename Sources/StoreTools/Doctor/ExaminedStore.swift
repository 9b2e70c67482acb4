import Foundation
import OpenCoreData
import SQLiteDriver

/// A store on the doctor's table: its file, opened to be looked at, and how it is built.
struct ExaminedStore: Sendable {
  let url: URL
  let connection: Connection
  let anatomy: StoreAnatomy
  /// In upper case.
  let tables: Set<String>
  /// The store's identity in URIs; `?` when it cannot be read.
  let uuid: String
  /// Whether this framework made the file, so that names of triggers are known.
  let isMadeHere: Bool

  var mapping: SQLModel { anatomy.mapping }

  /// The entities at the top of their hierarchies: one a table.
  var roots: [SQLEntity] { mapping.entities.filter { $0.superentity == nil } }

  /// The attributes and to-one relationships with a column, each once, where they are declared.
  var columns: [(entity: SQLEntity, column: SQLColumn)] {
    mapping.entities.flatMap { entity in entity.ownColumns.map { (entity, $0) } }
  }

  /// The to-many relationships, each once, where they are declared.
  var toMany: [(entity: SQLEntity, relationship: SQLToMany)] {
    mapping.entities.flatMap { entity in
      entity.toMany.values
        .filter { $0.relationship.entity === entity.description }
        .sorted { $0.relationship.name < $1.relationship.name }
        .map { (entity, $0) }
    }
  }

  /// Some first columns of a SELECT of keys, and how many rows it has in all.
  ///
  /// - Parameter select: gives a key first.
  func keys(_ select: String) throws -> (count: Int, keys: [Int64]) {
    let count = try number("SELECT COUNT(*) FROM (\(select))")
    guard count > 0 else { return (0, []) }
    let rows = try connection.values("\(select) LIMIT 5")
    return (
      count,
      rows.compactMap { row in
        if case .integer(let key)? = row.first { key } else { nil }
      }
    )
  }

  /// The URIs of some rows of an entity.
  func uris(_ keys: [Int64], of entity: String) -> [String] {
    keys.map { "x-coredata://\(uuid)/\(entity)/p\($0)" }
  }

  /// The one number that a SELECT gives; 0 for none.
  func number(_ select: String) throws -> Int {
    guard case .integer(let number)? = try connection.values(select).first?.first else { return 0 }
    return Int(clamping: number)
  }
}

extension SQLEntity {
  /// A list for `Z_ENT IN`: the entity and its descendants.
  var numberList: String {
    "(\(concreteNumbers.map(String.init).joined(separator: ", ")))"
  }
}
