import OpenCoreData
import PostgresDriver

import class ManagedModel.NSEntityDescription
import class ManagedModel.NSRelationshipDescription

extension PostgresStore {
  /// Reads the row of an object with one SELECT.
  ///
  /// - Throws: 133000 if there is none.
  func node(
    of objectID: NSManagedObjectID, _ context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let age = context.stalenessInterval
    guard let key = key(of: objectID), let row = try row(key, objectID.entity, notOlderThan: age)
    else {
      throw StoreError.make(
        NSManagedObjectReferentialIntegrityError,
        "The row of \(objectID) doesn't exist in the PostgreSQL store.",
        [NSAffectedObjectsErrorKey: [objectID]])
    }
    return NSIncrementalStoreNode(
      objectID: objectID, withValues: row.values, version: UInt64(clamping: row.version))
  }

  /// Returns a row, which may be read together with others of the same batch; nil if there is none.
  private func row(
    _ key: Int64, _ entity: NSEntityDescription, notOlderThan age: Double
  ) throws -> StoredRow? {
    let mapping = try open.schema.mapping(entity)
    let identity = RowIdentity(table: mapping.table.name, key: key)
    if let row = readAhead.takeRow(identity, notOlderThan: age) { return row }
    reportedEntity = entity.name
    defer { reportedEntity = nil }
    return try rows([key], of: mapping).first
  }

  /// Reads the rows of several objects.
  ///
  /// Cost: one SELECT for each table.
  func readAhead(_ objectIDs: [NSManagedObjectID]) throws {
    defer { reportedEntity = nil }
    var found: [StoredRow] = []
    let schema = try open.schema
    let tables = Dictionary(grouping: objectIDs) {
      schema.entities[$0.entity.name ?? ""]?.table.name
    }
    for members in tables.values {
      guard let first = members.first else { continue }
      let mapping = try schema.mapping(first.entity)
      let isUniform = members.allSatisfy { $0.entity === first.entity }
      reportedEntity = isUniform ? mapping.name : nil
      found += try rows(
        members.compactMap { key(of: $0) }, of: isUniform ? mapping : schema.root(of: mapping))
    }
    readAhead.keep(found)
  }

  /// Reads the destinations of a relationship with one SELECT.
  func value(
    of relationship: NSRelationshipDescription, _ objectID: NSManagedObjectID
  ) throws -> Any {
    let mapping = try open.schema.mapping(objectID.entity)
    reportedEntity = relationship.destinationEntity?.name
    defer { reportedEntity = nil }
    guard let key = key(of: objectID) else {
      return relationship.isToMany ? [NSManagedObjectID]() : NSNull()
    }
    guard let toMany = mapping.toManys[relationship.name] else {
      return try rows([key], of: mapping).first?.values[relationship.name] ?? NSNull()
    }
    return try destinations(toMany, of: [key])[key] ?? []
  }

  /// Returns the rows with some keys, in any order.
  ///
  /// Cost: one SELECT.
  func rows(_ keys: [Int64], of mapping: EntityMapping) throws -> [StoredRow] {
    try withConnection { connection, _ in
      let result = try connection.query(mapping.selectionByKeys, [.integers(keys)])
      return try mapping.selection.rows(result, self)
    }
  }

  /// Returns the destinations of a to-many by the owners' keys, in order if it's ordered.
  ///
  /// Cost: one SELECT.
  func destinations(
    _ toMany: ToManyMapping, of owners: [Int64]
  ) throws -> [Int64: [NSManagedObjectID]] {
    try withConnection { connection, open in
      guard let destination = open.schema.entities[toMany.destination] else { return [:] }
      let (key, entity) = (SystemColumn.key, SystemColumn.entity)
      let sql: String
      switch toMany.storage {
      case .column(let table, let column, let order):
        let by = order.map { "\($0), \(key)" } ?? key
        sql =
          "SELECT \(column), \(key), \(entity) FROM \(table.name) WHERE \(column) = ANY($1) ORDER BY \(by)"
      case .join(let table, let source, let target, let order):
        let by = order.map { "j.\($0), j.\(target)" } ?? "j.\(target)"
        sql =
          "SELECT j.\(source), j.\(target), d.\(entity) FROM \(table) j JOIN \(destination.table.name) d "
          + "ON d.\(key) = j.\(target) WHERE j.\(source) = ANY($1) ORDER BY \(by)"
      }
      let result = try connection.query(sql, [.integers(owners)])
      var found: [Int64: [NSManagedObjectID]] = [:]
      for row in 0..<result.rowCount {
        guard let owner = result.integer(row, 0), let key = result.integer(row, 1),
          let mapping = open.schema.mapping(number: result.integer(row, 2))
        else { throw PostgresStore.unknownEntity(result.integer(row, 2)) }
        found[owner, default: []].append(newObjectID(for: mapping.entity, referenceObject: key))
      }
      return found
    }
  }

  /// Returns the primary key of an object ID of this store; nil for one that the store hasn't made.
  func key(of objectID: NSManagedObjectID) -> Int64? {
    guard !objectID.isTemporaryID else { return nil }
    return integerReferenceObject(for: objectID)
  }

  /// Puts rows into the row cache, which keeps those of registered objects.
  func cache(_ rows: [StoredRow]) {
    for row in rows {
      NSIncrementalStoreNode(objectID: row.objectID, withValues: [:], version: 0)
        .update(withValues: row.values, version: UInt64(clamping: row.version))
    }
  }
}
