import OpenCoreData
import PostgresDriver

import class ManagedModel.NSRelationshipDescription

extension PostgresStore {
  /// Executes a fetch request.
  ///
  /// Cost: one SELECT; one more for each relationship to prefetch.
  func fetch(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext?
  ) throws -> Any {
    let mapping = try open.schema.mapping(request.entity)
    reportedEntity = mapping.name
    defer { reportedEntity = nil }
    switch request.resultType {
    case .countResultType:
      return [NSNumber(value: try run(request, mapping, .count).integer(0, 0) ?? 0)]
    case .managedObjectIDResultType:
      return try objectIDs(try run(request, mapping, .keys))
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
      let rows = try mapping.selection.rows(result, self)
      return try objects(rows, of: mapping, paths, request, context)
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
    _ rows: [StoredRow], of mapping: EntityMapping, _ paths: [String],
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    var rows = rows
    var reached: [String: [StoredRow]] = ["": rows]
    for path in paths {
      try prefetch(path, from: mapping, &reached)
    }
    rows = reached[""] ?? rows
    for (path, found) in reached where !path.isEmpty { cache(found) }
    let objects = register(rows, in: context)
    if request.shouldRefreshRefetchedObjects {
      // The framework reads these again, one by one.
      let refreshed = zip(objects, rows).filter { !$0.0.isFault }
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

  /// Reads the rows along a path of relationships, and adds to-many destinations to those that they
  /// begin at.
  ///
  /// - Parameter reached: The rows at the end of each path that was read, in which to-many
  ///   destinations are set.
  /// Cost: one SELECT for each relationship, two for a many-to-many.
  private func prefetch(
    _ path: String, from mapping: EntityMapping, _ reached: inout [String: [StoredRow]]
  ) throws {
    let entity = reportedEntity
    defer { reportedEntity = entity }
    var source = ""
    for (name, relationship) in try relationships(along: path, from: mapping) {
      let target = source.isEmpty ? name : "\(source).\(name)"
      defer { source = target }
      guard reached[target] == nil, var rows = reached[source] else { continue }
      reportedEntity = relationship.destinationEntity?.name
      try reportPrefetch(of: relationship) {
        guard let found = try destinations(of: name, &rows) else { return nil }
        reached[source] = rows
        reached[target] = found
        return found.map(\.objectID)
      }
    }
  }

  /// Returns the relationships along a path of names.
  ///
  /// One that only entities below have isn't part of it, because theirs can be different ones.
  ///
  /// - Throws: 134060 for a name that isn't a relationship.
  private func relationships(
    along path: String, from mapping: EntityMapping
  ) throws -> [(name: String, NSRelationshipDescription)] {
    var entity = mapping.entity
    return try path.split(separator: ".").map(String.init).map { name in
      guard let relationship = entity.relationshipsByName[name],
        let destination = relationship.destinationEntity
      else {
        throw StoreError.make(
          NSCoreDataError,
          "'\(name)' in the prefetched path '\(path)' isn't a relationship of '\(entity.name ?? "")'. "
            + "It has: \(entity.relationshipsByName.keys.sorted().joined(separator: ", ")).")
      }
      entity = destination
      return (name, relationship)
    }
  }

  /// Returns the destinations of a relationship of rows, each once; nil if there can't be one.
  private func destinations(
    of name: String, _ rows: inout [StoredRow]
  ) throws -> [StoredRow]? {
    guard let toMany = rows.lazy.compactMap({ $0.mapping.toManys[name] }).first else {
      let toOne = rows.lazy.compactMap { $0.mapping.toOne(name) }.first
      let keys = Set(
        rows.compactMap { ($0.values[name] as? NSManagedObjectID).flatMap { key(of: $0) } })
      guard !keys.isEmpty,
        let mapping = toOne.flatMap({ try? open.schema.entities[$0.destination] })
      else { return nil }
      return try self.rows(keys.sorted(), of: mapping)
    }
    let owners = rows.filter { $0.mapping.toManys[name] != nil }.map(\.key)
    var links: [Int64: [NSManagedObjectID]] = [:]
    let found = try destinationRows(toMany, of: owners, &links)
    for index in rows.indices where rows[index].mapping.toManys[name] != nil {
      rows[index].values[name] = links[rows[index].key] ?? []
    }
    return found
  }

  /// Returns the rows of a to-many's destinations, and their IDs by the owners' keys.
  private func destinationRows(
    _ toMany: ToManyMapping, of owners: [Int64], _ links: inout [Int64: [NSManagedObjectID]]
  ) throws -> [StoredRow] {
    guard let destination = try open.schema.entities[toMany.destination] else { return [] }
    guard case .column(let table, let column, let order) = toMany.storage else {
      links = try destinations(toMany, of: owners)
      let keys = Set(links.values.joined().compactMap { key(of: $0) })
      return keys.isEmpty ? [] : try rows(keys.sorted(), of: destination)
    }
    let terms = [order, SystemColumn.key].compactMap { $0.map { "t0.\($0)" } }
    return try withConnection { connection, _ in
      let selection = destination.selection
      let result = try connection.query(
        "SELECT \(selection.list("t0")), t0.\(column) FROM \(table.name) t0 "
          + "WHERE t0.\(column) = ANY($1) ORDER BY \(terms.joined(separator: ", "))",
        [.integers(owners)])
      let rows = try selection.rows(result, self)
      for (index, row) in rows.enumerated() {
        guard let owner = result.integer(index, result.columnCount - 1) else { continue }
        links[owner, default: []].append(row.objectID)
      }
      return rows
    }
  }
}
