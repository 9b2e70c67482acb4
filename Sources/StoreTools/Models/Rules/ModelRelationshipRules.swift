import OpenCoreData
import WorkbenchText

/// Finds relationships without an inverse, whose two sides can become inconsistent.
struct MissingInverseRule: ModelRule {
  static let name = "missing-inverse"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    guard !checked.isInferred else { return [] }
    return checked.model.entityTree.flatMap { _, entity in
      entity.ownRelationships.compactMap { relationship in
        guard relationship.inverseRelationship == nil, !relationship.isTransient,
          let destination = relationship.destinationEntity
        else { return nil }
        let effect =
          relationship.isToMany
          ? "an object of \(destination) can be in the \(relationship.name) of only one object, and "
            + "when it's deleted, no object is notified"
          : "when the object of \(destination) is deleted, a dangling reference remains"
        return finding(
          "The relationship has no inverse: \(effect).",
          "Add a relationship to \(destination) in the opposite direction, and make them inverses of "
            + "each other.", entity, relationship.name)
      }
    }
  }
}

/// Finds relationships whose destination isn't in the model, or whose references can become
/// dangling.
///
/// If an object's relationship has the delete rule No Action, deleting the object leaves a dangling
/// key in the column of an inverse to-one relationship. An inverse to-many relationship has no such
/// column: its keys are in the deleted row, or in join rows, which are deleted with it.
struct DanglingDestinationRule: ModelRule {
  static let name = "dangling-destination"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    let model = checked.model
    var findings = checked.problems.filter { $0.isWarning && Self.isAbout($0, in: model) }
      .map { ModelFinding(Self.name, $0) }
    for (_, entity) in model.entityTree {
      for relationship in entity.ownRelationships
      where !relationship.isTransient && !relationship.isToMany {
        guard let inverse = relationship.inverseRelationship,
          inverse.deleteRule == .noActionDeleteRule, let target = relationship.destinationEntity
        else { continue }
        findings.append(
          finding(
            "Deleting an object of \(target) leaves \(relationship.name) dangling: "
              + "the delete rule of \(inverse) is No Action.",
            "Set the delete rule of \(inverse) to Nullify, Cascade, or Deny.", entity,
            relationship.name))
      }
    }
    return findings
  }

  /// Returns whether an error is about a relationship whose destination isn't in the model.
  static func isAbout(_ error: ModelError, in model: NSManagedObjectModel) -> Bool {
    guard let entity = error.entity, let property = error.property,
      let relationship = model.entitiesByName[entity]?.relationshipsByName[property]
    else { return false }
    return relationship.destinationEntity?.managedObjectModel !== model
  }
}

/// Finds join tables that one side of the relationship has to scan.
///
/// A join table's primary key serves one side; the other side needs an index that starts with its
/// column. Stores that old versions of Core Data created have no such index.
struct OneWayJoinTableRule: ModelRule {
  static let name = "one-way-join-table"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    guard let schema = checked.schema else { return [] }
    return schema.tables.sorted { $0.key < $1.key }.flatMap { table, columns -> [ModelFinding] in
      let keys = columns.map(\.name).filter { !$0.uppercased().hasPrefix("Z_FOK_") }
      guard keys.count == 2, keys.allSatisfy(isKey), table.uppercased().hasPrefix("Z_") else {
        return []
      }
      let leading = Set(schema.indexes.filter { $0.table == table }.compactMap(\.columns.first))
      return keys.filter { !leading.contains($0) }.map { key in
        let other = keys.first { $0 != key } ?? key
        return finding(
          "The join table \(table) has no index that begins with \(key), so following the "
            + "relationship from that side scans the whole table.",
          "Create an index on \(table) (\(key), \(other)), or migrate the store once.", nil)
      }
    }
  }

  /// Returns whether a column contains keys: `Z_4TAGS`, or the column of a relationship that's its
  /// own inverse.
  private func isKey(_ column: String) -> Bool {
    column == "REFLEXIVE"
      || column.hasPrefix("Z_") && column.dropFirst(2).first?.isNumber == true
  }
}
