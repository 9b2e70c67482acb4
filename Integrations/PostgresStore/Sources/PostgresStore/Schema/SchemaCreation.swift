import OpenCoreData
import PostgresDriver

import class ManagedModel.NSAttributeDescription
import class ManagedModel.NSPropertyDescription

/// The statements that create a store's tables.
struct SchemaCreation {
  private let schema: StoreSchema

  /// The table with the store's identifier and metadata.
  static let metadataTable = "z_metadata"
  /// The table with the entities' numbers.
  static let entityTable = "z_entity"
  /// The sequence of primary keys.
  static let keySequence = "z_key"
  /// The number of keys that one value of the sequence stands for.
  static let keyBlock: Int64 = 100

  init(_ schema: StoreSchema) {
    self.schema = schema
  }

  /// The statements, in order; to run in one transaction.
  var statements: [String] {
    let name = schema.name
    var statements = [
      "CREATE TABLE \(name).\(Self.metadataTable) (z_format integer NOT NULL, z_plist bytea NOT NULL)",
      "CREATE TABLE \(name).\(Self.entityTable) (z_ent integer PRIMARY KEY, z_name text NOT NULL UNIQUE)",
      "CREATE SEQUENCE \(name).\(Self.keySequence) INCREMENT BY \(Self.keyBlock) START WITH 1",
    ]
    for table in schema.tables {
      statements.append(
        "CREATE TABLE \(table.name) (\(table.declarations.joined(separator: ", ")))")
    }
    for table in schema.joinTables {
      statements.append(
        "CREATE TABLE \(table.name) (\(table.declarations.joined(separator: ", ")))")
    }
    // After all tables, because the server names the indexes, and a table may have such a name.
    for table in schema.tables {
      statements.append("ALTER TABLE \(table.name) ADD PRIMARY KEY (\(SystemColumn.key))")
    }
    for table in schema.joinTables {
      statements.append(
        "ALTER TABLE \(table.name) ADD PRIMARY KEY (\(table.source), \(table.target))")
      statements.append("CREATE INDEX ON \(table.name) (\(table.target))")
    }
    return statements + relationshipIndexes + fetchIndexes + constraints.map(\.statement)
  }

  private var sortedMappings: [EntityMapping] {
    schema.entities.values.sorted { $0.number < $1.number }
  }

  private var relationshipIndexes: [String] {
    var seen: Set<[String]> = []
    return sortedMappings.flatMap { mapping in
      mapping.toOnes.compactMap { column in
        guard seen.insert([mapping.table.name, column.column]).inserted else { return nil }
        let columns = [column.column, column.orderColumn].compactMap { $0 }.joined(separator: ", ")
        return "CREATE INDEX ON \(mapping.table.name) (\(columns))"
      }
    }
  }

  private var fetchIndexes: [String] {
    var seen: Set<String> = []
    return sortedMappings.flatMap { mapping in
      mapping.entity.indexes.compactMap { index -> String? in
        let columns = index.elements.compactMap { element -> String? in
          guard let property = element.property,
            let column = column(property.name, of: mapping)
          else { return nil }
          return column + (element.isAscending ? " ASC NULLS FIRST" : " DESC NULLS LAST")
        }
        guard columns.count == index.elements.count, !columns.isEmpty else { return nil }
        let statement =
          "CREATE INDEX ON \(mapping.table.name) (\(columns.joined(separator: ", ")))"
        return seen.insert(statement).inserted ? statement : nil
      }
    }
  }

  private func column(_ name: String, of mapping: EntityMapping) -> String? {
    if let attribute = mapping.attribute(name) {
      return attribute.type.isIndexable ? attribute.name : nil
    }
    return mapping.toOne(name)?.column
  }

  // MARK: Uniqueness constraints

  /// A uniqueness constraint of an entity, under a name of the store's.
  struct UniqueConstraint {
    let name: String
    let mapping: EntityMapping
    /// The names of the properties, as in the model.
    let properties: [String]
    let columns: [String]
    /// Whether rows of other entities, for which the constraint doesn't hold, have the values too.
    let isOfInheritedProperties: Bool

    /// The constraint is checked at COMMIT, so that objects can exchange their values.
    fileprivate var statement: String {
      let rule =
        isOfInheritedProperties
        ? "EXCLUDE USING btree (\(columns.map { "\($0) WITH =" }.joined(separator: ", "))) WHERE "
          + "(\(SystemColumn.entity) IN (\(mapping.numbers.map { "\($0)" }.joined(separator: ", "))))"
        : "UNIQUE (\(columns.joined(separator: ", ")))"
      return "ALTER TABLE \(mapping.table.name) ADD CONSTRAINT \(name) \(rule) "
        + "DEFERRABLE INITIALLY DEFERRED"
    }
  }

  /// The model's constraints, each in the entity that declares it.
  var constraints: [UniqueConstraint] {
    var constraints: [UniqueConstraint] = []
    for mapping in sortedMappings {
      let inherited = mapping.entity.superentity.flatMap { schema.entities[$0.name ?? ""] }
      let known = Set(inherited?.entity.uniquenessConstraints.map(Self.names) ?? [])
      for names in mapping.entity.uniquenessConstraints.map(Self.names)
      where !names.isEmpty && !known.contains(names) {
        let columns = names.compactMap { name in
          mapping.attribute(name)?.name ?? mapping.toOne(name)?.column
        }
        guard columns.count == names.count else { continue }
        constraints.append(
          UniqueConstraint(
            name: "z_unique_\(constraints.count + 1)", mapping: mapping, properties: names,
            columns: columns,
            isOfInheritedProperties: names.allSatisfy { name in
              inherited?.attribute(name) != nil || inherited?.toOne(name) != nil
            }))
      }
    }
    return constraints
  }

  private static func names(_ constraint: [Any]) -> [String] {
    constraint.compactMap { $0 as? String ?? ($0 as? NSPropertyDescription)?.name }
  }
}
