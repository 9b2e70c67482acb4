import Foundation
import OpenCoreData
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Filling stores")
struct StoreBuilderTests {
  /// A model with two cycles: `City.mayor` and the required `Person.home`, and `Person.boss`.
  private func cyclicModel() -> NSManagedObjectModel {
    let (city, person) = (NSEntityDescription(), NSEntityDescription())
    (city.name, person.name) = ("City", "Person")
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    func relate(
      _ name: String, to destination: NSEntityDescription, isToMany: Bool = false,
      isOptional: Bool = true
    ) -> NSRelationshipDescription {
      let relationship = NSRelationshipDescription()
      (relationship.name, relationship.destinationEntity) = (name, destination)
      relationship.maxCount = isToMany ? 0 : 1
      relationship.isOptional = isOptional
      return relationship
    }
    func setInverses(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
      (one.inverseRelationship, other.inverseRelationship) = (other, one)
    }
    let (mayor, rules) = (relate("mayor", to: person), relate("rules", to: city, isToMany: true))
    let home = relate("home", to: city, isOptional: false)
    let people = relate("people", to: person, isToMany: true)
    let (boss, staff) = (relate("boss", to: person), relate("staff", to: person, isToMany: true))
    setInverses(mayor, rules)
    setInverses(home, people)
    setInverses(boss, staff)
    city.properties = [attribute("name", .stringAttributeType), mayor, people]
    city.uniquenessConstraints = [["name"]]
    person.properties = [attribute("age", .integer16AttributeType), home, rules, boss, staff]
    let model = NSManagedObjectModel()
    model.entities = [city, person]
    return model
  }

  private func plan(_ entity: String, _ count: Int, _ generators: [String: Generator]) throws
    -> EntityPlan
  {
    EntityPlan(
      entity: entity,
      count: try CountExpression(Word(String(count), at: SourceRange(line: 1, column: 1))),
      properties: generators.sorted { $0.key < $1.key }.map {
        EntityPlan.Property(name: $0.key, generator: $0.value)
      })
  }

  /// Returns every row of a store as text: entity, object ID, values, and to-one destinations.
  private func rows(_ url: URL, _ model: NSManagedObjectModel) throws -> [String] {
    let session = try Session(storeURL: url, model: model, readOnly: true)
    let context = session.stack.main
    return try context.performAndWait {
      try model.entitiesByName.keys.sorted().flatMap { name in
        let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
        return objects.map { object in
          let attributes = object.entity.attributesByName.keys.sorted().map { key in
            let value = object.value(forKey: key)
            return (value as? Data)?.base64EncodedString() ?? value.map { "\($0)" } ?? "nil"
          }
          let destinations = object.entity.relationshipsByName.values.filter { !$0.isToMany }
            .map(\.name).sorted().map { key in
              let destination = object.value(forKey: key) as? NSManagedObject
              return destination?.objectID.uriRepresentation().lastPathComponent ?? "nil"
            }
          let own = object.objectID.uriRepresentation().lastPathComponent
          return ([name, own] + attributes + destinations).joined(separator: " ")
        }
        .sorted()
      }
    }
  }

  @Test
  func cyclicRelationshipsAreFilled() throws {
    let folder = try TemporaryFolder()
    let model = cyclicModel()
    let data = DataPlan(
      source: .generated([
        try plan("City", 3, ["mayor": .cycle]),
        try plan("Person", 2_500, ["boss": .cycle, "age": .random]),
      ]))
    let url = folder.file("cyclicModel.sqlite")
    let contents = try ScenarioData.make(data, model: model, scale: 1, at: url)
    #expect(contents.scope.rows == ["City": 3, "Person": 2_500])
    let rows = try rows(url, model)
    #expect(rows.count == 2_503)
    // The columns of a city: City, ID, name, mayor; of a person: Person, ID, age, boss, home.
    let columns = rows.map { $0.split(separator: " ") }
    #expect(columns.filter { $0[0] == "City" }.map { String($0[3]) } == ["p1", "p2", "p3"])
    #expect(Set(columns.filter { $0[0] == "City" }.map { $0[2] }).count == 3)
    let people = columns.filter { $0[0] == "Person" }
    #expect(people.allSatisfy { $0[1] == $0[3] })
    #expect(people.allSatisfy { ["p1", "p2", "p3"].contains($0[4]) })
  }

  @Test("Entities that inherit a uniqueness constraint have different values")
  func inheritedConstraintsAreMet() throws {
    let folder = try TemporaryFolder()
    let parent = NSEntityDescription()
    (parent.name, parent.isAbstract) = ("Place", true)
    let types: [(String, NSAttributeType)] = [
      ("code", .integer64AttributeType), ("name", .stringAttributeType),
      ("founded", .dateAttributeType), ("site", .URIAttributeType),
    ]
    parent.properties = types.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, false)
      return attribute
    }
    parent.uniquenessConstraints = types.map { [$0.0] }
    let (city, village) = (NSEntityDescription(), NSEntityDescription())
    (city.name, village.name) = ("City", "Village")
    parent.subentities = [city, village]
    let model = NSManagedObjectModel()
    model.entities = [parent, city, village]
    let plans = [try plan("Village", 4, [:]), try plan("City", 3, [:])]
    let url = folder.file("places.sqlite")
    _ = try ScenarioData.make(
      DataPlan(source: .generated(plans)), model: model, scale: 1, at: url)
    let session = try Session(storeURL: url, model: model, readOnly: true)
    let context = session.stack.main
    try context.performAndWait {
      let places = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Place"))
      #expect(places.count == 7)
      #expect(Set(places.map { $0.value(forKey: "code") as? Int64 }).count == 7)
      // The first entity has the values that it has alone.
      let codes = places.filter { $0.entity.name == "Village" }
        .compactMap { $0.value(forKey: "code") as? Int64 }.sorted()
      #expect(codes == [1, 2, 3, 4])
    }
  }

  @Test("A required many-to-many relationship gets as many destinations as the model requires")
  func requiredManyToManyRelationshipsAreFilled() throws {
    let folder = try TemporaryFolder()
    let document = folder.file("Many.xcdatamodel")
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
    let contents = """
      <model><entity name="Photo"><relationship name="tags" toMany="YES" minCount="2"
      destinationEntity="Tag" inverseName="photos" inverseEntity="Tag"/></entity>
      <entity name="Tag"><relationship name="photos" optional="YES" toMany="YES"
      destinationEntity="Photo" inverseName="tags" inverseEntity="Photo"/></entity></model>
      """
    try Data(contents.utf8).write(to: document.appendingPathComponent("contents"))
    let scenario = try ScenarioReader.read(
      text: """
        name: Many
        model: \(document.path)
        data: {Photo: {count: 6}, Tag: {count: 3}}
        steps: []
        """,
      url: folder.file("many.yml"), path: "many.yml")
    let url = folder.file("many.sqlite")
    _ = try ScenarioData.make(scenario.data, model: scenario.model, scale: 1, at: url)
    let session = try Session(storeURL: url, model: scenario.model, readOnly: true)
    let context = session.stack.main
    try context.performAndWait {
      let photos = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo"))
      let numbers = photos.map { ($0.value(forKey: "tags") as? Set<NSManagedObject>)?.count }
      #expect(numbers == [2, 2, 2, 2, 2, 2])
    }
  }

  @Test(arguments: [1, 3, 9])
  func manyToManyRelationshipsGetTheirDestinationsInTurn(number: Int) throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      text: """
        name: Many
        model: Photos
        data:
          Photo: {count: 1200, tags: cycle \(number)}
          Tag: {count: 4}
        steps: []
        """,
      url: PackagedScenarios.folder.appendingPathComponent("many.yml"), path: "many.yml")
    let url = folder.file("many.sqlite")
    _ = try ScenarioData.make(scenario.data, model: scenario.model, scale: 1, at: url)
    let session = try Session(storeURL: url, model: scenario.model, readOnly: true)
    let context = session.stack.main
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Photo")
      request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
      let keys = try context.fetch(request).map { photo in
        let tags = photo.value(forKey: "tags") as? Set<NSManagedObject> ?? []
        return Set(tags.map { $0.objectID.uriRepresentation().lastPathComponent })
      }
      let expected = (0..<1_200).map { row in
        Set((0..<number).map { "p\((row * number + $0) % 4 + 1)" })
      }
      #expect(keys.count == 1_200 && zip(keys, expected).allSatisfy(==))
    }
  }

  @Test
  func storesDependOnTheSeed() throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      PackagedScenarios.folder.appendingPathComponent("mood-list.yml"))
    func make(_ name: String, seed: UInt64) throws -> [String] {
      var plan = scenario.data
      plan.seed = seed
      let url = folder.file(name)
      _ = try ScenarioData.make(plan, model: scenario.model, scale: 3, at: url)
      return try rows(url, scenario.model)
    }
    let first = try make("first.sqlite", seed: 7)
    #expect(first.filter { $0.hasPrefix("Mood ") }.count == 1_500)
    #expect(try first == make("second.sqlite", seed: 7))
    #expect(try first != make("third.sqlite", seed: 8))
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(files.sorted() == ["first.sqlite", "second.sqlite", "third.sqlite"])
  }

  @Test(
    "Rows that the model doesn't allow are an error at the count of their entity",
    arguments: [
      (
        "Journal", "{Country: {count: 2}, Entry: {count: 3, longitude: 'one of [500]'}}", 44,
        "the rows of `Entry` aren't valid: 3 x longitude is 500.0, but it must satisfy SELF <= 180."
      ),
      (
        "Places", "{Place: {count: 3, code: 'one of [1]'}}", 23,
        "the rows of `Place` aren't valid: several have the same code"
      ),
    ])
  func invalidRowsAreAnErrorWithAPosition(
    model: String, data: String, column: Int, message: String
  ) throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      text: "name: Rows\nmodel: \(model)\ndata: \(data)\nsteps: []\n",
      url: PackagedScenarios.folder.appendingPathComponent("rows.yml"), path: "rows.yml")
    let error = #expect(throws: ScenarioDiagnostics.self) {
      try ScenarioRunner(scenario: scenario, outputDirectory: folder.url).run()
    }
    let found = try #require(error?.diagnostics.first)
    #expect(found.problem.message == message)
    #expect(found.line == 3 && found.column == column)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  @Test
  func progressReachesTheLastRow() throws {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      PackagedScenarios.folder.appendingPathComponent("mood-list.yml"))
    var progress: [Int] = []
    _ = try ScenarioData.make(
      scenario.data, model: scenario.model, scale: 3, at: folder.file("a.sqlite")
    ) { rows, total in
      progress.append(rows)
      #expect(total == 5 + 90 + 1_500)
    }
    #expect(progress == progress.sorted() && progress.last == 1_595)
  }
}
