import OpenCoreData

/// The store of `Documentation/custom-stores.md`.
final class NoteStore: NSIncrementalStore, @unchecked Sendable {
  private var texts = ["a": "buy milk"]

  override func loadMetadata() throws {
    metadata = [NSStoreUUIDKey: "notes", NSStoreTypeKey: "NoteStore"]
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    switch request {
    case let fetch as NSFetchRequest<any NSFetchRequestResult>:
      guard let entity = fetch.entity, let context else { return [] }
      let ids = texts.keys.sorted().map { newObjectID(for: entity, referenceObject: $0) }
      switch fetch.resultType {
      case .countResultType: return [NSNumber(value: ids.count)]
      case .managedObjectIDResultType: return ids
      default: return ids.map { context.object(with: $0) }
      }
    case let save as NSSaveChangesRequest:
      for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
        texts[key(object.objectID)] = object.value(forKey: "text") as? String
      }
      for object in save.deletedObjects ?? [] { texts[key(object.objectID)] = nil }
      return []
    default:
      throw CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError))
    }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    guard let text = texts[key(objectID)] else {
      throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: ["text": text], version: 1)
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
  }

  private func key(_ objectID: NSManagedObjectID) -> String {
    referenceObject(for: objectID) as? String ?? ""
  }
}
