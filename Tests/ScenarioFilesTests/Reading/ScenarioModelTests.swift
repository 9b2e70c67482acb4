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
}
