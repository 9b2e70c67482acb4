package import ManagedModel
import SQLiteDriver

/// Multiplies the objects of a store, to measure how work grows with the rows.
///
/// Every object is copied with all its values, and related to the copies of the objects to which
/// the original is related. A value that must be unique in one of two models is changed in each
/// copy. External data files are shared, and the history isn't multiplied.
package struct MultipliedStore {
  /// The reason why a store can't be multiplied, in words.
  package struct Obstacle: Error, Sendable {
    package let reason: String
  }

  private let source: SQLModel
  private let file: FileSchema
  private let connection: Connection
  /// For each table, the columns with primary keys of the store.
  private var keys: [String: Set<String>] = [:]
  /// For each table, the expressions of columns whose values must be unique.
  private var unique: [String: [String: String]] = [:]

  /// Greater primary keys can't be exact as a double.
  private static let greatestKey: Int64 = 1 << 53

  /// Returns the number of rows of objects and of join tables.
  ///
  /// **Cost:** a `COUNT` for each table.
  /// - Parameters:
  ///   - url: The store.
  ///   - model: The model of the store.
  ///   - configuration: The configuration that the store contains; `nil` for all entities.
  package static func rowCount(
    of url: URL, model: NSManagedObjectModel, configuration: String? = nil
  ) throws -> Int {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    let store = try MultipliedStore(connection, model, configuration)
    var count = 0
    for table in store.keys.keys.sorted() {
      if case .integer(let rows)? = try connection.values(
        "SELECT COUNT(*) FROM \(SQLSyntax.quoted(table))"
      ).first?.first {
        count += Int(rows)
      }
    }
    return count
  }

  /// Multiplies a store that's a copy, in one transaction.
  ///
  /// **Cost:** one `INSERT … SELECT` for each table.
  /// - Parameters:
  ///   - url: The store.
  ///   - factor: How many times each object exists afterward.
  ///   - model: The model of the store.
  ///   - destination: Another model whose uniqueness constraints are met, too.
  ///   - configuration: The configuration that the store contains; `nil` for all entities.
  ///   - limits: The time limit of the statements, if there's one.
  /// - Throws: `Obstacle` if values can't be made unique; `SQLiteError`.
  package static func multiply(
    _ url: URL, by factor: Int, model: NSManagedObjectModel,
    for destination: NSManagedObjectModel, configuration: String? = nil,
    limits: RehearsalLimits = RehearsalLimits()
  ) throws {
    let connection = try Connection(path: url.path, access: .writing)
    defer { connection.close() }
    try StoreFunctions.register(on: connection) { _ in }
    // A trigger of the store may do any amount of work.
    limits.apply(to: connection, steps: StoreLimits.multiplicationSteps)
    var store = try MultipliedStore(connection, model, configuration)
    try connection.execute("BEGIN IMMEDIATE")
    do {
      try store.multiply(by: factor, for: destination)
      try connection.execute("COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  private init(
    _ connection: Connection, _ model: NSManagedObjectModel, _ configuration: String?
  ) throws {
    self.connection = connection
    file = try FileSchema(reading: connection)
    source = try SQLModel(model: model, configuration: configuration, file: file)
    for entity in source.entities {
      keys[entity.table, default: []].insert("Z_PK")
      for column in entity.columns where column.property is NSRelationshipDescription {
        keys[entity.table, default: []].insert(column.name.uppercased())
      }
      for relationship in entity.toMany.values {
        switch relationship.storage {
        case .foreignKey(let column, _):
          keys[relationship.destination.table, default: []].insert(column.uppercased())
        case .joinTable(let table, let first, let second, _):
          keys[table, default: []].formUnion([first.uppercased(), second.uppercased()])
        }
      }
    }
  }

  private mutating func multiply(by factor: Int, for destination: NSManagedObjectModel) throws {
    guard factor > 1 else { return }
    try addUniqueValues(factor, destination)
    var greatest: Int64 = 0
    for table in keys.keys {
      let columns = keys[table] ?? []
      for column in columns {
        if case .integer(let key)? = try connection.values(
          "SELECT MAX(\(SQLSyntax.quoted(column))) FROM \(SQLSyntax.quoted(table))"
        ).first?.first {
          greatest = max(greatest, key)
        }
      }
    }
    let (end, overflows) = greatest.multipliedReportingOverflow(by: Int64(factor))
    guard !overflows, end <= Self.greatestKey else {
      throw Obstacle(reason: "its primary keys are too large")
    }
    for table in keys.keys.sorted() { try copyRows(of: table, factor, shift: greatest) }
    try connection.execute(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + \(Int64(factor - 1) * greatest) WHERE Z_MAX > 0")
  }

  private func copyRows(of table: String, _ factor: Int, shift: Int64) throws {
    guard let columns = file.tables[table.uppercased()]?.columns, !columns.isEmpty else { return }
    let keys = keys[table] ?? []
    let values = columns.map { column -> String in
      let name = "t.\(SQLSyntax.quoted(column.name))"
      if keys.contains(column.name.uppercased()) { return "\(name) + k.i * \(shift)" }
      return unique[table]?[column.name.uppercased()] ?? name
    }
    try connection.execute(
      "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < \(factor - 1)) "
        + "INSERT INTO \(SQLSyntax.quoted(table)) "
        + "(\(columns.map { SQLSyntax.quoted($0.name) }.joined(separator: ", "))) "
        + "SELECT \(values.joined(separator: ", ")) FROM k, \(SQLSyntax.quoted(table)) t")
  }

  // MARK: Unique values

  private mutating func addUniqueValues(_ factor: Int, _ destination: NSManagedObjectModel) throws {
    let mapping = InferredMapping(from: source.model, to: destination)
    for entity in source.entities {
      for names in entity.description.uniquenessConstraintNames {
        try makeUnique(names, of: entity, factor)
      }
    }
    for entity in mapping.entities {
      guard let later = entity.destination, let former = entity.source.flatMap(source.storedEntity)
      else {
        continue
      }
      for names in later.uniquenessConstraintNames {
        // A property that's added has the same value in all rows, however many there are.
        let formers = names.compactMap { entity.sourceName(of: $0) }
        if formers.count == names.count { try makeUnique(formers, of: former, factor) }
      }
    }
  }

  /// Makes one column of a constraint unique for the copies, so that their values differ.
  private mutating func makeUnique(
    _ names: [String], of entity: SQLEntity, _ factor: Int
  ) throws {
    let columns = names.compactMap { entity.column(named: $0) }
    let isUnique = columns.contains { column in
      keys[entity.table]?.contains(column.name.uppercased()) == true
        || unique[entity.table]?[column.name.uppercased()] != nil
    }
    guard columns.count == names.count, !isUnique else { return }
    for column in columns {
      guard let attribute = column.property as? NSAttributeDescription,
        let expression = try uniqueValue(of: column, attribute, in: entity.table, factor)
      else { continue }
      unique[entity.table, default: [:]][column.name.uppercased()] = expression
      return
    }
    throw Obstacle(
      reason: "\(entity.name) requires unique values of \(names.joined(separator: ", ")), which "
        + "can't be generated")
  }

  private func uniqueValue(
    of column: SQLColumn, _ attribute: NSAttributeDescription, in table: String, _ factor: Int
  ) throws -> String? {
    let name = "t.\(SQLSyntax.quoted(column.name))"
    switch StoredType(attribute.attributeType) {
    // A suffix that another value of the store can't have.
    case .text: return "\(name) || '~' || hex(randomblob(8))"
    case .uuid: return "CASE WHEN \(name) IS NOT NULL THEN randomblob(16) END"
    case .binary:
      guard !attribute.allowsExternalBinaryDataStorage else { return nil }
      return "CASE WHEN \(name) IS NOT NULL THEN randomblob(16) END"
    case .real, .timestamp:
      return "\(name) + k.i * (SELECT MAX(\(SQLSyntax.quoted(column.name))) "
        + "- MIN(\(SQLSyntax.quoted(column.name))) + 1 FROM \(SQLSyntax.quoted(table)))"
    case .integer:
      let bounds = try connection.values(
        "SELECT MIN(\(SQLSyntax.quoted(column.name))), MAX(\(SQLSyntax.quoted(column.name))) "
          + "FROM \(SQLSyntax.quoted(table))"
      ).first
      guard case .integer(let least)? = bounds?.first, case .integer(let most)? = bounds?.last
      else { return name }
      let span = most.subtractingReportingOverflow(least)
      let total = (span.partialValue &+ 1).multipliedReportingOverflow(by: Int64(factor))
      let end = least.addingReportingOverflow(total.partialValue)
      guard !span.overflow, span.partialValue < .max, !total.overflow, !end.overflow,
        end.partialValue <= Self.greatest(attribute.attributeType)
      else { return nil }
      return "\(name) + k.i * \(span.partialValue + 1)"
    case .decimal, .transformable: return nil
    }
  }

  private static func greatest(_ type: NSAttributeType) -> Int64 {
    switch type {
    case .booleanAttributeType: 0
    case .integer16AttributeType: Int64(Int16.max)
    case .integer32AttributeType: Int64(Int32.max)
    default: .max
    }
  }
}
