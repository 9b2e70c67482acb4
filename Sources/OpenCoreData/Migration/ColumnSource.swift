import ManagedModel
import SQLiteDriver

/// The source of a column's values in a migrated table, for the rows of one entity.
indirect enum ColumnSource: Hashable {
  /// A column of the source table, unchanged.
  case column(String)
  /// A column with integers that become floating-point numbers.
  case real(String)
  /// A column with binary values that get the marker of values in rows, because the attribute now
  /// allows external storage.
  case marked(String)
  /// A column, unchanged or converted, whose nulls get a default value.
  case filled(ColumnSource, SQLiteValue)
  /// The default value.
  case constant(SQLiteValue)
  /// Null; or a value that's set later.
  case null
  /// Null instead of the value of a property that the rows no longer have, in a column that other
  /// rows keep.
  case cleared
  /// A column with entity IDs.
  case entityNumbers(String)
  /// The same entity ID wherever a column has a key.
  case entityNumber(Int, ofKeysIn: String)

  /// The column of the source table that it keeps; `nil` if it doesn't keep one.
  var column: String? {
    switch self {
    case .column(let name), .real(let name), .marked(let name), .entityNumbers(let name): name
    case .filled(let source, _): source.column
    case .constant, .null, .cleared, .entityNumber: nil
    }
  }
}

extension ColumnSource {
  /// Whether the column's type differs from that in the source table.
  var changesType: Bool {
    switch self {
    case .real: true
    case .filled(let source, _): source.changesType
    default: false
    }
  }
}

/// A column of a migrated table, with the sources of its values.
struct MigratedColumn {
  let name: String
  let type: StoredType
  /// The source for the rows of each source entity, by `Z_ENT` in the source; entities whose rows
  /// have no value in the column are missing.
  var sources: [Int: ColumnSource] = [:]

  /// The only source of all rows that have values; `nil` if there are several.
  var onlySource: ColumnSource? {
    guard let first = sources.values.first else { return .null }
    return sources.values.allSatisfy { $0 == first } ? first : nil
  }
}

extension LightweightMigrationPlan {
  /// Returns the columns of a destination table, without `Z_PK`, `Z_ENT`, and `Z_OPT`.
  func migratedColumns(of root: SQLEntity) -> [MigratedColumn] {
    var columns = destinationSchema.columns(of: root).map {
      MigratedColumn(name: $0.name, type: $0.type)
    }
    var indices: [String: Int] = [:]
    for (index, column) in columns.enumerated() { indices[column.name] = index }
    func set(_ name: String?, _ number: Int, _ source: ColumnSource) {
      if let name, let index = indices[name] { columns[index].sources[number] = source }
    }
    for entity in root.family {
      for column in entity.ownColumns {
        for member in entity.family {
          guard let former = formerEntity(of: member) else { continue }
          if let relationship = column.property as? NSRelationshipDescription {
            let keys = keys(of: relationship, in: column, of: member, former)
            set(column.name, former.number, keys.key)
            set(column.entityColumn, former.number, keys.entity)
            set(column.orderColumn, former.number, keys.order)
          } else {
            set(column.name, former.number, value(of: column, in: member, former))
          }
        }
      }
    }
    for list in hiddenLists(in: root) {
      guard case .foreignKey(let column, let orderColumn) = list.storage,
        let former = formerStorage(of: list)
      else { continue }
      for member in list.destination.family {
        guard let source = formerEntity(of: member), source.table == former.table else { continue }
        set(column, source.number, .column(former.column))
        if let order = former.orderColumn { set(orderColumn, source.number, .column(order)) }
      }
    }
    for index in columns.indices { clearLostValues(in: &columns[index], of: root) }
    return columns
  }

  /// Sets the source of the rows that had values in the only column that a column keeps, but whose
  /// entity no longer has the property.
  private func clearLostValues(in column: inout MigratedColumn, of root: SQLEntity) {
    let kept = Set(column.sources.values.compactMap(\.column))
    guard kept.count == 1, let name = kept.first?.uppercased() else { return }
    for former in root.family.compactMap(formerEntity)
    where (column.sources[former.number] ?? .null) == .null && hasValues(former, in: name) {
      column.sources[former.number] = .cleared
    }
  }

  /// Returns whether rows of a source entity can have values in a column.
  ///
  /// - Parameter name: The name of a column of its table, in uppercase.
  private func hasValues(_ entity: SQLEntity, in name: String) -> Bool {
    let isOwn = entity.columns.contains { column in
      [column.name, column.entityColumn, column.orderColumn].contains { $0?.uppercased() == name }
    }
    return isOwn
      || sourceSchema.declaredToMany.contains { list in
        guard list.relationship.inverseRelationship == nil,
          case .foreignKey(let column, let order) = list.storage,
          [column, order].contains(where: { $0?.uppercased() == name })
        else { return false }
        return list.destination.family.contains { $0 === entity }
      }
  }

  private func value(
    of column: SQLColumn, in entity: SQLEntity, _ former: SQLEntity
  ) -> ColumnSource {
    guard let attribute = column.property as? NSAttributeDescription else { return .null }
    let value = attribute.isDerived ? .null : defaultValue(of: attribute, in: entity)
    guard let name = formerName(of: attribute.name, in: entity),
      let found = former.column(named: name),
      let source = found.property as? NSAttributeDescription
    else { return value == .null ? .null : .constant(value) }
    let types = [source, attribute].map { StoredType($0.attributeType) }
    let kept: ColumnSource =
      if types[0] == .integer, types[1] == .real {
        .real(found.name)
      } else if !source.hasExternalValues, attribute.hasExternalValues {
        .marked(found.name)
      } else {
        .column(found.name)
      }
    let isFilled = source.isOptional && !attribute.isOptional && value != .null
    return isFilled ? .filled(kept, value) : kept
  }

  /// Returns the default value of an attribute, or of an element of a composite attribute, as it's
  /// stored.
  func defaultValue(
    of attribute: NSAttributeDescription, in entity: SQLEntity
  ) -> SQLiteValue {
    let layout = EntityLayout.of(entity.description)
    guard case .slot(let index)? = layout.position(of: attribute.name) else { return .null }
    return layout.defaultRow.rawValue(layout.slots[index]).sqliteValue
  }

  private func keys(
    of relationship: NSRelationshipDescription, in column: SQLColumn, of entity: SQLEntity,
    _ former: SQLEntity
  ) -> (key: ColumnSource, entity: ColumnSource, order: ColumnSource) {
    if let name = formerName(of: relationship.name, in: entity),
      let found = former.column(named: name),
      let source = found.property as? NSRelationshipDescription
    {
      return (
        .column(found.name), entityNumbers(of: source, in: found),
        found.orderColumn.map { .column($0) } ?? .null
      )
    }
    // A relationship that was only to-many from the other side, without an inverse.
    if let list = formerHiddenList(of: relationship, from: entity),
      case .foreignKey(let key, let order) = list.storage, list.destination.table == former.table
    {
      let owner = list.relationship.entity.flatMap(source.storedEntity)
      // The rows of an owner with subentities have several entity IDs, which are read afterward.
      let number = owner.flatMap { owner in
        owner.description.subentities.isEmpty ? laterEntity(of: owner)?.number : nil
      }
      return (
        .column(key), number.map { .entityNumber($0, ofKeysIn: key) } ?? .null,
        order.map { .column($0) } ?? .null
      )
    }
    return (.null, .null, .null)
  }

  private func entityNumbers(
    of relationship: NSRelationshipDescription, in column: SQLColumn
  ) -> ColumnSource {
    if let numbers = column.entityColumn { return .entityNumbers(numbers) }
    guard
      let entity = relationship.destinationEntity.flatMap(source.storedEntity).flatMap(laterEntity)
    else { return .null }
    return .entityNumber(entity.number, ofKeysIn: column.name)
  }

  // MARK: To-many relationships without an inverse

  /// Returns the to-many relationships without an inverse whose keys are in a destination table.
  func hiddenLists(in root: SQLEntity) -> [SQLToMany] {
    destinationSchema.hiddenLists[ObjectIdentifier(root)] ?? []
  }

  /// Returns the column that had the keys of a to-many relationship without an inverse.
  func formerStorage(
    of list: SQLToMany
  ) -> (table: String, column: String, orderColumn: String?)? {
    guard let owner = list.relationship.entity.flatMap(destination.storedEntity),
      let former = formerRelationships(of: list.relationship, of: owner).first,
      let found = former.entity.toMany[former.relationship.name],
      case .foreignKey(let column, let order) = found.storage
    else { return nil }
    return (found.destination.table, column, order)
  }

  /// Returns the to-many relationship without an inverse that was the inverse of a to-one
  /// relationship that's new.
  private func formerHiddenList(
    of relationship: NSRelationshipDescription, from entity: SQLEntity
  ) -> SQLToMany? {
    guard let inverse = relationship.inverseRelationship, inverse.isToMany,
      let owner = inverse.entity.flatMap(destination.storedEntity),
      let former = formerRelationships(of: inverse, of: owner).first
    else { return nil }
    return former.entity.toMany[former.relationship.name]
  }
}
