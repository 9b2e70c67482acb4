import OpenCoreData
import PostgresDriver

extension PostgresStore {
  /// Executes a fetch request.
  ///
  /// Cost: one SELECT; one more for each relationship to prefetch.
  func fetch(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext?
  ) throws -> Any {
    let mapping = try open.schema.mapping(request.entity)
    switch request.resultType {
    case .countResultType:
      let result = try run(request, mapping, .count)
      return [NSNumber(value: result.integer(0, 0) ?? 0)]
    case .managedObjectIDResultType: return try objectIDs(try run(request, mapping, .keys))
    case .dictionaryResultType:
      let statement = try DictionaryStatement(request, mapping, of: self, LenientStrings())
      return try statement.dictionaries(try run(statement.text))
    default:
      guard let context else { return [NSManagedObject]() }
      guard request.includesPropertyValues else {
        return try objectIDs(try run(request, mapping, .keys)).map { context.object(with: $0) }
      }
      let rows = try mapping.selection.rows(try run(request, mapping, .rows), self)
      return try objects(rows, request, context)
    }
  }

  private func run(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ mapping: EntityMapping,
    _ extent: FetchStatement.Extent
  ) throws -> PostgresResult {
    try run(try FetchStatement(mapping, extent, of: self).text(request, LenientStrings()))
  }

  private func run(_ text: SQLText) throws -> PostgresResult {
    let (sql, parameters) = text.statement
    return try withConnection { connection, _ in try connection.query(sql, parameters) }
  }

  private func objectIDs(_ result: PostgresResult) throws -> [NSManagedObjectID] {
    let schema = try open.schema
    return try (0..<result.rowCount).map { row in
      guard let key = result.integer(row, 0),
        let mapping = schema.mapping(number: result.integer(row, 1))
      else { throw PostgresStore.unknownEntity(result.integer(row, 1)) }
      return newObjectID(for: mapping.entity, referenceObject: key)
    }
  }

  /// Returns the objects of rows, and puts the rows into the row cache.
  private func objects(
    _ rows: [StoredRow], _ request: NSFetchRequest<any NSFetchRequestResult>,
    _ context: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    let objects = rows.map { context.object(with: $0.objectID) }
    cache(rows)
    return objects
  }
}
