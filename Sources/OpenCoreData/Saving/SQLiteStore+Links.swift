import ManagedModel
import ProfileEvents
import SQLiteDriver

// What a save writes of to-many relationships: the pairs of a many-to-many, and the columns of a
// to-many without inverse.

extension SQLiteStore {
  /// Removes pairs of a many-to-many, and what the columns of a to-many without inverse say.
  func removeLinks(
    of object: NSManagedObject, on connection: Connection, in scope: ProfileScope
  ) throws {
    for (mapped, value) in changedLinks(of: object) {
      for other in value.removed {
        if let sql = translator.updateHiddenInverse(mapped) {
          try point(other, nil, mapped, sql, connection, scope)
        } else {
          try pair(translator.deleteJoinRow(mapped), .delete, object, other, connection, scope)
        }
      }
    }
  }

  /// Adds pairs of a many-to-many, and sets the columns of a to-many without inverse.
  func addLinks(
    of object: NSManagedObject, on connection: Connection, in scope: ProfileScope
  ) throws {
    for (mapped, value) in changedLinks(of: object) where mapped.orderColumn == nil {
      for other in value.added {
        if let sql = translator.updateHiddenInverse(mapped) {
          try point(other, object, mapped, sql, connection, scope)
        } else {
          try pair(translator.insertJoinRow(mapped), .insert, object, other, connection, scope)
        }
      }
    }
  }

  /// The changed to-many relationships of an object that are not written with the other end's row.
  private func changedLinks(of object: NSManagedObject) -> [(SQLToMany, ToManyValue)] {
    let layout = object.layout
    guard !layout.toMany.isEmpty, let values = object.values else { return [] }
    return layout.toMany.enumerated().compactMap { index, relationship in
      guard case .toMany(let value) = values[layout.holdingIndex(.toMany(index))],
        value.hasChanges, let mapped = entity(layout).toMany[relationship.name],
        mapped.isManyToMany ? relationship.writesPairs : relationship.inverseRelationship == nil
      else { return nil }
      return (mapped, value)
    }
  }

  private func pair(
    _ sql: String?, _ kind: StatementKind, _ object: NSManagedObject, _ other: NSManagedObject,
    _ connection: Connection, _ scope: ProfileScope
  ) throws {
    guard let sql, !(kind == .insert && other.isDeleted) else { return }
    try change(
      sql, [.integer(object.primaryKey), .integer(other.primaryKey)], kind: kind,
      for: object.layout.entity.name, on: connection, in: scope)
  }

  private func point(
    _ other: NSManagedObject, _ object: NSManagedObject?, _ mapped: SQLToMany, _ sql: String,
    _ connection: Connection, _ scope: ProfileScope
  ) throws {
    guard !other.isDeleted else { return }
    var binds: [SQLiteValue] = [object.map { .integer($0.primaryKey) } ?? .null]
    if mapped.orderColumn != nil { binds.append(.null) }
    try change(
      sql, binds + [.integer(other.primaryKey)], kind: .update, for: other.layout.entity.name,
      on: connection, in: scope)
  }
}
