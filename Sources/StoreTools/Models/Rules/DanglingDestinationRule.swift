import OpenCoreData
import WorkbenchText

/// Finds relationships that lead to no entity, or to rows that may be gone.
///
/// Deleting an object leaves the keys of those that led to it when the relationship on its own side
/// has the delete rule No Action.
struct DanglingDestinationRule: ModelRule {
  static let name = "dangling-destination"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    let model = checked.model
    var findings = checked.problems.filter { $0.isWarning && Self.isAbout($0, in: model) }
      .map { ModelFinding(Self.name, $0) }
    for (_, entity) in model.entityTree {
      for relationship in entity.ownRelationships where !relationship.isTransient {
        guard let inverse = relationship.inverseRelationship,
          inverse.deleteRule == .noActionDeleteRule, let target = relationship.destinationEntity
        else { continue }
        findings.append(
          finding(
            "Deleting a \(target) leaves \(relationship.name) leading to a row that is gone: "
              + "the delete rule of \(inverse) is No Action.",
            "Give \(inverse) the rule Nullify, Cascade or Deny.", entity, relationship.name))
      }
    }
    return findings
  }

  /// Whether an error is about a relationship that has no destination in the model.
  static func isAbout(_ error: ModelError, in model: NSManagedObjectModel) -> Bool {
    guard let entity = error.entity, let property = error.property,
      let relationship = model.entitiesByName[entity]?.relationshipsByName[property]
    else { return false }
    return relationship.destinationEntity?.managedObjectModel !== model
  }
}
