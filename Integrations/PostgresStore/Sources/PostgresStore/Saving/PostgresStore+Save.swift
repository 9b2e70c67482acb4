import OpenCoreData
import PostgresDriver

extension PostgresStore {
  /// Thrown inside of a save's transaction to roll it back: the rows of these objects have changed.
  private struct ChangedRows: Error, @unchecked Sendable {
    // thrown and caught on the context's queue
    let objects: [NSManagedObject]
  }

  /// Writes the changes of a save in one transaction.
  ///
  /// - Throws: 133020 with the conflicts if rows have changed since they were read, and 133021 for
  ///   duplicate values; 134030 for values that can't be stored, and other errors of the server.
  ///   Nothing is written then.
  func save(_ request: NSSaveChangesRequest, _ context: NSManagedObjectContext?) throws {
    readAhead.forgetRows()
    let rows = try SavedRows(request, of: self)
    let metadata = metadata
    let hasNewMetadata = !NSDictionary(dictionary: metadata).isEqual(to: storedMetadata)
    let written: RowWriter
    do {
      written = try open.pool.withConnection { connection in
        try connection.transaction {
          var writer = RowWriter(connection)
          try writer.write(rows)
          guard writer.changed.isEmpty else { throw ChangedRows(objects: writer.changed) }
          if hasNewMetadata {
            try StoreMetadata(location: try open.location).write(metadata, connection)
          }
          return writer
        }
      }
    } catch let error as ChangedRows {
      throw try conflicts(of: error.objects)
    } catch let error as PostgresError where error.isUniqueViolation {
      throw try constraintConflicts(request, error, context)
    } catch {
      throw StoreError.make(error, otherwise: NSPersistentStoreSaveError)
    }
    storedMetadata = metadata
    for group in [rows.inserted, rows.updated].joined() {
      for row in group.batches.map(\.rows).joined() {
        guard let version = written.newVersion(of: row, in: group.columns.table) else { continue }
        setVersion(UInt64(clamping: version), ofSaved: row.object)
      }
    }
  }

  /// Returns the error for objects whose rows have other versions than those that were read.
  ///
  /// Cost: one SELECT for each table.
  private func conflicts(of objects: [NSManagedObject]) throws -> NSError {
    var present: [RowIdentity: StoredRow] = [:]
    let schema = try open.schema
    let tables = Dictionary(grouping: objects) { schema.entities[$0.entity.name ?? ""]?.table.name }
    for members in tables.values {
      guard let first = members.first else { continue }
      let keys = members.compactMap { key(of: $0.objectID) }
      let root = try schema.mapping(first.entity)
      for row in try rows(keys, of: schema.root(of: root)) { present[row.identity] = row }
    }
    let conflicts = try objects.map { object in
      let table = try schema.mapping(object.entity).table.name
      let row = present[RowIdentity(table: table, key: key(of: object.objectID) ?? 0)]
      let old = knownVersion(of: object) ?? 0
      return NSMergeConflict(
        source: object, newVersion: Int(row?.version ?? 0), oldVersion: Int(old),
        cachedSnapshot: snapshot(of: object), persistedSnapshot: row?.snapshot)
    }
    return StoreError.make(
      NSManagedObjectMergeError,
      "The rows of \(objects.count) objects have changed since they were read.",
      [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  /// Returns the values that an object was read with, as a conflict has them.
  private func snapshot(of object: NSManagedObject) -> [String: Any] {
    object.committedValues(forKeys: nil).mapValues { ($0 as? NSManagedObject)?.objectID ?? $0 }
  }
}

extension StoreSchema {
  /// Returns the mapping with all entities of a table.
  func root(of mapping: EntityMapping) -> EntityMapping {
    entities.values.first { $0.isWholeTable && $0.table === mapping.table } ?? mapping
  }
}
