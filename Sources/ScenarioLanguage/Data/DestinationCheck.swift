import OpenCoreData
import WorkbenchText

/// Finds relationships that must have a destination and can get none from the planned rows.
struct DestinationCheck {
  let plans: [EntityPlan]
  /// Rows of each planned entity itself.
  let counts: [EntityCount]
  let model: NSManagedObjectModel

  /// One problem a relationship, at its entity's count.
  var problems: [LanguageProblem] {
    let rows = Dictionary(counts.map { ($0.name, $0.count) }, uniquingKeysWith: { $1 })
    let late = BuildOrder(plans: plans, model: model).late
    return plans.flatMap { plan -> [LanguageProblem] in
      guard rows[plan.entity] ?? 0 > 0, let entity = model.entitiesByName[plan.entity] else {
        return []
      }
      return EntityFill.relationships(of: entity, plan: plan).compactMap { relationship in
        guard !relationship.isOptional else { return nil }
        let name = "\(plan.entity).\(relationship.name)"
        let destination = relationship.destinationEntity
        let targets = destination?.concreteEntityNames ?? []
        guard targets.contains(where: { rows[$0] ?? 0 > 0 }) else {
          return LanguageProblem(
            "`\(name)` must have a value, and `data` has no \(destination?.name ?? "destination")",
            at: plan.count.place,
            nextStep: "give \(ModelNames.list(targets)) a count above 0")
        }
        guard late[plan.entity]?.contains(relationship.name) != true else {
          return LanguageProblem(
            "`\(name)` must have a value, and what it points to needs \(plan.entity) first",
            at: plan.count.place,
            nextStep: "make one of the relationships of the circle optional in the model")
        }
        return nil
      }
    }
  }
}
