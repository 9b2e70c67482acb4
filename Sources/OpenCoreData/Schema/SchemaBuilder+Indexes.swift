import ManagedModel

extension SchemaBuilder {
  /// All indexes of the file, in the order in which they are made.
  var indexes: [SchemaIndex] {
    let roots = model.entities.filter { $0.superentity == nil }
    return roots.flatMap(indexes) + joinTables.map(\.index) + roots.flatMap(uniqueIndexes)
  }

  /// The indexes of a table: to-one relationships, the entity number of a hierarchy, then what
  /// the model asks for.
  func indexes(of root: SQLEntity) -> [SchemaIndex] {
    let family = root.family
    var columns = family.flatMap { entity in
      entity.ownColumns.filter { $0.property is NSRelationshipDescription }.map(\.name)
    }
    columns += hiddenInverses(in: root).map(\.column)
    if root.hasHierarchy { columns.append(SQLNames.entity) }
    let own = columns.map { column in
      SchemaIndex(name: "\(root.table)_\(column)_INDEX", table: root.table, columns: [column])
    }
    var seen: Set<String> = []
    return own + family.flatMap(requestedIndexes).filter { seen.insert($0.name).inserted }
  }

  /// The indexes that keep the uniqueness constraints of a table.
  func uniqueIndexes(of root: SQLEntity) -> [SchemaIndex] {
    root.family.flatMap { entity in
      entity.description.uniquenessConstraintNames.compactMap { names in
        parts(names.map { ($0, true) }, of: entity).map { parts in
          SchemaIndex(
            name: "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))", table: root.table,
            parts: parts, isUnique: true)
        }
      }
    }
  }

  /// The indexes that an entity's model asks for, the older forms included.
  ///
  /// An index with a range element is left out: those are tables of their own.
  private func requestedIndexes(of entity: SQLEntity) -> [SchemaIndex] {
    let description = entity.description
    func index(
      _ name: String, _ elements: [(name: String, ascending: Bool)], _ condition: String? = nil
    ) -> SchemaIndex? {
      self.index(named: name, of: entity, elements, where: condition)
    }
    var wanted = description.ownStoredAttributes.filter(\.isIndexed).map {
      index($0.name, [($0.name, true)])
    }
    wanted += description.compoundIndexNames.map { names in
      index(names.joined(separator: "_"), names.map { ($0, true) })
    }
    wanted += description.indexes
      .filter { $0.elements.allSatisfy { $0.collationType == .binary } }
      .map { described in
        let elements = described.elements.compactMap { element in
          element.property.map { (name: $0.name, ascending: element.isAscending) }
        }
        let condition = described.partialIndexPredicate.flatMap {
          IndexCondition(entity: entity).sql($0)
        }
        return index(described.name, elements, condition)
      }
    return wanted.compactMap { $0 }
  }

  /// An index of an entity's table; nil when it has no column, or one that is not stored.
  func index(
    named name: String, of entity: SQLEntity, _ elements: [(name: String, ascending: Bool)],
    where condition: String?
  ) -> SchemaIndex? {
    parts(elements, of: entity).map { parts in
      SchemaIndex(
        name: NSManagedObjectModel.storeIndexName(name, ofEntity: entity.name),
        table: entity.table, parts: parts, condition: condition)
    }
  }

  /// The columns of an index, nil when there are none or one is not stored.
  private func parts(
    _ elements: [(name: String, ascending: Bool)], of entity: SQLEntity
  ) -> [SchemaIndex.Part]? {
    guard !elements.isEmpty else { return nil }
    var parts: [SchemaIndex.Part] = []
    for element in elements {
      guard let column = entity.column(named: element.name) else { return nil }
      parts.append(SchemaIndex.Part(column: column.name, isAscending: element.ascending))
    }
    return parts
  }
}
