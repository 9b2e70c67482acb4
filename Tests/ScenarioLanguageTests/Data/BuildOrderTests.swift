import OpenCoreData
import Testing

@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("The order of generated entities")
struct BuildOrderTests {
  /// Returns a model in which each entity has to-one relationships to others; `!` is required.
  private func model(_ links: [(from: String, to: String)]) -> NSManagedObjectModel {
    var entities: [String: NSEntityDescription] = [:]
    func entity(_ name: String) -> NSEntityDescription {
      if let known = entities[name] { return known }
      let entity = NSEntityDescription()
      entity.name = name
      entities[name] = entity
      return entity
    }
    for link in links {
      let relationship = NSRelationshipDescription()
      relationship.name = link.to.replacing("!", with: "").lowercased()
      relationship.destinationEntity = entity(link.to.replacing("!", with: ""))
      relationship.maxCount = 1
      relationship.isOptional = !link.to.hasSuffix("!")
      entity(link.from).properties.append(relationship)
    }
    let model = NSManagedObjectModel()
    model.entities = entities.keys.sorted().compactMap { entities[$0] }
    return model
  }

  private func plan(_ entity: String, _ properties: String...) throws -> EntityPlan {
    EntityPlan(
      entity: entity,
      count: try CountExpression(Word("2", at: SourceRange(line: 1, column: 1))),
      properties: properties.map { EntityPlan.Property(name: $0, generator: .cycle) })
  }

  private func problems(_ plans: [EntityPlan], _ model: NSManagedObjectModel) -> [String] {
    DestinationCheck(
      plans: plans, counts: plans.map { EntityCount(name: $0.entity, count: 2) }, model: model
    ).problems.map(\.message)
  }

  @Test func cycleBeginsWithAnEntityWhoseRelationshipIsOptional() throws {
    let model = model([("Band", "Singer!"), ("Singer", "Band")])
    let plans = [try plan("Band"), try plan("Singer", "band")]
    let order = BuildOrder(plans: plans, model: model)
    #expect(order.plans.map(\.entity) == ["Singer", "Band"])
    #expect(order.late == ["Singer": ["band"]])
    #expect(problems(plans, model) == [])
  }

  @Test func entityThatOnlyLeadsToACycleFollowsIt() throws {
    let model = model([("Song", "Band!"), ("Band", "Singer"), ("Singer", "Band")])
    let plans = [try plan("Song"), try plan("Band", "singer"), try plan("Singer", "band")]
    let order = BuildOrder(plans: plans, model: model)
    #expect(order.plans.map(\.entity) == ["Band", "Song", "Singer"])
    #expect(order.late == ["Band": ["singer"]])
    #expect(problems(plans, model) == [])
  }

  @Test func cycleOfRequiredRelationshipsIsReported() throws {
    let model = model([("Band", "Singer!"), ("Singer", "Band!")])
    let plans = [try plan("Band"), try plan("Singer")]
    let found = problems(plans, model)
    #expect(found.count == 1)
    #expect(
      found.first?.hasPrefix("`Band.singer` is required, but its destination requires") == true)
  }
}
