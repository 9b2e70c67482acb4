import OpenCoreData
import PostgresDriver

import class ManagedModel.NSAttributeDescription
import class ManagedModel.NSCompositeAttributeDescription
import class ManagedModel.NSDerivedAttributeDescription
import class ManagedModel.NSEntityDescription
import class ManagedModel.NSRelationshipDescription

/// The tables and columns of a model's entities, which depend on the names of the model only.
final class StoreSchema {
  /// The schema's name, in quotes.
  let name: String
  private(set) var tables: [StoreTable] = []
  private(set) var joinTables: [JoinTable] = []
  private(set) var entities: [String: EntityMapping] = [:]
  private var byNumber: [Int64: EntityMapping] = [:]
  private var tableNames = NameAllocator()

  /// A table with the pairs of a many-to-many relationship.
  struct JoinTable {
    let name: String
    let source: String
    let target: String
    let declarations: [String]
  }

  /// Maps entities.
  ///
  /// - Parameter known: The numbers of the entities of an existing store; nil for a new one. An
  ///   entity that the store doesn't have gets a negative number, which no row has.
  /// - Throws: 134020 for a property that the store can't have, and for a relationship to another
  ///   store.
  init(
    _ all: [NSEntityDescription], schema: String, numbers known: [String: Int64]? = nil
  ) throws {
    name = QuotedIdentifier.of(schema)
    let sorted = all.sorted { ($0.name ?? "") < ($1.name ?? "") }
    var numbers: [String: Int64] = [:]
    for (index, name) in sorted.compactMap(\.name).enumerated() {
      numbers[name] = known.map { $0[name] ?? -Int64(index) - 1 } ?? Int64(index) + 1
    }
    let included = Set(sorted.compactMap(\.name))
    for root in sorted where root.superentity.map({ !included.contains($0.name ?? "") }) ?? true {
      let table = StoreTable(
        qualified(root.name ?? ""), entity: root.name ?? "",
        declarations: [
          "\(SystemColumn.key) bigint NOT NULL", "\(SystemColumn.entity) integer NOT NULL",
          "\(SystemColumn.version) bigint NOT NULL",
        ])
      tables.append(table)
      _ = try addEntity(root, table, numbers, below: nil, included)
    }
    for mapping in entities.values { byNumber[mapping.number] = mapping }
    for entity in sorted { try addToOnes(entity) }
    for entity in sorted { try addToManys(entity) }
  }

  /// Returns an entity's mapping.
  ///
  /// - Throws: 134070 for an entity of another store.
  func mapping(_ entity: NSEntityDescription?) throws -> EntityMapping {
    guard let mapping = entities[entity?.name ?? ""] else {
      throw StoreError.make(
        NSPersistentStoreOperationError,
        "The store has no entity '\(entity?.name ?? "")': it isn't in its configuration.")
    }
    return mapping
  }

  /// Returns the mapping of a row's entity number; nil for an unknown one.
  func mapping(number: Int64?) -> EntityMapping? { number.flatMap { byNumber[$0] } }

  private func qualified(_ name: String) -> String {
    self.name + "." + QuotedIdentifier.of(tableNames.identifier(name))
  }

  // MARK: Entities

  private func addEntity(
    _ entity: NSEntityDescription, _ table: StoreTable, _ numbers: [String: Int64],
    below parent: EntityMapping?, _ included: Set<String>
  ) throws -> [EntityMapping] {
    let name = entity.name ?? ""
    let mapping = EntityMapping(entity, table, number: numbers[name] ?? 0, below: parent)
    let inherited = parent?.entity.attributesByName ?? [:]
    for (key, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key })
    where inherited[key] == nil && !attribute.isTransient {
      mapping.add(try columns(of: attribute, in: table, path: [], entity: name))
    }
    entities[name] = mapping
    var family = [mapping]
    for below in entity.subentities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") })
    where included.contains(below.name ?? "") {
      family += try addEntity(below, table, numbers, below: mapping, included)
    }
    mapping.set(family: family, isWholeTable: parent == nil)
    return family
  }

  private func columns(
    of attribute: NSAttributeDescription, in table: StoreTable, path: [String], entity: String
  ) throws -> [AttributeColumn] {
    let path = path + [attribute.name]
    if let composite = attribute as? NSCompositeAttributeDescription {
      return try composite.elements.flatMap {
        try columns(of: $0, in: table, path: path, entity: entity)
      }
    }
    let keyPath = path.joined(separator: ".")
    guard !(attribute is NSDerivedAttributeDescription) else {
      throw StoreError.make(
        NSPersistentStoreIncompatibleSchemaError,
        "'\(keyPath)' of '\(entity)' is a derived attribute, which a PostgreSQL store doesn't compute."
      )
    }
    guard let type = ColumnType(attribute.attributeType) else {
      throw StoreError.make(
        NSPersistentStoreIncompatibleSchemaError,
        "'\(keyPath)' of '\(entity)' has a type that can't be stored. Make it transient.")
    }
    return [
      AttributeColumn(
        path: path, name: table.addColumn(keyPath, type.declaration), type: type,
        attribute: attribute, coder: TransformableCoder(attribute))
    ]
  }

  // MARK: Relationships

  /// Returns the relationships that an entity declares itself.
  private func declared(_ entity: NSEntityDescription) -> [NSRelationshipDescription] {
    let inherited = entity.superentity?.relationshipsByName ?? [:]
    let isRoot = entities[entity.superentity?.name ?? ""] == nil
    return entity.relationshipsByName.sorted { $0.key < $1.key }.map(\.value)
      .filter { !$0.isTransient && (isRoot || inherited[$0.name] == nil) }
  }

  private func destination(of relationship: NSRelationshipDescription) throws -> EntityMapping {
    guard let mapping = entities[relationship.destinationEntity?.name ?? ""] else {
      throw StoreError.make(
        NSPersistentStoreIncompatibleSchemaError,
        "The destination of '\(relationship.name)' of '\(relationship.entity?.name ?? "")' isn't in the "
          + "store's configuration.")
    }
    return mapping
  }

  private func addToOnes(_ entity: NSEntityDescription) throws {
    guard let mapping = entities[entity.name ?? ""] else { return }
    for relationship in declared(entity) where !relationship.isToMany {
      let destination = try destination(of: relationship)
      let inverse = relationship.inverseRelationship
      let column = toOneColumn(
        relationship.name, relationship, destination, in: mapping.table,
        isOrdered: inverse?.isToMany == true && inverse?.isOrdered == true)
      for member in mapping.family { member.add(column) }
    }
  }

  private func toOneColumn(
    _ name: String, _ relationship: NSRelationshipDescription?, _ destination: EntityMapping,
    in table: StoreTable, isOrdered: Bool
  ) -> ToOneColumn {
    ToOneColumn(
      relationship: relationship, destination: destination.name,
      column: table.addColumn(name, "bigint"),
      entityColumn: destination.family.count > 1 && relationship != nil
        ? table.addColumn("\(name)_ent", "integer") : nil,
      orderColumn: isOrdered ? table.addColumn("\(name)_order", "bigint") : nil)
  }

  private func addToManys(_ entity: NSEntityDescription) throws {
    guard let mapping = entities[entity.name ?? ""] else { return }
    for relationship in declared(entity)
    where relationship.isToMany && mapping.toManys[relationship.name] == nil {
      let destination = try destination(of: relationship)
      guard let inverse = relationship.inverseRelationship else {
        let hidden = toOneColumn(
          "\(mapping.name).\(relationship.name)", nil, mapping, in: destination.table,
          isOrdered: relationship.isOrdered)
        destination.add(hidden)
        add(
          relationship, to: mapping, destination,
          .column(
            destination.table, column: hidden.column, order: hidden.orderColumn))
        continue
      }
      if !inverse.isToMany {
        guard let column = destination.toOne(inverse.name) else { continue }
        add(
          relationship, to: mapping, destination,
          .column(
            destination.table, column: column.column, order: column.orderColumn))
        continue
      }
      addJoinTable(relationship, inverse, mapping, destination)
    }
  }

  private func addJoinTable(
    _ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription,
    _ mapping: EntityMapping, _ destination: EntityMapping
  ) {
    var names = NameAllocator()
    func column(_ name: String) -> String { QuotedIdentifier.of(names.identifier(name)) }
    let table = qualified("\(mapping.name)_\(relationship.name)")
    let (source, target) = (column(inverse.name), column(relationship.name))
    let order = relationship.isOrdered ? column("\(relationship.name)_order") : nil
    let isSymmetric = inverse === relationship
    let back = inverse.isOrdered && !isSymmetric ? column("\(inverse.name)_order") : nil
    joinTables.append(
      JoinTable(
        name: table, source: source, target: target,
        declarations: ["\(source) bigint NOT NULL", "\(target) bigint NOT NULL"]
          + [order, back].compactMap { $0.map { "\($0) bigint" } }))
    add(
      relationship, to: mapping, destination,
      .join(
        table, source: source, target: target, order: order))
    guard !isSymmetric else { return }
    add(
      inverse, to: destination, mapping,
      .join(
        table, source: target, target: source, order: back))
  }

  private func add(
    _ relationship: NSRelationshipDescription, to mapping: EntityMapping,
    _ destination: EntityMapping, _ storage: ToManyMapping.Storage
  ) {
    let toMany = ToManyMapping(
      relationship: relationship, destination: destination.name, storage: storage)
    for member in mapping.family { member.add(toMany) }
  }
}
