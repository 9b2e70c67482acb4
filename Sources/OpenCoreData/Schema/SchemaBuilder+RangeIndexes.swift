import ManagedModel

extension SchemaBuilder {
  /// The R-trees that the model asks for, in the order in which they are made.
  ///
  /// An index that is a range in some elements only, has too many of them, or one that is no number
  /// or date, is left out.
  var rangeIndexes: [RangeIndex] {
    model.entities.flatMap { entity in
      entity.description.indexes.compactMap { rangeIndex($0, of: entity) }
    }
  }

  private func rangeIndex(
    _ index: NSFetchIndexDescription, of entity: SQLEntity
  ) -> RangeIndex? {
    guard !index.elements.isEmpty, index.elements.count <= RangeIndex.maximumDimensions,
      index.elements.allSatisfy({ $0.collationType == .rTree })
    else { return nil }
    let columns = index.elements.compactMap { element -> String? in
      guard let column = element.propertyName.flatMap(entity.column),
        let attribute = column.property as? NSAttributeDescription,
        [.integer, .real, .timestamp].contains(StoredType(attribute.attributeType))
      else { return nil }
      return column.name
    }
    guard columns.count == index.elements.count, Set(columns).count == columns.count else {
      return nil
    }
    return RangeIndex(
      name: "Z_RT_\(entity.name)_\(index.name)", table: entity.table, columns: columns)
  }
}
