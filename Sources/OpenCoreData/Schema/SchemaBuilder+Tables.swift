import ManagedModel

extension SchemaBuilder {
  /// The table of a root entity and its descendants.
  ///
  /// Columns come in groups: integers and to-one relationships entity by entity, then the places
  /// in ordered inverses, then reals and dates entity by entity, then each other type.
  func table(of root: SQLEntity) -> String {
    var definitions = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
    for (name, type) in columns(of: root) {
      definitions.append("\(SQLNames.quoted(name)) \(type.declaration)")
    }
    return "CREATE TABLE \(SQLNames.quoted(root.table)) "
      + "( \(definitions.joined(separator: ", ")) )"
  }

  private func columns(of root: SQLEntity) -> [(name: String, type: StoredType)] {
    let family = root.family
    var columns: [(name: String, type: StoredType)] = []
    for entity in family {
      columns += attributes(of: entity) { $0 == .integer }
      for column in relationships(of: entity) {
        columns.append((column.name, .integer))
        if let name = column.entityColumn { columns.append((name, .integer)) }
      }
    }
    let hidden = hiddenInverses(in: root)
    columns += hidden.map { ($0.column, .integer) }
    for entity in family {
      columns += relationships(of: entity).compactMap(\.orderColumn).map { ($0, .integer) }
    }
    columns += hidden.compactMap(\.orderColumn).map { ($0, .integer) }
    for entity in family {
      columns += attributes(of: entity) { $0 == .real || $0 == .timestamp }
    }
    for type in [StoredType.decimal, .text, .uuid, .transformable, .binary] {
      for entity in family { columns += attributes(of: entity) { $0 == type } }
    }
    return columns
  }

  private func attributes(
    of entity: SQLEntity, where belongs: (StoredType) -> Bool
  ) -> [(name: String, type: StoredType)] {
    entity.ownColumns.compactMap { column in
      guard let attribute = column.property as? NSAttributeDescription else { return nil }
      let type = StoredType(attribute.attributeType)
      return belongs(type) ? (column.name, type) : nil
    }
  }

  private func relationships(of entity: SQLEntity) -> [SQLColumn] {
    entity.ownColumns.filter { $0.property is NSRelationshipDescription }
  }

  /// The columns in a table for to-many relationships without an inverse.
  func hiddenInverses(in root: SQLEntity) -> [HiddenColumn] {
    hiddenColumns[ObjectIdentifier(root)] ?? []
  }

  /// The tables of many-to-many relationships, each with its index for the way back.
  var joinTables: [(table: String, index: SchemaIndex)] {
    var seen: Set<String> = []
    return declaredToMany.compactMap { relationship in
      guard
        case .joinTable(let name, let source, let destination, let order) = relationship.storage,
        seen.insert(name).inserted
      else { return nil }
      // The pair's columns stand in the order seen in Apple's stores: the naming side's own
      // first, but the other way round when both ends are one entity.
      let isReflexive = relationship.destination.description === relationship.relationship.entity
      let keys = isReflexive ? [destination, source] : [source, destination]
      let back = relationship.relationship.inverseRelationship.flatMap {
        $0 === relationship.relationship ? nil : relationship.destination.toMany[$0.name]
      }
      let orders = [back?.orderColumn, order].compactMap { $0 }
      let table = SQLNames.quoted(name)
      let quotedKeys = keys.map(SQLNames.quoted)
      let definitions =
        (quotedKeys + orders.map(SQLNames.quoted)).map { "\($0) INTEGER" }
        + ["PRIMARY KEY (\(quotedKeys.joined(separator: ", ")))"]
      return (
        "CREATE TABLE \(table) ( \(definitions.joined(separator: ", ")) )",
        SchemaIndex(
          name: "\(name)_\(keys[1])_INDEX", table: name, columns: [keys[1], keys[0]])
      )
    }
  }
}
