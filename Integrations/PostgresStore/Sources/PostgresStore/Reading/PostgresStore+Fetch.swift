import OpenCoreData
import PostgresDriver

extension PostgresStore {
  /// Executes a fetch request with one SELECT.
  func fetch(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext?
  ) throws -> Any {
    let mapping = try open.schema.mapping(request.entity)
    let rows = try withConnection { connection, _ in
      try mapping.selection.rows(
        try connection.query(
          "SELECT \(mapping.selection.list("t0")) FROM \(mapping.table.name) t0"), self)
    }
    switch request.resultType {
    case .countResultType: return [NSNumber(value: rows.count)]
    case .managedObjectIDResultType: return rows.map(\.objectID)
    default:
      let objects = rows.compactMap { context?.object(with: $0.objectID) }
      cache(rows)
      return objects
    }
  }
}
