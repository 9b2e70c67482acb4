import OpenCoreData

/// An incremental store in memory that returns rows instead of objects, and saves values without
/// boxes.
///
/// Its reference objects are positive integers. Used by one thread at a time.
final class RecordStore: NSIncrementalStore, @unchecked Sendable {
  static let recordType = NSPersistentStore.StoreType(rawValue: "RecordStore")

  /// A stored object.
  struct Record {
    let entity: NSEntityDescription
    var values: [String: IncrementalRowValue]
    var version: UInt64 = 1
  }

  var records: [Int64: Record] = [:]
  /// The number of calls of `newValuesForObject(with:with:)`.
  private(set) var faultCount = 0
  /// The number of calls of `newValue(forRelationship:forObjectWith:with:)`.
  private(set) var relationshipCount = 0
  /// The number of saves without an object.
  private(set) var emptySaveCount = 0
  /// The attribute whose values are unique.
  var uniqueAttribute: String?
  private var lastKey: Int64 = 0

  override class var observesRegistrations: Bool { false }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    faultCount += 1_000
  }

  override func loadMetadata() throws {
    metadata = [NSStoreUUIDKey: "records", NSStoreTypeKey: RecordStore.recordType.rawValue]
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    if let save = request as? NSSaveChangesRequest { return try write(save) }
    guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>,
      let entity = fetch.entity
    else { return [Any]() }
    let rows = IncrementalStoreRows(capacity: records.count)
    for (key, record) in records.sorted(by: { $0.key < $1.key }) where record.entity == entity {
      let writer = IncrementalRowWriter(entity: record.entity, of: self)
      for (name, value) in record.values {
        guard let position = IncrementalRowPosition(name, of: record.entity, in: self) else {
          continue
        }
        switch value {
        case .null: continue
        case .integer(let number): writer.set(number, at: position)
        case .real(let number): writer.set(number, at: position)
        case .text(let text):
          var text = text
          text.withUTF8 { writer.set(UnsafeRawBufferPointer($0), at: position) }
        case .bytes(let data): data.withUnsafeBytes { writer.set($0, at: position) }
        case .destination(let key, let entity):
          try writer.setDestination(key, entity, at: position)
        case .other(let value): try writer.set(value, at: position)
        }
      }
      writer.finish(key, version: record.version, into: rows)
    }
    return rows
  }

  private func write(_ save: NSSaveChangesRequest) throws -> Any {
    let written = (save.insertedObjects ?? []).union(save.updatedObjects ?? [])
    if written.isEmpty, save.deletedObjects?.isEmpty ?? true { emptySaveCount += 1 }
    try compareVersions(save.updatedObjects ?? [])
    try compareValues(written)
    for object in written {
      let entity = object.entity
      let names =
        Array(entity.attributesByName.keys)
        + entity.relationshipsByName.filter { !$0.value.isToMany }.keys
      var values: [String: IncrementalRowValue] = [:]
      for name in names {
        values[name] = IncrementalRowPosition(name, of: entity, in: self)
          .map { rowValue(of: object, at: $0) }
      }
      let version = (version(of: object) ?? 0) + 1
      records[key(object.objectID)] = Record(entity: entity, values: values, version: version)
      setVersion(version, ofSaved: object)
    }
    for object in save.deletedObjects ?? [] { records[key(object.objectID)] = nil }
    return [Any]()
  }

  private func compareVersions(_ objects: Set<NSManagedObject>) throws {
    let conflicts = objects.compactMap { object -> NSMergeConflict? in
      let record = records[key(object.objectID)]
      guard !isRestored(object), record?.version != version(of: object) else { return nil }
      return NSMergeConflict(
        source: object, newVersion: Int(record?.version ?? 0), oldVersion: 0, cachedSnapshot: nil,
        persistedSnapshot: nil)
    }
    guard !conflicts.isEmpty else { return }
    throw NSError(
      domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError,
      userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  /// Throws 133021 for objects that have a unique value of another record.
  private func compareValues(_ objects: Set<NSManagedObject>) throws {
    guard let name = uniqueAttribute else { return }
    let conflicts = objects.compactMap { object -> NSConstraintConflict? in
      let other = records.first { key, record in
        guard case .text(let text)? = record.values[name] else { return false }
        return key != self.key(object.objectID) && text == object.value(forKey: name) as? String
      }
      guard let other else { return nil }
      let id = newObjectID(for: other.value.entity, referenceObject: other.key)
      return NSConstraintConflict(
        constraint: [name], database: object.managedObjectContext?.object(with: id),
        databaseSnapshot: [:], conflictingObjects: [object], conflictingSnapshots: [[:]])
    }
    guard !conflicts.isEmpty else { return }
    throw NSError(
      domain: NSCocoaErrorDomain, code: NSManagedObjectConstraintMergeError,
      userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    faultCount += 1
    guard let record = records[key(objectID)] else {
      throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    }
    var values: [String: Any] = [:]
    if case .text(let text)? = record.values["name"] { values["name"] = text }
    for (name, relationship) in objectID.entity.relationshipsByName where !relationship.isToMany {
      values[name] = NSNull()
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> Any {
    relationshipCount += 1
    return [NSManagedObjectID]()
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map {
      lastKey += 1
      return newObjectID(for: $0.entity, referenceObject: lastKey)
    }
  }

  private func key(_ objectID: NSManagedObjectID) -> Int64 {
    (referenceObject(for: objectID) as? NSNumber)?.int64Value ?? 0
  }
}
