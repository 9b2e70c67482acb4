import OpenCoreData
import PostgresDriver

import class ManagedModel.NSEntityDescription

/// The columns that a save writes for objects of one entity with the same changed properties.
final class WrittenColumns {
  /// A column and the position of its value, without references: it's copied for each value.
  private struct Column {
    let source: Source
    let position: IncrementalRowPosition?
  }

  private enum Source {
    /// An attribute, by its type and its index.
    case attribute(ColumnType, Int)
    /// The key of the destination.
    case destination
    /// The number of the destination's entity.
    case destinationEntity
  }

  let table: StoreTable
  /// The names of the columns, in quotes.
  let names: [String]
  /// Equal for columns of the same names in the same table.
  let identity: String
  /// The number of the objects' entity.
  let entity: Int64
  private let columns: [Column]
  private let types: [PostgresType]
  /// The names or paths of the columns' properties.
  private let properties: [String]
  private let attributes: [AttributeColumn]
  private let schema: StoreSchema

  /// Creates the columns.
  ///
  /// - Parameter properties: The changed properties; nil for all.
  init(
    _ mapping: EntityMapping, _ properties: Set<String>?, _ schema: StoreSchema,
    of store: PostgresStore
  ) {
    var columns: [Column] = []
    var (names, paths): ([String], [String]) = ([], [])
    var types: [PostgresType] = []
    func add(_ name: String, _ source: Source, _ type: PostgresType, _ property: String) {
      names.append(name)
      paths.append(property)
      types.append(type)
      columns.append(
        Column(
          source: source,
          position: IncrementalRowPosition(property, of: mapping.entity, in: store)))
    }
    for (index, attribute) in mapping.attributes.enumerated()
    where properties?.contains(attribute.path[0]) ?? true {
      add(
        attribute.name, .attribute(attribute.type, index), attribute.type.parameterType,
        attribute.keyPath)
    }
    for toOne in mapping.toOnes {
      guard let name = toOne.relationship?.name, properties?.contains(name) ?? true else {
        continue
      }
      add(toOne.column, .destination, .integer, name)
      if let column = toOne.entityColumn { add(column, .destinationEntity, .integer, name) }
    }
    (table, entity) = (mapping.table, mapping.number)
    (self.columns, self.names, self.schema) = (columns, names, schema)
    (self.types, self.properties, attributes) = (types, paths, mapping.attributes)
    identity = ([table.name] + names).joined(separator: ",")
  }

  /// Returns an empty array for each column.
  func newArrays(capacity: Int) -> [PostgresArray] {
    types.map { PostgresArray($0, capacity: capacity) }
  }

  /// Appends an object's values to the arrays, one for each column.
  ///
  /// - Throws: 134030 for a value that the server can't have, and for a destination in another
  ///   store.
  func append(
    _ object: NSManagedObject, to arrays: inout [PostgresArray], of store: PostgresStore
  ) throws {
    for index in columns.indices {
      let column = columns[index]
      guard let position = column.position else {
        arrays[index].appendNull()
        continue
      }
      let value = store.rowValue(of: object, at: position)
      switch column.source {
      case .attribute(let type, let attribute):
        try append(value, type, attribute, object, to: &arrays[index])
      case .destination:
        guard let (key, _) = try destination(value, object, index, store) else {
          arrays[index].appendNull()
          continue
        }
        arrays[index].append(key)
      case .destinationEntity:
        guard let (_, entity) = try destination(value, object, index, store) else {
          arrays[index].appendNull()
          continue
        }
        arrays[index].append(try schema.mapping(entity).number)
      }
    }
  }

  private func append(
    _ value: IncrementalRowValue, _ type: ColumnType, _ attribute: Int, _ object: NSManagedObject,
    to array: inout PostgresArray
  ) throws {
    switch (value, type) {
    case (.null, _): array.appendNull()
    case (.integer(let number), .smallint), (.integer(let number), .int),
      (.integer(let number), .bigint):
      array.append(number)
    case (.integer(let number), .boolean): array.append(.boolean(number != 0))
    case (.real(let number), .single), (.real(let number), .double), (.real(let number), .date):
      array.append(number)
    case (.text(let text), .text), (.text(let text), .uri):
      guard array.append(text) else {
        throw failure(
          object, attributes[attribute].keyPath,
          "contains the character NUL, which PostgreSQL can't store in a string")
      }
    case (.bytes(let data), .bytes): array.append(.bytes(data))
    default:
      let attribute = attributes[attribute]
      let value: Any? =
        if case .other(let value) = value { value } else {
          PostgresStore.value(of: object, attribute.path)
        }
      guard let parameter = attribute.parameter(value) else {
        throw failure(object, attribute.keyPath, "has a value that can't be stored")
      }
      array.append(parameter)
    }
  }

  private func destination(
    _ value: IncrementalRowValue, _ object: NSManagedObject, _ column: Int,
    _ store: PostgresStore
  ) throws -> (key: Int64, entity: NSEntityDescription)? {
    switch value {
    case .destination(let key, let entity): return (key, entity)
    case .other(let id as NSManagedObjectID):
      guard id.persistentStore === store, let key = store.key(of: id) else {
        throw failure(object, properties[column], "has a destination that isn't in the store")
      }
      return (key, id.entity)
    default: return nil
    }
  }

  private func failure(_ object: NSManagedObject, _ name: String, _ reason: String) -> NSError {
    StoreError.make(
      NSPersistentStoreSaveError, "'\(name)' of '\(object.entity.name ?? "")' \(reason).",
      [NSAffectedObjectsErrorKey: [object], NSValidationKeyErrorKey: name])
  }
}
