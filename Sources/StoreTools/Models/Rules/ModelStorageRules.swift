import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Finds indexes that another one makes redundant, as it begins with the same columns.
///
/// A constraint's index is kept: it does more than find rows. The indexes of a hierarchy are all on
/// one table, and a to-one relationship has an index whether it is asked for or not.
struct PrefixIndexRule: ModelRule {
  static let name = "prefix-index"

  private struct Index {
    let entity: NSEntityDescription
    let label: String
    let columns: [(name: String, isAscending: Bool)]
    var condition: String?
    var isRemovable = true
  }

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    checked.hierarchies.flatMap { _, family in
      let indexes = family.flatMap(indexes)
      let places = places(of: indexes)
      return indexes.indices.compactMap { place -> ModelFinding? in
        let index = indexes[place]
        guard index.isRemovable else { return nil }
        let conditions = index.condition == nil ? [nil] : [nil, index.condition]
        let covering = conditions.compactMap { condition in
          places[Beginning(index.columns, condition), default: []].first { other in
            // Of two that are the same, the later one goes.
            other != place
              && (!covers(index, indexes[other]) || !indexes[other].isRemovable || other < place)
          }
        }
        let other = covering.min()
        guard let other else { return nil }
        return finding(
          "The \(index.label) (\(text(index))) is the beginning of the \(indexes[other].label) "
            + "(\(text(indexes[other]))), which serves the same searches.",
          "Remove it: each index is written with every row.", index.entity)
      }
    }
  }

  /// What an index begins with: searches that need no more are served by it.
  private struct Beginning: Hashable {
    private let columns: [String]
    /// Whether each column turns round the order of the first one.
    private let turns: [Bool]
    private let condition: String?

    init(_ columns: some Sequence<(name: String, isAscending: Bool)>, _ condition: String?) {
      let columns = Array(columns)
      self.columns = columns.map(\.name)
      turns = columns.map { $0.isAscending != columns.first?.isAscending }
      self.condition = condition
    }
  }

  /// The places of the indexes that begin alike, so that no two have to be compared.
  private func places(of indexes: [Index]) -> [Beginning: [Int]] {
    var places: [Beginning: [Int]] = [:]
    for (place, index) in indexes.enumerated() where !index.columns.isEmpty {
      for count in 1...index.columns.count {
        places[Beginning(index.columns.prefix(count), index.condition), default: []].append(place)
      }
    }
    return places
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
    return indexes
  }

  /// Whether every search that one index serves is served by another: the same columns come first,
  /// all in the same order or all turned round.
  private func covers(_ other: Index, _ index: Index) -> Bool {
    guard other.columns.count >= index.columns.count,
      other.condition == nil || other.condition == index.condition
    else { return false }
    let pairs = zip(index.columns, other.columns)
    guard pairs.allSatisfy({ $0.name == $1.name }) else { return false }
    let turned = pairs.map { $0.isAscending != $1.isAscending }
    return !turned.contains(true) || !turned.contains(false)
  }

  private func text(_ index: Index) -> String {
    let columns = index.columns.map { $0.name + ($0.isAscending ? "" : " descending") }
    return columns.joined(separator: ", ") + (index.condition.map { " where \($0)" } ?? "")
  }
}

/// Finds attributes whose large values lie inside the rows.
///
/// A row with a large value fills pages of its own, and every fetch of the entity reads them. With
/// external storage a value of more than 100 kB or so is kept in an external data file.
struct LargeInlineBinaryRule: ModelRule {
  static let name = "large-inline-binary"

  /// The size from which external storage would keep a value in a file.
  private static let limit: Int64 = 100_000

  func findings(in checked: CheckedModel) throws -> [ModelFinding] {
    let rootsByFamily = checked.hierarchies.flatMap { root, family in family.map { ($0, root) } }
    return try rootsByFamily.flatMap { entity, root -> [ModelFinding] in
      try entity.ownAttributes.compactMap { attribute in
        guard !attribute.isTransient, !attribute.allowsExternalBinaryDataStorage else { return nil }
        let isBinary = attribute.attributeType == .binaryDataAttributeType
        guard isBinary || attribute.attributeType == .transformableAttributeType else { return nil }
        let step =
          "Allow external storage, or move it to a separate entity, with a to-one relationship."
        guard checked.store != nil else {
          return isBinary && !isCarrier(entity)
            ? finding(
              "Its bytes are kept inside the row whatever their size, and come with every fetch.",
              step, entity, attribute.name) : nil
        }
        guard let (count, largest) = try measure(attribute, root, checked), count > 0 else {
          return nil
        }
        return finding(
          "\(NumberText.counted(count, "value")) of more than 100 kB "
            + "\(PluralForm.of(count, "lies", "lie")) inside the rows, the largest of "
            + "\(NumberText.grouped(largest)) bytes.", step, entity, attribute.name)
      }
    }
  }

  /// Whether an entity is there to hold one value behind a to-one relationship.
  private func isCarrier(_ entity: NSEntityDescription) -> Bool {
    entity.attributesByName.values.filter { !$0.isTransient }.count == 1
      && entity.relationshipsByName.values.contains { !$0.isToMany }
  }

  /// How many values are large, and the size of the largest; nil where the column is not found.
  private func measure(
    _ attribute: NSAttributeDescription, _ root: NSEntityDescription, _ checked: CheckedModel
  ) throws -> (count: Int, largest: Int)? {
    let name = "Z" + attribute.name.uppercased()
    guard let table = checked.schema?.table(ofRoot: root.name ?? ""),
      checked.schema?.tables[table]?.contains(where: { $0.name.uppercased() == name }) == true
    else { return nil }
    let column = CheckedModel.quoted(name)
    let rows = try checked.store?.values(
      "SELECT COUNT(*), MAX(LENGTH(\(column))) FROM \(CheckedModel.quoted(table)) "
        + "WHERE LENGTH(\(column)) > ?", [.integer(Self.limit)])
    guard let row = rows?.first, case .integer(let count) = row[0] else { return nil }
    guard case .integer(let largest) = row[1] else { return (Int(count), 0) }
    return (Int(count), Int(largest))
  }
}
