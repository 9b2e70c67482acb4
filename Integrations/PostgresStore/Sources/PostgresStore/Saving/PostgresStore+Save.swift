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
  /// - Throws: 133020 with the conflicts if rows have changed since they were read, and 133021 for duplicate values;
  ///   134030 for values that can't be stored, and other errors of the server. Nothing is written then.
  func save(_ request: NSSaveChangesRequest, _ context: NSManagedObjectContext?) throws {
    readAhead.forgetRows()
    let rows = try SavedRows(request, of: self)
    let metadata = metadata
    let hasNewMetadata = !NSDictionary(dictionary: metadata).isEqual(to: storedMetadata)
    let versions: [Int64: Int64]
    do {
      versions = try open.pool.withConnection { connection in
        try connection.transaction {
          var writer = RowWriter(connection)
          try writer.write(rows)
          guard writer.changed.isEmpty else { throw ChangedRows(objects: writer.changed) }
          if hasNewMetadata {
            try StoreMetadata(location: try open.location).write(metadata, connection)
          }
          return writer.versions
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
    for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
      guard let key = key(of: object.objectID),
        // A row that wasn't written has its version still.
        let version = versions[key] ?? (object.isFault ? nil : self.versions.version(of: key))
      else { continue }
      cache([try row(of: object, key, version)])
    }
    for object in request.deletedObjects ?? [] {
      key(of: object.objectID).map { self.versions.remove($0) }
    }
  }

  /// Returns the row that an object was saved with.
  private func row(
    of object: NSManagedObject, _ key: Int64, _ version: Int64
  ) throws -> StoredRow {
    let mapping = try open.schema.mapping(object.entity)
    var values: [String: Any] = [:]
    for attribute in mapping.attributes where values[attribute.path[0]] == nil {
      values[attribute.path[0]] =
        attribute.path.count > 1
        ? object.value(forKey: attribute.path[0])
        : object.primitiveValue(forKey: attribute.path[0])
    }
    for toOne in mapping.toOnes {
      guard let name = toOne.relationship?.name else { continue }
      values[name] = object.objectIDs(forRelationshipNamed: name).first ?? NSNull()
    }
    return StoredRow(
      objectID: object.objectID, key: key, version: version, mapping: mapping, values: values)
  }

  /// Returns the error for objects whose rows have other versions than those that were read.
  ///
  /// Cost: one SELECT for each table.
  private func conflicts(of objects: [NSManagedObject]) throws -> NSError {
    var present: [Int64: StoredRow] = [:]
    let schema = try open.schema
    let tables = Dictionary(grouping: objects) { schema.entities[$0.entity.name ?? ""]?.table.name }
    for members in tables.values {
      guard let first = members.first else { continue }
      let keys = members.compactMap { key(of: $0.objectID) }
      let root = try schema.mapping(first.entity)
      for row in try rows(keys, of: schema.root(of: root)) { present[row.key] = row }
    }
    let conflicts = objects.map { object in
      let key = key(of: object.objectID) ?? 0
      let row = present[key]
      let old = versions.version(of: key) ?? 0
      if row == nil { versions.setMissing(key) }
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
