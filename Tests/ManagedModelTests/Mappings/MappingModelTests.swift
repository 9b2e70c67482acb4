import Foundation
import Testing

@testable import ManagedModel

@Suite("Mapping models that Xcode wrote", .enabled(if: SharedData.isUsed, SharedData.reason))
struct MappingModelTests {
  private static let sampleDocument =
    "models/CoreDataPlus/Tests/Resources/SampleModel/MappingModels/V2toV3.xcmappingmodel"

  private static func sample(_ version: Int) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: SharedData.url("coredataplus/SampleModel.momd"),
      version: "SampleModel\(version)")
  }

  private static func moody(_ version: Int) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(
      contentsOf: SharedData.url("moody/Moody.xcdatamodeld"), version: "Moody \(version)")
  }

  private static func mapping(_ from: Int) throws -> NSMappingModel {
    try NSMappingModel.read(
      contentsOf: SharedData.url("moody/Moody \(from)-Moody \(from + 1).xcmappingmodel"),
      from: moody(from), to: moody(from + 1))
  }

  /// The mapping as text, for comparison.
  private func outline(_ mapping: NSEntityMapping) -> [String] {
    func properties(_ list: [NSPropertyMapping]?) -> [String] {
      (list ?? []).map { "\($0.name ?? "") = \($0.valueExpression.map(\.description) ?? "nil")" }
        .sorted()
    }
    let own: [String] = [
      mapping.name ?? "", "\(mapping.mappingType)", mapping.sourceEntityName ?? "none",
      mapping.destinationEntityName ?? "none", mapping.entityMigrationPolicyClassName ?? "none",
      mapping.sourceEntityVersionHash?.base64EncodedString() ?? "none",
      mapping.destinationEntityVersionHash?.base64EncodedString() ?? "none",
      mapping.sourceExpression?.description ?? "none",
    ]
    return own + properties(mapping.attributeMappings) + properties(mapping.relationshipMappings)
  }

  @Test("M-24 A document compiles to what Xcode's compiler made of it")
  func documentCompilesToXcodesMappingModel() throws {
    let ours = try NSMappingModel.read(
      contentsOf: SharedData.url(Self.sampleDocument), from: Self.sample(2), to: Self.sample(3))
    let xcodes = try #require(
      NSMappingModel(contentsOf: SharedData.url("coredataplus/V2toV3.cdm")))
    #expect(ours.entityMappings.map(\.name) == xcodes.entityMappings.map(\.name))
    #expect(xcodes.entityMappings.count == 5)
    for (one, other) in zip(ours.entityMappings, xcodes.entityMappings) {
      #expect(outline(one) == outline(other))
    }
  }

  @Test("M-23 Mappings are in the order of their numbers, without those of no entity")
  func mappingsAreInOrder() throws {
    let mapping = try Self.mapping(2)
    #expect(
      mapping.entityMappings.map(\.name) == [
        "MoodToMood", "CountryToCountry", "ContinentToContinent",
      ])
    let mood = try #require(mapping.entityMappingsByName["MoodToMood"])
    #expect(mood.mappingType == .copyEntityMappingType)
    #expect(mood.relationshipMappings?.map(\.name) == ["continent", "country"])
    #expect(
      mood.relationshipMappings?.first?.valueExpression?.description
        == #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "ContinentToContinent", $source.country.continent)"#
    )
    #expect(mood.attributeMappings?.count == 9)
    let added = try #require(try Self.mapping(5).entityMappings.first)
    #expect(added.name == "Continent")
    #expect(added.mappingType == .addEntityMappingType)
    #expect(added.sourceExpression == nil)
  }

  @Test("A document names its models by their paths, which are found in its folder")
  func documentFindsItsModels() throws {
    let url = SharedData.url("moody/Moody 4-Moody 5.xcmappingmodel")
    let mapping = try #require(NSMappingModel(contentsOf: url))
    let country = try #require(mapping.entityMappingsByName["CountryToCountry"])
    let source = try Self.moody(4)
    #expect(country.sourceEntityVersionHash == source.entitiesByName["Country"]?.versionHash)
    let code = country.attributeMappings?.first { $0.name == "isoContinent" }
    #expect(code?.valueExpression?.description == "$source.continent.numericISO3166Code")
  }

  @Test("The mapping model between two models is found by version, and no other")
  func mappingModelIsFoundByVersions() throws {
    let bundle = try #require(Bundle(path: SharedData.url("moody").path))
    for from in 2...5 {
      let found = NSMappingModel(
        from: [bundle], forSourceModel: try Self.moody(from),
        destinationModel: try Self.moody(from + 1))
      #expect(
        found?.entityMappings.map(\.name) == (try Self.mapping(from)).entityMappings.map(\.name))
    }
    for (from, to) in [(2, 4), (3, 2), (4, 4)] {
      let found = NSMappingModel(
        from: [bundle], forSourceModel: try Self.moody(from), destinationModel: try Self.moody(to))
      #expect(found == nil)
    }
    let compiled = try #require(Bundle(path: SharedData.url("coredataplus").path))
    func compiledMapping(_ from: Int, _ to: Int) throws -> NSMappingModel? {
      NSMappingModel(
        from: [compiled], forSourceModel: try Self.sample(from),
        destinationModel: try Self.sample(to))
    }
    #expect(try compiledMapping(2, 3)?.entityMappings.count == 5)
    #expect(try compiledMapping(3, 2) == nil)
  }

  @Test("A relationship to an entity that's renamed finds the instances of the entity's mapping")
  func relationshipToRenamedEntityCompiles() throws {
    func model(_ city: String) -> NSManagedObjectModel {
      let (person, place) = (NSEntityDescription(), NSEntityDescription())
      let home = NSRelationshipDescription()
      (person.name, place.name, home.name) = ("Person", city, "home")
      (home.destinationEntity, home.maxCount) = (place, 1)
      person.properties = [home]
      let model = NSManagedObjectModel()
      model.entities = [person, place]
      return model
    }
    func entity(_ id: String, _ source: String, _ destination: String) -> String {
      """
      <object type="XDDEVENTITYMAPPING" id="\(id)">
      <attribute name="sourcename" type="string">\(source)</attribute>
      <attribute name="destinationname" type="string">\(destination)</attribute>
      </object>
      """
    }
    let text = """
      <?xml version="1.0"?><database><object type="XDDEVMAPPINGMODEL" id="z1"/>
      \(entity("z2", "Person", "Person"))\(entity("z3", "City", "Town"))
      <object type="XDDEVRELATIONSHIPMAPPING" id="z4">
      <attribute name="name" type="string">home</attribute>
      <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z2"/>
      </object></database>
      """
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).xcmappingmodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    try Data(text.utf8).write(to: url.appendingPathComponent("xcmapping.xml"))
    let mapping = try NSMappingModel.read(
      contentsOf: url, from: model("City"), to: model("Town"))
    #expect(mapping.entityMappings.map { $0.name } == ["PersonToPerson", "CityToTown"])
    let home = mapping.entityMappings.first?.relationshipMappings?.first
    #expect(
      home?.valueExpression?.description
        == #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "home", $source.home)"#
    )
  }

  @Test("A mapping model for other models is refused with what differs")
  func mappingModelOfOtherModelsIsRefused() throws {
    let url = SharedData.url("moody/Moody 3-Moody 4.xcmappingmodel")
    let errors = #expect(throws: ModelErrors.self) {
      try NSMappingModel.read(contentsOf: url, from: Self.moody(5), to: Self.moody(6))
    }
    let text = errors?.description ?? ""
    #expect(text.contains("xcmapping.xml:"))
    #expect(text.contains("The source model has no entity Continent"))
  }
}
