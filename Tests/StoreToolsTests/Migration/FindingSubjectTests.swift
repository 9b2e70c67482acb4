import OpenCoreData
import Testing

@testable import MigrationTools
@testable import StoreTools

/// The findings of `doctor` before and after a migration are compared by what they affect.
@Suite("Comparisons of findings before and after a migration")
struct FindingSubjectTests {
  private typealias Fixture = MigrationFixture

  private static func finding(
    _ entity: String?, _ property: String?, count: Int, table: String? = nil
  ) -> DoctorFinding {
    DoctorFinding(
      entity == nil ? .indexRedundant : .missingValue, entity: entity, property: property,
      table: table, count: count, "", nextStep: "")
  }

  /// The mapping to a version in which `rating` is `stars`, and `note` is removed.
  private static func mapping() -> InferredMapping {
    let later = Fixture.model { mood in
      let stars = Fixture.attribute("stars", .integer64AttributeType)
      stars.renamingIdentifier = "rating"
      mood.properties = [stars, Fixture.attribute("code"), Fixture.attribute("place")]
    }
    return InferredMapping(from: Fixture.model(), to: later)
  }

  @Test(
    "A finding is new if no finding of its rule was about the same property, by any name",
    arguments: [
      ("rating", 2, "stars", 2, false),
      ("rating", 2, "stars", 3, true),
      ("rating", 2, "place", 2, true),
      ("note", 2, "place", 1, true),
      ("code", 2, "code", 1, false),
    ])
  func findingsAreComparedByProperty(
    former: String, before: Int, later: String, after: Int, isNew: Bool
  ) {
    let hasNew = FindingSubject.hasNew(
      [Self.finding("Mood", later, count: after)],
      since: [Self.finding("Mood", former, count: before)], [Self.mapping()])
    #expect(hasNew == isNew)
  }

  @Test("Findings about the tables of two entities are different ones")
  func findingsAreComparedByTable() {
    func model() -> NSManagedObjectModel {
      let place = NSEntityDescription()
      place.name = "Place"
      let model = Fixture.model()
      model.entities.append(place)
      return model
    }
    let mapping = InferredMapping(from: model(), to: model())
    func hasNew(_ table: String) -> Bool {
      FindingSubject.hasNew(
        [Self.finding(nil, nil, count: 1, table: table)],
        since: [Self.finding(nil, nil, count: 1, table: "ZMOOD")], [mapping])
    }
    #expect(!hasNew("ZMOOD"))
    #expect(hasNew("ZPLACE"))
  }

  @Test("A finding about a property that moves to the entity's subentities isn't new")
  func findingsFollowMovedProperties() {
    func model(_ attributes: (mood: [String], subentity: [String])) -> NSManagedObjectModel {
      let subentity = NSEntityDescription()
      subentity.name = "DailyMood"
      subentity.properties = attributes.subentity.map { Fixture.attribute($0) }
      return Fixture.model { mood in
        mood.properties = attributes.mood.map { Fixture.attribute($0) }
        mood.subentities = [subentity]
      }
    }
    let mapping = InferredMapping(
      from: model((["note"], [])), to: model(([], ["note"])))
    func hasNew(_ count: Int) -> Bool {
      FindingSubject.hasNew(
        [Self.finding("DailyMood", "note", count: count)],
        since: [Self.finding("Mood", "note", count: 2)], [mapping])
    }
    #expect(!hasNew(2))
    #expect(hasNew(3))
  }
}
