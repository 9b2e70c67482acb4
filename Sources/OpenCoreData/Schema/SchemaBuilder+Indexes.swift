import ManagedModel

extension SchemaBuilder {
  /// The indexes of a table: to-one relationships, the entity number of a hierarchy, then what
  /// the model asks for.
  func indexes(of root: SQLEntity) -> [String] {
    var statements: [String] = []
    let table = SQLNames.quoted(root.table)
    let family = root.family
    var columns = family.flatMap { entity in
      entity.ownColumns.filter { $0.property is NSRelationshipDescription }.map(\.name)
    }
    columns += hiddenInverses(in: root).map(\.column)
    if root.hasHierarchy { columns.append(SQLNames.entity) }
    for column in columns {
      statements.append(
        "CREATE INDEX \(SQLNames.quoted("\(root.table)_\(column)_INDEX")) ON \(table) "
          + "(\(SQLNames.quoted(column)))")
    }
    var seen: Set<String> = []
    for index in family.flatMap(requestedIndexes) where seen.insert(index.name).inserted {
      statements.append(
        "CREATE INDEX \(SQLNames.quoted(index.name)) ON \(table) (\(index.parts))")
    }
    return statements
  }

  /// The indexes that keep the uniqueness constraints of a table.
  func uniqueIndexes(of root: SQLEntity) -> [String] {
    root.family.flatMap { entity in
      entity.description.uniquenessConstraintNames.compactMap { names in
        guard let parts = parts(names.map { ($0, true) }, of: entity) else { return nil }
        let name = "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))"
        return "CREATE UNIQUE INDEX \(SQLNames.quoted(name)) "
          + "ON \(SQLNames.quoted(root.table)) (\(parts))"
      }
    }
  }

  /// The indexes that an entity's model asks for, the older forms included.
  ///
  /// An index with a range element is left out: those are tables of their own.
  private func requestedIndexes(
    of entity: SQLEntity
  ) -> [(name: String, parts: String)] {
    let description = entity.description
    var wanted = description.ownStoredAttributes
      .filter(\.isIndexed)
      .map { (name: $0.name, elements: [($0.name, true)]) }
    wanted += description.compoundIndexNames.map { names in
      (names.joined(separator: "_"), names.map { ($0, true) })
    }
    for index in description.indexes
    where index.elements.allSatisfy({ $0.collationType == .binary }) {
      wanted.append(
        (
          index.name,
          index.elements.compactMap { $0.property.map(\.name) }
            .enumerated().map { ($0.element, index.elements[$0.offset].isAscending) }
        ))
    }
    return wanted.compactMap { index in
      parts(index.elements, of: entity).map { ("Z_\(entity.name)_\(index.name)", $0) }
    }
  }

  /// The columns of an index as SQL, nil when there are none or one is not stored.
  private func parts(_ elements: [(name: String, ascending: Bool)], of entity: SQLEntity)
    -> String?
  {
    guard !elements.isEmpty else { return nil }
    var parts: [String] = []
    for element in elements {
      guard let column = entity.column(named: element.name) else { return nil }
      let order = element.ascending ? "ASC" : "DESC"
      parts.append("\(SQLNames.quoted(column.name)) COLLATE BINARY \(order)")
    }
    return parts.joined(separator: ", ")
  }
}
