import OpenCoreData
import PostgresDriver

extension PostgresStore {
  /// Returns IDs with keys from the store's sequence, of which each value stands for 100 keys.
  ///
  /// Cost: one SELECT if there aren't enough keys left from the last one.
  func newObjectIDs(of objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
    let missing = Int64(objects.count - freeKeys.count)
    if missing > 0 {
      let block = SchemaCreation.keyBlock
      let blocks = (missing + block - 1) / block
      let starts = try withConnection(otherwise: NSPersistentStoreSaveError) { connection, open in
        let sequence = open.location.qualified(SchemaCreation.keySequence)
        return try connection.query(
          "SELECT nextval($1::text::regclass) FROM generate_series(1, $2)",
          [.text(sequence), .integer(blocks)]
        ).integers(0)
      }
      freeKeys += starts.sorted().flatMap { $0..<($0 + block) }
    }
    let keys = freeKeys.prefix(objects.count)
    freeKeys.removeFirst(keys.count)
    return zip(objects, keys).map { newObjectID(for: $0.entity, referenceObject: $1) }
  }
}
