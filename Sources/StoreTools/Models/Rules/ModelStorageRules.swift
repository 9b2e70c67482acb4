import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Finds indexes that are a prefix of another index, which makes them redundant.
///
/// The index of a uniqueness constraint isn't redundant because it also enforces the constraint.
/// All indexes of a hierarchy are on one table, and a to-one relationship always has an index.
struct PrefixIndexRule: ModelRule {
  static let name = "prefix-index"

  private struct Index {
    let entity: NSEntityDescription
    let label: String
    let columns: [(name: String, isAscending: Bool)]
    var condition: String?
    var isRemovable = true

    /// The columns with the entities that declare them: properties of sibling entities with the
    /// same name have a column each.
    var ownColumns: [(name: String, isAscending: Bool)] {
      columns.map { name, isAscending in
        var owner = entity
        while let parent = owner.superentity, parent.propertiesByName[key(name)] != nil {
          owner = parent
        }
        return ("\(owner.name ?? "").\(name)", isAscending)
      }
    }

    /// Returns the property of a path, which can lead to an element of a composite attribute.
    private func key(_ path: String) -> String { String(path.prefix { $0 != "." }) }
  }

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.hierarchies.flatMap { _, family in
      let indexes = family.flatMap(indexes)
      let positions = positions(of: indexes)
      return indexes.indices.compactMap { position -> ModelFinding? in
        let index = indexes[position]
        guard index.isRemovable else { return nil }
        let conditions = index.condition == nil ? [nil] : [nil, index.condition]
        let covering = conditions.compactMap { condition in
          positions[Beginning(index.ownColumns, condition), default: []].first { other in
            // Of two equal indexes, the later one is redundant.
            other != position
              && (!covers(index, indexes[other]) || !indexes[other].isRemovable || other < position)
          }
        }
        let other = covering.min()
        guard let other else { return nil }
        return finding(
          "The \(index.label) (\(text(index))) is a prefix of the \(indexes[other].label) "
            + "(\(text(indexes[other]))), which serves the same searches.",
          "Remove it; writing a row updates every index.", index.entity)
      }
    }
  }

  /// The leftmost columns of an index, which determine the searches that it serves.
  private struct Beginning: Hashable {
    private let columns: [String]
    /// For each column, whether its order is the opposite of the first column's.
    private let turns: [Bool]
    private let condition: String?

    init(_ columns: some Sequence<(name: String, isAscending: Bool)>, _ condition: String?) {
      let columns = Array(columns)
      self.columns = columns.map(\.name)
      turns = columns.map { $0.isAscending != columns.first?.isAscending }
      self.condition = condition
    }
  }

  /// Returns the positions of the indexes with the same leftmost columns, so that they needn't be
  /// compared in pairs.
  private func positions(of indexes: [Index]) -> [Beginning: [Int]] {
    var positions: [Beginning: [Int]] = [:]
    for (position, index) in indexes.enumerated() where !index.columns.isEmpty {
      let columns = index.ownColumns
      for count in 1...index.columns.count {
        let beginning = Beginning(columns.prefix(count), index.condition)
        positions[beginning, default: []].append(position)
      }
    }
    return positions
  }

  private func indexes(of entity: NSEntityDescription) -> [Index] {
    var indexes = entity.ownRelationships.filter { !$0.isToMany && !$0.isTransient }.map {
      Index(
        entity: entity, label: "index of the relationship \($0.name)",
        columns: [($0.name, true)], isRemovable: false)
    }
    indexes += entity.uniquenessConstraintNames.map { names in
      Index(
        entity: entity, label: "uniqueness constraint", columns: names.map { ($0, true) },
        isRemovable: false)
    }
    indexes += entity.indexes.compactMap { index in
      let isColumns = index.elements.allSatisfy { element in
        element.collationType == .binary && !(element.property is NSExpressionDescription)
      }
      guard isColumns, !index.elements.isEmpty else { return nil }
      return Index(
        entity: entity, label: "index \(index.name)",
        columns: index.elements.map { ($0.propertyName ?? "", $0.isAscending) },
        condition: index.partialIndexPredicate?.predicateFormat)
    }
    indexes += entity.compoundIndexNames.filter { !$0.isEmpty }.map { names in
      Index(entity: entity, label: "compound index", columns: names.map { ($0, true) })
    }
    indexes += entity.ownAttributes.filter { $0.isIndexed && !$0.isTransient }.map {
      Index(entity: entity, label: "index of the attribute", columns: [($0.name, true)])
    }
    let names = entity.columnNames
    return indexes.filter { index in index.columns.allSatisfy { names.contains($0.name) } }
  }

  /// Returns whether an index serves every search that another one serves.
  ///
  /// It does if it has the same leftmost columns, with either all sort orders equal or all
  /// reversed.
  private func covers(_ other: Index, _ index: Index) -> Bool {
    guard other.columns.count >= index.columns.count,
      other.condition == nil || other.condition == index.condition
    else { return false }
    let pairs = zip(index.ownColumns, other.ownColumns)
    guard pairs.allSatisfy({ $0.name == $1.name }) else { return false }
    let turned = pairs.map { $0.isAscending != $1.isAscending }
    return !turned.contains(true) || !turned.contains(false)
  }

  private func text(_ index: Index) -> String {
    let columns = index.columns.map { $0.name + ($0.isAscending ? "" : " descending") }
    return columns.joined(separator: ", ") + (index.condition.map { " where \($0)" } ?? "")
  }
}

/// Finds indexes and uniqueness constraints that no store has, because a property of them has no
/// column: a transient or composite attribute, a to-many relationship, or a fetched property.
struct MissingColumnRule: ModelRule {
  static let name = "index-without-column"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.model.entityTree.flatMap { _, entity -> [ModelFinding] in
      let columns = entity.columnNames
      var groups = entity.uniquenessConstraintNames.map { ("uniqueness constraint", $0) }
      groups += entity.compoundIndexNames.map { ("compound index", $0) }
      groups += entity.indexes.map { index in
        ("index \(index.name)", index.elements.compactMap(\.propertyName))
      }
      return groups.compactMap { label, names -> ModelFinding? in
        // Unknown names are warnings of the reader, and expressions have no property.
        let missing = names.first { name in
          !columns.contains(name) && entity.propertiesByName[name] != nil
        }
        return missing.map { name in
          finding(
            "The \(label) (\(names.joined(separator: ", "))) isn't created, because \(name) has no "
              + "column.", "Use only attributes and to-one relationships that are stored.", entity)
        }
      }
    }
  }
}

extension NSEntityDescription {
  /// The properties that have a column, and the paths of elements of composite attributes.
  fileprivate var columnNames: Set<String> { Set(slotProperties.map(\.name)) }
}

/// Finds attributes with large values that are stored in the rows.
///
/// A row with a large value fills its own pages, which every fetch of the entity reads. With
/// external storage, a value of more than about 100 kB is stored in an external data file.
struct LargeInlineBinaryRule: ModelRule {
  static let name = "large-inline-binary"

  /// The size above which external storage would keep a value in a file.
  private static let limit: Int64 = 100_000

  func findings(in checked: CheckedModel) throws -> [ModelFinding] {
    // A model that doesn't match the tables has no columns to measure.
    let mapping = checked.store.flatMap { try? StoreAnatomy(reading: $0).mapping }
    return try checked.hierarchies.flatMap(\.family).flatMap { entity -> [ModelFinding] in
      try entity.ownAttributes.compactMap { attribute in
        guard !attribute.isTransient, !attribute.allowsExternalBinaryDataStorage else { return nil }
        let isBinary = attribute.attributeType == .binaryDataAttributeType
        guard isBinary || attribute.attributeType == .transformableAttributeType else { return nil }
        let step =
          "Allow external storage, or move it to a separate entity with a to-one relationship."
        guard checked.store != nil else {
          return isBinary && !isCarrier(entity)
            ? finding(
              "Its data is stored in the row regardless of its size, and every fetch reads it.",
              step, entity, attribute.name) : nil
        }
        guard let mapped = mapping?.entity(named: entity.name ?? ""),
          let column = mapped.column(named: attribute.name)?.name,
          let (count, largest) = try measure(column, of: mapped.table, checked), count > 0
        else { return nil }
        return finding(
          "\(NumberText.counted(count, "value")) of more than 100 kB "
            + "\(PluralForm.of(count, "is", "are")) stored in the rows, the largest of "
            + "\(NumberText.grouped(largest)) bytes.", step, entity, attribute.name)
      }
    }
  }

  /// Returns whether an entity has only one attribute and a to-one relationship, so that it exists
  /// to store a separate value.
  private func isCarrier(_ entity: NSEntityDescription) -> Bool {
    entity.attributesByName.values.filter { !$0.isTransient }.count == 1
      && entity.relationshipsByName.values.contains { !$0.isToMany }
  }

  /// Returns the number of large values in a column and the size of the largest.
  private func measure(
    _ name: String, of table: String, _ checked: CheckedModel
  ) throws -> (count: Int, largest: Int)? {
    let column = SQLSyntax.quoted(name)
    let rows = try checked.store?.values(
      "SELECT COUNT(*), MAX(LENGTH(\(column))) FROM \(SQLSyntax.quoted(table)) "
        + "WHERE LENGTH(\(column)) > ?", [.integer(Self.limit)])
    guard let row = rows?.first, case .integer(let count) = row[0] else { return nil }
    guard case .integer(let largest) = row[1] else { return (Int(count), 0) }
    return (Int(count), Int(largest))
  }
}
