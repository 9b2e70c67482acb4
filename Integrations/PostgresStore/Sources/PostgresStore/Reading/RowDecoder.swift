import OpenCoreData
import PostgresDriver

/// Reads rows of one entity into the row cache's form, without a box for each value.
final class RowDecoder {
  private enum Source {
    /// A number of the column's type, in the order of the protocol.
    case smallint, int, bigint, boolean, single, double
    /// The bytes of a string, a URI, data, or a UUID.
    case bytes
    /// A value that is converted first: the index of the attribute.
    case converted(Int)
    case destination
    /// A destination, with the column of its entity's number.
    case destinationOf(entityColumn: Int)
  }

  private struct Step {
    let source: Source
    let column: Int
    let position: IncrementalRowPosition
  }

  private let writer: IncrementalRowWriter
  private unowned let schema: StoreSchema
  private let attributes: [AttributeColumn]
  private let steps: [Step]
  /// The steps if the columns have other types than the store has created.
  private let tolerantSteps: [Step]
  private let expectedTypes: [(column: Int, oid: UInt32)]

  /// Creates a decoder of an entity's rows.
  ///
  /// - Parameter position: Returns the position of a column in the results.
  init(
    _ mapping: EntityMapping, _ schema: StoreSchema, of store: PostgresStore,
    position: (String) -> Int
  ) {
    let writer = IncrementalRowWriter(entity: mapping.entity, of: store)
    var (steps, tolerant): ([Step], [Step]) = ([], [])
    var types: [(column: Int, oid: UInt32)] = []
    for (index, attribute) in mapping.attributes.enumerated() {
      guard
        let rowPosition = IncrementalRowPosition(attribute.keyPath, of: mapping.entity, in: store)
      else { continue }
      let column = position(attribute.name)
      let converted = Step(source: .converted(index), column: column, position: rowPosition)
      tolerant.append(converted)
      if let (source, oid) = Self.source(of: attribute) {
        steps.append(Step(source: source, column: column, position: rowPosition))
        types.append((column, oid))
      } else {
        steps.append(converted)
      }
    }
    for toOne in mapping.toOnes {
      guard let name = toOne.relationship?.name,
        let rowPosition = IncrementalRowPosition(name, of: mapping.entity, in: store)
      else { continue }
      let source =
        toOne.entityColumn.map { Source.destinationOf(entityColumn: position($0)) }
        ?? .destination
      let step = Step(source: source, column: position(toOne.column), position: rowPosition)
      steps.append(step)
      tolerant.append(step)
    }
    (self.writer, self.schema, attributes) = (writer, schema, mapping.attributes)
    (self.steps, tolerantSteps, expectedTypes) = (steps, tolerant, types)
  }

  private static func source(of column: AttributeColumn) -> (Source, oid: UInt32)? {
    switch column.type {
    case .smallint: (.smallint, PostgresType.smallint)
    case .int: (.int, PostgresType.int)
    case .bigint: (.bigint, PostgresType.integer.oid)
    case .boolean: (.boolean, PostgresType.boolean.oid)
    case .single: (.single, PostgresType.float4)
    case .double, .date: (.double, PostgresType.real.oid)
    case .text, .uri: (.bytes, PostgresType.text.oid)
    case .uuid: (.bytes, PostgresType.uuid.oid)
    // Data that a SQLite store would keep in files has another form in a row.
    case .bytes where !column.attribute.allowsExternalBinaryDataStorage:
      (.bytes, PostgresType.bytes.oid)
    case .bytes, .numeric, .transformable: nil
    }
  }

  /// Returns whether a result has the types of the columns that the store has created.
  func isExact(_ result: PostgresResult) -> Bool {
    expectedTypes.allSatisfy { result.type($0.column) == $0.oid }
  }

  /// Appends a row of a result.
  ///
  /// - Parameter isExact: What `isExact` has returned for the result.
  func append(
    _ result: PostgresResult, _ row: Int, key: Int64, version: Int64, isExact: Bool,
    to rows: IncrementalStoreRows
  ) throws {
    for step in isExact ? steps : tolerantSteps { try read(step, result, row) }
    writer.finish(key, version: UInt64(clamping: version), into: rows)
  }

  private func read(_ step: Step, _ result: PostgresResult, _ row: Int) throws {
    let position = step.position
    switch step.source {
    case .converted(let index):
      return try writer.set(attributes[index].value(result, row, step.column), at: position)
    case .destination, .destinationOf:
      guard let key = result.integer(row, step.column) else { return }
      guard case .destinationOf(let column) = step.source else {
        return try writer.setDestination(key, at: position)
      }
      let entity = schema.mapping(number: result.integer(row, column))?.entity
      return try writer.setDestination(key, entity, at: position)
    default: break
    }
    guard let bytes = result.bytes(row, step.column) else { return }
    switch step.source {
    case .smallint:
      writer.set(Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))), at: position)
    case .int:
      writer.set(Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))), at: position)
    case .bigint:
      writer.set(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)), at: position)
    case .boolean:
      let flag: Int64 = bytes[0] == 0 ? 0 : 1
      writer.set(flag, at: position)
    case .single:
      let bits = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
      writer.set(Double(Float(bitPattern: bits)), at: position)
    case .double:
      let bits = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      writer.set(Double(bitPattern: bits), at: position)
    default: writer.set(bytes, at: position)
    }
  }
}
