import OpenCoreData
import PostgresDriver

/// The columns to select for the rows of an entity and of those below it.
final class RowSelection {
  /// The columns after the key, the entity's number, and the version.
  private let columns: [String]
  private let positions: [String: Int]
  /// By the number of the entity, created when its first row is read.
  private var decoders: [Int64: RowDecoder] = [:]
  /// The positions of an entity's columns in the results, by its number: attributes, then to-one
  /// relationships.
  private var columnsOfEntities: [Int64: EntityColumns] = [:]

  private struct EntityColumns {
    let attributes: [Int]
    let toOnes: [(key: Int, entity: Int?)]
  }

  /// The number of columns before the others.
  private static let systemCount = 3

  init(_ mapping: EntityMapping) {
    var columns: [String] = []
    var positions: [String: Int] = [:]
    func add(_ column: String?) {
      guard let column, positions[column] == nil else { return }
      positions[column] = columns.count
      columns.append(column)
    }
    for member in mapping.family {
      for attribute in member.attributes { add(attribute.name) }
      for toOne in member.toOnes where toOne.relationship != nil {
        add(toOne.column)
        add(toOne.entityColumn)
      }
    }
    (self.columns, self.positions) = (columns, positions)
  }

  /// Returns the list of a SELECT, from a table's alias.
  func list(_ alias: String) -> String {
    ([SystemColumn.key, SystemColumn.entity, SystemColumn.version] + columns)
      .map { "\(alias).\($0)" }.joined(separator: ", ")
  }

  /// Returns the rows of a result whose columns begin with the list.
  ///
  /// - Throws: 134070 for a row of an unknown entity.
  func rows(_ result: PostgresResult, _ store: PostgresStore) throws -> [StoredRow] {
    let schema = try store.open.schema
    return try (0..<result.rowCount).map { row in
      guard let mapping = schema.mapping(number: result.integer(row, 1)),
        let key = result.integer(row, 0), let version = result.integer(row, 2)
      else { throw PostgresStore.unknownEntity(result.integer(row, 1)) }
      return StoredRow(
        objectID: store.newObjectID(for: mapping.entity, referenceObject: key), key: key,
        version: version, mapping: mapping,
        values: values(result, row, mapping, schema, store))
    }
  }

  /// Reads the rows of a result whose columns begin with the list into the row cache's form.
  ///
  /// - Throws: 134070 for a row of an unknown entity.
  func cacheRows(
    _ result: PostgresResult, _ store: PostgresStore
  ) throws -> IncrementalStoreRows {
    let schema = try store.open.schema
    let rows = IncrementalStoreRows(capacity: result.rowCount)
    var last: (number: Int64, decoder: RowDecoder, isExact: Bool)?
    for row in 0..<result.rowCount {
      let number = result.integer(row, 1)
      if last?.number != number {
        let decoder = try decoder(number, schema, store)
        last = (number ?? 0, decoder, decoder.isExact(result))
      }
      guard let (_, decoder, isExact) = last, let key = result.integer(row, 0),
        let version = result.integer(row, 2)
      else { throw PostgresStore.unknownEntity(number) }
      try decoder.append(result, row, key: key, version: version, isExact: isExact, to: rows)
    }
    return rows
  }

  private func decoder(
    _ number: Int64?, _ schema: StoreSchema, _ store: PostgresStore
  ) throws -> RowDecoder {
    if let number, let known = decoders[number] { return known }
    guard let number, let mapping = schema.mapping(number: number) else {
      throw PostgresStore.unknownEntity(number)
    }
    let decoder = RowDecoder(mapping, schema, of: store) { column in
      (positions[column] ?? 0) + Self.systemCount
    }
    decoders[number] = decoder
    return decoder
  }

  private func values(
    _ result: PostgresResult, _ row: Int, _ mapping: EntityMapping, _ schema: StoreSchema,
    _ store: PostgresStore
  ) -> [String: Any] {
    let columns = columns(of: mapping)
    var values: [String: Any] = [:]
    values.reserveCapacity(columns.attributes.count + columns.toOnes.count)
    for (index, attribute) in mapping.attributes.enumerated() {
      guard let value = attribute.value(result, row, columns.attributes[index]) else { continue }
      if attribute.path.count == 1 {
        values[attribute.path[0]] = value
      } else {
        Self.set(value, at: attribute.path[...], in: &values)
      }
    }
    for (index, toOne) in mapping.toOnes.enumerated() {
      guard let relationship = toOne.relationship else { continue }
      let positions = columns.toOnes[index]
      guard let key = result.integer(row, positions.key) else {
        values[relationship.name] = NSNull()
        continue
      }
      let number = positions.entity.flatMap { result.integer(row, $0) }
      let destination = schema.mapping(number: number) ?? schema.entities[toOne.destination]
      values[relationship.name] = destination.map {
        store.newObjectID(for: $0.entity, referenceObject: key)
      }
    }
    return values
  }

  private func columns(of mapping: EntityMapping) -> EntityColumns {
    if let known = columnsOfEntities[mapping.number] { return known }
    func position(_ column: String) -> Int { (positions[column] ?? 0) + Self.systemCount }
    let columns = EntityColumns(
      attributes: mapping.attributes.map { position($0.name) },
      toOnes: mapping.toOnes.map { toOne in
        (toOne.relationship == nil ? 0 : position(toOne.column), toOne.entityColumn.map(position))
      })
    columnsOfEntities[mapping.number] = columns
    return columns
  }

  /// Sets the value of an attribute, or of an element in the dictionary of a composite attribute.
  private static func set(
    _ value: Any, at path: ArraySlice<String>, in values: inout [String: Any]
  ) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      values[name] = value
      return
    }
    var group = values[name] as? [String: Any] ?? [:]
    set(value, at: path.dropFirst(), in: &group)
    values[name] = group
  }
}

/// A row of a store: other programs may insert rows with the same key into two tables.
struct RowIdentity: Hashable {
  /// The table's qualified name.
  let table: String
  let key: Int64
}

/// A row of a table as a node has it.
struct StoredRow {
  let objectID: NSManagedObjectID
  let key: Int64
  let version: Int64
  let mapping: EntityMapping
  /// By property; a to-one is an object ID or `NSNull`, and a nil attribute is missing.
  var values: [String: Any]

  var identity: RowIdentity { RowIdentity(table: mapping.table.name, key: key) }

  /// The values as a conflict has them: numbers are `NSNumber`s, and nil attributes `NSNull`.
  var snapshot: [String: Any] {
    var snapshot = values.mapValues { value -> Any in
      switch value {
      case let number as Int64: NSNumber(value: number)
      case let number as Double: NSNumber(value: number)
      case let number as Float: NSNumber(value: number)
      case let flag as Bool: NSNumber(value: flag)
      case let number as Decimal: NSDecimalNumber(decimal: number)
      default: value
      }
    }
    for attribute in mapping.attributes where snapshot[attribute.path[0]] == nil {
      snapshot[attribute.path[0]] = NSNull()
    }
    return snapshot
  }
}

extension PostgresStore {
  /// Returns the error for a row whose entity isn't in the model.
  static func unknownEntity(_ number: Int64?) -> NSError {
    StoreError.make(
      NSPersistentStoreOperationError,
      "A row has the entity number \(number ?? 0), which the model doesn't have.")
  }
}
