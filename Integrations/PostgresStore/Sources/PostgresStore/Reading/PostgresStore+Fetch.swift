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
      return [NSNumber(value: try run(request, mapping, .count).integer(0, 0) ?? 0)]
    case .managedObjectIDResultType:
      let ids = try objectIDs(try run(request, mapping, .keys))
      if request.fetchBatchSize > 0 {
        readAhead = ReadAhead(ids.compactMap { key(of: $0) }, batchSize: request.fetchBatchSize)
      }
      return ids
    case .dictionaryResultType:
      return try reading { connection, strings in
        let statement = try DictionaryStatement(request, mapping, of: self, strings)
        let (sql, parameters) = statement.text.statement
        return try statement.dictionaries(try connection.query(sql, parameters))
      }
    default:
      guard let context else { return [NSManagedObject]() }
      guard request.includesPropertyValues else {
        return try objectIDs(try run(request, mapping, .keys)).map { context.object(with: $0) }
      }
      let result = try run(request, mapping, .rows)
      guard let paths = request.relationshipKeyPathsForPrefetching, !paths.isEmpty else {
        return try mapping.selection.cacheRows(result, self)
      }
      return try objects(try mapping.selection.rows(result, self), paths, request, context)
    }
  }

  private func run(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ mapping: EntityMapping,
    _ extent: FetchStatement.Extent
  ) throws -> PostgresResult {
    try reading { connection, strings in
      let text = try FetchStatement(mapping, extent, of: self).text(request, strings)
      let (sql, parameters) = text.statement
      return try connection.query(sql, parameters)
    }
  }

  private func reading<R>(
    _ body: (PostgresConnection, LenientStrings) throws -> R
  ) throws -> R {
    try withConnection { connection, _ in
      let strings = LenientStrings(connection)
      defer { strings.end() }
      return try body(connection, strings)
    }
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

  /// Returns the objects of rows, and puts the rows into the row cache, with those to prefetch.
  private func objects(
    _ rows: [StoredRow], _ paths: [String],
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    var rows = rows
    for path in paths {
      let names = path.split(separator: ".").map(String.init)
      try prefetch(names[...], &rows, context)
    }
    let objects = register(rows, in: context)
    if request.shouldRefreshRefetchedObjects {
      // The framework reads these again, one by one.
      let refreshed = zip(objects, rows).filter { !$0.0.isFault && !$0.0.hasChanges }
      readAhead.keep(refreshed.map(\.1))
    }
    return objects
  }

  @discardableResult
  private func register(
    _ rows: [StoredRow], in context: NSManagedObjectContext
  ) -> [NSManagedObject] {
    let objects = rows.map { context.object(with: $0.objectID) }
    cache(rows)
    return objects
  }

  /// Reads the rows along a path of relationships, and adds to-many destinations to those that they begin at.
  ///
  /// Cost: for each relationship, one SELECT of rows, and another of the destinations of a to-many.
  private func prefetch(
    _ path: ArraySlice<String>, _ rows: inout [StoredRow], _ context: NSManagedObjectContext
  ) throws {
    guard let name = path.first else { return }
    var found: Set<Int64> = []
    var destination: String?
    var toMany: ToManyMapping?
    for row in rows {
      if let mapping = row.mapping.toManys[name] {
        (toMany, destination) = (mapping, mapping.destination)
      } else if let toOne = row.mapping.toOne(name) {
        destination = toOne.destination
        (row.values[name] as? NSManagedObjectID).flatMap { key(of: $0) }.map {
          _ = found.insert($0)
        }
      }
    }
    guard let mapping = destination.flatMap({ try? open.schema.entities[$0] }) else { return }
    if let toMany {
      let links = try destinations(toMany, of: rows.map(\.key))
      for index in rows.indices where rows[index].mapping.toManys[name] != nil {
        let ids = links[rows[index].key] ?? []
        rows[index].values[name] = ids
        found.formUnion(ids.compactMap { key(of: $0) })
      }
    }
    guard !found.isEmpty else { return }
    var reached = try self.rows(found.sorted(), of: mapping)
    try prefetch(path.dropFirst(), &reached, context)
    register(reached, in: context)
  }
}
