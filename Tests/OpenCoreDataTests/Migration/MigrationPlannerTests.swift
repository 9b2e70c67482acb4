import Testing

@testable import OpenCoreData

@Suite("Plans of migrations along versions")
struct MigrationPlannerTests {
  /// Versions of an entity, and the mapping models between them.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The attributes of each version, with their types.
    let versions: [[String: NSAttributeType]]
    /// The numbers of the versions that mapping models are made for.
    var mappingModels: [[Int]] = []
    /// The steps; `nil` if there's no way.
    let steps: [String]?
  }

  private static let text = NSAttributeType.stringAttributeType
  private static let number = NSAttributeType.integer64AttributeType

  private static let cases = [
    Case(
      testDescription: "a mapping model for the next version precedes one for a later",
      versions: [["n": text], ["n": text, "x": text], ["n": text, "y": text]],
      mappingModels: [[1, 2], [1, 3]], steps: ["1 to 2, with a mapping model", "2 to 3, inferred"]),
    Case(
      testDescription: "a mapping model for a later version precedes inference",
      versions: [["n": text], ["n": text, "x": text], ["n": text, "y": text]],
      mappingModels: [[1, 3]], steps: ["1 to 3, with a mapping model"]),
    Case(
      testDescription: "a mapping model after which there's no way isn't used",
      versions: [["n": text], ["n": text, "x": text], ["n": text, "y": text], ["n": number]],
      mappingModels: [[1, 3], [2, 4]],
      steps: ["1 to 2, inferred", "2 to 4, with a mapping model"]),
    Case(
      testDescription: "a mapping is inferred to a later version if it can't be to the next",
      versions: [
        ["a": text, "n": text], ["a": text, "n": number], ["a": text], ["a": number],
      ],
      mappingModels: [[3, 4]], steps: ["1 to 3, inferred", "3 to 4, with a mapping model"]),
    Case(
      testDescription: "a mapping is inferred instead of using a mapping model that leads nowhere",
      versions: [["n": text], ["n": number], ["n": text, "x": text]], mappingModels: [[1, 2]],
      steps: ["1 to 3, inferred"]),
    Case(
      testDescription: "there's no way",
      versions: [["n": text], ["n": number], ["n": number, "x": text]], steps: nil),
  ]

  /// The text of a mapping model between two versions that maps the entity without attributes.
  private static func mapping(_ from: Int, _ to: Int) -> String {
    """
    <?xml version="1.0"?><database>
    <object type="XDDEVMAPPINGMODEL" id="z1">
    <attribute name="sourcemodelpath" type="string">Items.xcdatamodeld/\(from).xcdatamodel</attribute>
    <attribute name="destinationmodelpath" type="string">Items.xcdatamodeld/\(to).xcdatamodel</attribute>
    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z2"/>
    </object>
    <object type="XDDEVENTITYMAPPING" id="z2">
    <attribute name="sourcename" type="string">Item</attribute>
    <attribute name="mappingtypename" type="string">Undefined</attribute>
    <attribute name="mappingnumber" type="int16">1</attribute>
    <attribute name="destinationname" type="string">Item</attribute>
    <attribute name="autogenerateexpression" type="bool">1</attribute>
    <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z1"/>
    </object></database>
    """
  }

  /// Writes the models of a case to a folder, and reads them.
  private static func planner(of test: Case, in folder: URL) throws -> MigrationPlanner {
    func write(_ text: String, _ path: String) throws {
      let url = folder.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    let names = test.versions.indices.map { "\($0 + 1)" }
    for (name, attributes) in zip(names, test.versions) {
      let entity = NSEntityDescription()
      entity.name = "Item"
      entity.properties = attributes.sorted { $0.key < $1.key }.map {
        LightweightMigrationTests.attribute($0.key, $0.value)
      }
      let model = NSManagedObjectModel()
      model.entities = [entity]
      try write(
        ModelDocument.text(of: model).text, "Items.xcdatamodeld/\(name).xcdatamodel/contents")
    }
    for pair in test.mappingModels {
      try write(
        Self.mapping(pair[0], pair[1]), "\(pair[0])-\(pair[1]).xcmappingmodel/xcmapping.xml")
    }
    let versions = folder.appendingPathComponent("Items.xcdatamodeld")
    let mappingModels = try MappingModelFile.all(in: folder)
    #expect(mappingModels.count == test.mappingModels.count)
    return MigrationPlanner(
      versions: try names.map { name in
        ModelVersion(
          name: name, model: try NSManagedObjectModel.read(contentsOf: versions, version: name))
      }, mappingModels: [mappingModels])
  }

  @Test("A way is found if there's one", arguments: cases)
  func waysAreFound(_ test: Case) throws {
    let folder = try ProcessFolder.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let planner = try Self.planner(of: test, in: folder)
    let end = test.versions.count - 1
    guard let expected = test.steps else {
      let gap = #expect(throws: MigrationPlanner.Gap.self) {
        try planner.steps(from: 0, to: end)
      }
      // The first two versions between which there's no step.
      #expect(gap?.from.name == "1" && gap?.to.name == "2")
      #expect(gap?.obstacles.map(\.path) == ["Item.n"])
      return
    }
    #expect(try planner.steps(from: 0, to: end).map(\.description) == expected)
    #expect(try planner.steps(from: end, to: end).isEmpty)
  }
}
