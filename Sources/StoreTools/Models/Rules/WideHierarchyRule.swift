import OpenCoreData
import WorkbenchText

/// Finds hierarchies whose one table has many columns that are NULL in most rows.
///
/// All entities of a hierarchy share a table with the columns of all of them; a row of one leaves
/// those of its siblings empty.
struct WideHierarchyRule: ModelRule {
  static let name = "wide-hierarchy"

  /// Fewer columns are never reported.
  private static let leastColumns = 16
  /// The least share of empty values that is reported, in percent.
  private static let leastEmpty = 50

  func findings(in checked: CheckedModel) throws -> [ModelFinding] {
    try checked.hierarchies.compactMap { root, family in
      let columns = Set(family.flatMap(ownColumns)).count
      let concrete = family.filter { !$0.isAbstract }
      guard family.count > 1, columns >= Self.leastColumns, !concrete.isEmpty else { return nil }
      let rows = try checked.rows(of: root)
      let weights = concrete.map { entity in rows.map { $0[entity.name ?? ""] ?? 0 } ?? 1 }
      let total = weights.reduce(0, +)
      guard total > 0 else { return nil }
      let used = zip(concrete, weights).reduce(0) { $0 + columnCount(of: $1.0) * $1.1 }
      let empty = 100 - used * 100 / (columns * total)
      guard empty >= Self.leastEmpty else { return nil }
      let basis =
        rows == nil
        ? "if its entities have equally many rows" : "by the \(NumberText.counted(total, "row"))"
      return finding(
        "The \(family.count) entities of the hierarchy share one table of \(columns) columns, of "
          + "which \(empty) % are NULL in a row on average, \(basis).",
        "Give the sub-entities that share little no common parent, or move what is seldom set "
          + "behind a to-one relationship.", root)
    }
  }

  private func ownColumns(_ entity: NSEntityDescription) -> [ObjectIdentifier] {
    columns(entity).filter { $0.entity === entity }.map { ObjectIdentifier($0) }
  }

  private func columnCount(of entity: NSEntityDescription) -> Int { columns(entity).count }

  /// The properties of an entity with a column, inherited ones included.
  private func columns(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
    entity.properties.filter { property in
      guard !property.isTransient else { return false }
      if let relationship = property as? NSRelationshipDescription {
        return !relationship.isToMany
      }
      return property is NSAttributeDescription
    }
  }
}
