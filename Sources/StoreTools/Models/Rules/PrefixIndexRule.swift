import OpenCoreData
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
