import OpenCoreData
import WorkbenchText

/// The order in which entities are made: after those that their to-one relationships point to.
struct BuildOrder {
  private(set) var plans: [EntityPlan] = []
  /// By entity: the relationships that can only be set when everything is made, as they point to an
  /// entity that comes later, or back to their own.
  private(set) var late: [String: Set<String>] = [:]

  init(plans written: [EntityPlan], model: NSManagedObjectModel) {
    var waiting = written
    while !waiting.isEmpty {
      let names = Set(waiting.map(\.entity))
      // With a cycle the first in the order of writing goes ahead, and the others' way back is late.
      let ready = waiting.firstIndex { plan in
        !Self.targets(of: plan, in: model).contains { !$0.entities.isDisjoint(with: names) }
      }
      let plan = waiting.remove(at: ready ?? 0)
      if ready == nil {
        for target in Self.targets(of: plan, in: model)
        where !target.entities.isDisjoint(with: names) {
          late[plan.entity, default: []].insert(target.relationship)
        }
      }
      plans.append(plan)
    }
  }

  private struct Target {
    var relationship: String
    var entities: Set<String>
  }

  private static func targets(of plan: EntityPlan, in model: NSManagedObjectModel) -> [Target] {
    guard let entity = model.entitiesByName[plan.entity] else { return [] }
    return EntityFill.relationships(of: entity, plan: plan).map { relationship in
      Target(
        relationship: relationship.name,
        entities: Set(relationship.destinationEntity?.concreteEntityNames ?? []))
    }
  }
}
