import Foundation
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Errors in the model of a scenario")
struct ScenarioModelTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func errors(ofModel contents: String) throws -> [ScenarioDiagnostic] {
    let model = folder.file("Models/Zoo.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data(contents.utf8).write(to: model.appendingPathComponent("contents"))
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try ScenarioReader.read(
        text: "name: Zoo\nmodel: Zoo\nsteps: [fetch Animal]\nbogus: 1\n",
        url: folder.file("zoo.yml"), path: "zoo.yml")
    }
    return error.diagnostics
  }

  @Test("Each error of the model has its position in the model, a caret, and a next step")
  func errorsOfTheModelHaveTheirPositions() throws {
    let found = try errors(
      ofModel: """
        <?xml version="1.0" encoding="UTF-8"?>
        <model>
          <entity name="Animal">
            <attribute name="name" attributeType="String"/>
            <attribute name="name" attributeType="Date"/>
            <attribute name="age" attributeType="Integer32"/>
          </entity>
          <entity name="Keeper"/>
          <entity name="Keeper"/>
        </model>
        """)
    #expect(
      found.map(\.problem.message) == [
        "Animal.name: There are two properties named name",
        "Keeper: There are two entities named Keeper", "a scenario has no key `bogus`",
      ])
    #expect(found.map(\.line) == [5, 9, 4])
    #expect(found.map(\.column) == [22, 17, 1])
    #expect(found.prefix(2).allSatisfy { $0.file.hasSuffix("Models/Zoo.xcdatamodel/contents") })
    #expect(found.first?.sourceLine?.contains(#"attributeType="Date""#) == true)
    #expect(found.map(\.nextStep).prefix(2) == ["Rename one of them", "Rename one of them"])
  }

  @Test("A document that isn't well-formed is an error in the document, completely")
  func brokenDocumentIsAnErrorInTheDocument() throws {
    let found = try errors(ofModel: "<model>\n  <entity name=\"A\">\n</model>\n")
    #expect(found.count == 2)
    #expect(found.first?.file.hasSuffix("Models/Zoo.xcdatamodel/contents") == true)
    #expect(found.first?.line == 3)
    #expect(found.first?.problem.text.hasSuffix("the opening one") == true, "\(found)")
    #expect(found.first?.nextStep.hasPrefix("Repair it in a text editor") == true, "\(found)")
  }

  @Test("A version that can't be read is an error only in a scenario that uses versions")
  func brokenVersionIsAnErrorOfWhatUsesVersions() throws {
    let models = folder.file("Models/Zoo.xcdatamodeld")
    let entity = #"<entity name="Animal"/>"#
    for (name, entities) in [("Zoo", entity + entity), ("Zoo 2", entity)] {
      let version = models.appendingPathComponent("\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data("<model>\(entities)</model>".utf8).write(
        to: version.appendingPathComponent("contents"))
    }
    try Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
      <string>Zoo 2.xcdatamodel</string></dict></plist>
      """.utf8
    ).write(to: models.appendingPathComponent(".xccurrentversion"))
    func read(_ step: String) throws {
      _ = try ScenarioReader.read(
        text: "name: Zoo\nmodel: Zoo\ndata: {Animal: {count: 1}}\nsteps: [\(step)]\n",
        url: folder.file("zoo.yml"), path: "zoo.yml")
    }
    try read("fetch Animal")
    let error = try #require(throws: ScenarioDiagnostics.self) { try read("migrate \"Zoo 2\"") }
    let first = try #require(error.diagnostics.first)
    #expect(first.problem.text.hasPrefix("the version `Zoo` of the model can't be read: "))
    #expect(first.line == 4)
    #expect(first.nextStep.hasSuffix("Zoo.xcdatamodeld --version Zoo --check`"), "\(first)")
  }
}
