import OpenCoreData
import Testing

@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Required to-many relationships of generated data")
struct DestinationCheckTests {
  /// Photos, which can require tags.
  private static func model(
    least: Int, isRequired: Bool = true, isManyToMany: Bool = true
  ) -> NSManagedObjectModel {
    let (photo, tag) = (NSEntityDescription(), NSEntityDescription())
    (photo.name, tag.name) = ("Photo", "Tag")
    let (tags, photos) = (NSRelationshipDescription(), NSRelationshipDescription())
    (tags.name, photos.name) = ("tags", "photos")
    (tags.destinationEntity, photos.destinationEntity) = (tag, photo)
    (tags.inverseRelationship, photos.inverseRelationship) = (photos, tags)
    (tags.minCount, tags.maxCount, tags.isOptional) = (least, 0, !isRequired)
    photos.isOptional = true
    photos.maxCount = isManyToMany ? 0 : 1
    (photo.properties, tag.properties) = ([tags], [photos])
    let model = NSManagedObjectModel()
    model.entities = [photo, tag]
    return model
  }

  private static func plan(
    _ entity: String, _ count: Int, in model: NSManagedObjectModel, tags: Int? = nil
  ) throws -> EntityPlan {
    var plan = EntityPlan(
      entity: entity,
      count: try CountExpression(Word("\(count)", at: SourceRange(line: 1, column: 1))),
      properties: tags.map { [EntityPlan.Property(name: "tags", generator: .several($0))] } ?? [])
    if let entity = model.entitiesByName[entity] { plan.addRequiredRelationships(of: entity) }
    return plan
  }

  @Test(
    "A required many-to-many relationship has a generator for the minimum count",
    arguments: [(0, 1), (3, 3)])
  func requiredRelationshipsHaveGenerators(least: Int, number: Int) throws {
    let model = Self.model(least: least)
    let plan = try Self.plan("Photo", 4, in: model)
    #expect(plan.generator(of: "tags") == .several(number))
    #expect(try Self.plan("Tag", 4, in: model).properties.isEmpty)
    let own = try Self.plan("Photo", 4, in: model, tags: 5)
    #expect(own.generator(of: "tags") == .several(5) && own.properties.count == 1)
    let optional = Self.model(least: least, isRequired: false)
    #expect(try Self.plan("Photo", 4, in: optional).properties.isEmpty)
  }

  @Test(
    "A relationship with fewer objects than the model requires is a problem",
    arguments: [
      (model(least: 0), 4, 2, nil, nil),
      (model(least: 3), 4, 3, nil, nil),
      (model(least: 3), 4, 2, nil, "`Photo.tags` requires at least 3 objects, but `data` has 2"),
      (model(least: 3), 4, 5, 2, "`Photo.tags` requires at least 3 objects, not 2"),
      (model(least: 3, isRequired: false), 4, 5, 2, "`Photo.tags` requires at least 3 objects"),
      (model(least: 3, isRequired: false), 4, 5, nil, nil),
      (model(least: 2_000), 4, 5, nil, "`Photo.tags` requires 2,000 objects, more than can be"),
      (
        model(least: 0, isManyToMany: false), 4, 5, nil,
        "`Photo.tags` is required, but its objects are generated after those of Photo"
      ),
      (model(least: 0, isManyToMany: false), 0, 5, nil, nil),
    ] as [(NSManagedObjectModel, Int, Int, Int?, String?)])
  func lackingObjectsAreReported(
    model: NSManagedObjectModel, photos: Int, tags: Int, generated: Int?, message: String?
  ) throws {
    let plans = [
      try Self.plan("Photo", photos, in: model, tags: generated),
      try Self.plan("Tag", tags, in: model),
    ]
    let counts = [
      EntityCount(name: "Photo", count: photos), EntityCount(name: "Tag", count: tags),
    ]
    let problems = DestinationCheck(plans: plans, counts: counts, model: model).problems
    #expect(problems.count == (message == nil ? 0 : 1))
    #expect(problems.allSatisfy { $0.message.hasPrefix(message ?? "") })
    #expect(problems.allSatisfy { !$0.nextStep.isEmpty && $0.range.line == 1 })
  }

  @Test("A many-to-many relationship that's required at both ends doesn't blame a generator")
  func bothEndsCannotBeRequired() throws {
    let model = Self.model(least: 0)
    model.entitiesByName["Tag"]?.relationshipsByName["photos"]?.isOptional = false
    let plans = [try Self.plan("Photo", 4, in: model), try Self.plan("Tag", 3, in: model)]
    let counts = [EntityCount(name: "Photo", count: 4), EntityCount(name: "Tag", count: 3)]
    let problems = DestinationCheck(plans: plans, counts: counts, model: model).problems
    let messages = problems.map(\.message)
    #expect(messages.contains { $0.hasPrefix("`Tag.photos` and its inverse are both required") })
    #expect(!messages.contains { $0.contains("generator") })
  }
}
