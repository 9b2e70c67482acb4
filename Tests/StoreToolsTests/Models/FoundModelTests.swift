import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import StoreTools

@Suite("Reading and printing models")
struct FoundModelTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let moody = PackagedScenarios.folder.appendingPathComponent(
    "Models/Moody.xcdatamodel")

  private func store(of model: NSManagedObjectModel) throws -> URL {
    let url = folder.file("Store.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    return url
  }

  @Test func documentCompiledModelAndStoreGiveTheSameModel() throws {
    let document = try FoundModel(path: Self.moody.path)
    #expect(document.origin == .document && document.versions == ["Moody"])
    let compiled = folder.file("Moody.momd")
    try FileManager.default.createDirectory(at: compiled, withIntermediateDirectories: true)
    for name in ["Moody", "Moody 2"] {
      try Data(ModelArchive.bytes(of: document.model))
        .write(to: compiled.appendingPathComponent("\(name).mom"))
    }
    let version = try FoundModel(path: compiled.path, version: "Moody 2")
    #expect(version.origin == .compiled && version.version == "Moody 2")
    #expect(throws: ModelErrors.self) { try FoundModel(path: compiled.path) }
    #expect(throws: ModelErrors.self) { try FoundModel(path: compiled.path, version: "Moody 3") }
    let stored = try FoundModel(path: store(of: document.model).path)
    #expect(stored.origin == .store && stored.versions.isEmpty)
    let written = folder.file("contents")
    try Data(ModelDocument.text(of: stored.model).text.utf8).write(to: written)
    for model in [version.model, stored.model, try FoundModel(path: written.path).model] {
      #expect(model.outline == document.model.outline)
    }
  }

  @Test func ddlMatchesTheStoresStatements() throws {
    let model = try FoundModel(path: Self.moody.path).model
    let statements = try model.creationStatements()
    let url = try store(of: model)
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    let rows = try connection.values(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    #expect(rows.map { $0[0] } == statements.map { .text($0) })
    #expect(statements.allSatisfy { !$0.contains("\n") && !$0.hasSuffix(";") })
  }

  @Test func modelIsInferredFromTables() throws {
    let known = try FoundModel(path: Self.moody.path).model
    let url = try store(of: known)
    let connection = try Connection(path: url.path, access: .writing)
    try connection.execute("DROP TABLE Z_MODELCACHE")
    connection.close()
    let found = try FoundModel(path: url.path)
    #expect(found.origin == .tables)
    let guess = found.model
    #expect(guess.validate() == [])
    #expect(Set(guess.entitiesByName.keys) == Set(known.entitiesByName.keys))
    for entity in known.entities {
      let guessed = try #require(guess.entitiesByName[entity.name ?? ""])
      #expect(guessed.superentity?.name == entity.superentity?.name)
      let columns = entity.properties.filter {
        !(($0 as? NSRelationshipDescription)?.isToMany ?? false)
      }
      #expect(
        Set(guessed.properties.map(\.name)).isSuperset(of: columns.map { $0.name.lowercased() }))
    }
    let mood = try #require(guess.entitiesByName["Mood"])
    #expect(mood.relationshipsByName["country"]?.destinationEntity?.name == "Country")
    #expect(mood.attributesByName["date"]?.attributeType == .dateAttributeType)
    let text = ModelText.lines(found)
    #expect(text.contains { $0.contains("are inferred") })
    #expect(
      text.contains {
        $0.hasPrefix("  country ") && $0.contains("to one, Country") && $0.hasSuffix(", inferred")
      })

    // The inferred model opens the store.
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: guess)
    try coordinator.addPersistentStore(
      type: .sqlite, at: url,
      options: [
        NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true,
      ])
  }

  @Test("A store without a model is compared by its version hashes, or not at all")
  func guessedModelsAreNotCompared() throws {
    let document = try FoundModel(path: Self.moody.path)
    let url = try store(of: document.model)
    let stored = try FoundModel(path: url.path)
    let copy = folder.file("Copy.sqlite")
    try StoreFile.copy(from: url, to: copy)
    let connection = try Connection(path: copy.path, access: .writing)
    try connection.execute("DROP TABLE Z_MODELCACHE")
    connection.close()
    let guess = try FoundModel(path: copy.path)
    for (old, new) in [(guess, document), (document, guess), (stored, guess), (guess, guess)] {
      let models = try ComparedModels(from: old, to: new)
      #expect(models.isGuessed && models.comparison.differences.isEmpty)
      let text = try DifferenceText.lines(models.comparison, isGuessed: true)
      #expect(text.count == 1 && text[0].hasPrefix("The version hashes are equal."))
      let json = try DifferenceText.json(models.comparison, isGuessed: true)
      #expect(String(decoding: json, as: UTF8.self).contains("\"guessed\" : true"))
    }
    #expect(try !ComparedModels(from: stored, to: document).isGuessed)
    let other = try FoundModel(
      path: PackagedScenarios.folder.appendingPathComponent("Models/Articles.xcdatamodeld").path)
    for (old, new) in [(guess, other), (other, guess)] {
      let error = #expect(throws: InvalidInputError.self) { try ComparedModels(from: old, to: new) }
      #expect(error?.message.hasSuffix("Copy.sqlite doesn't contain its model") == true)
    }
    let findings = try ModelFindingText.json([], in: guess)
    #expect(String(decoding: findings, as: UTF8.self).contains("\"guessed\" : true"))
  }

  @Test("A store of a configuration without its model is compared with this configuration")
  func guessedConfigurationIsCompared() throws {
    let store = try ConfigurationStore()
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("DROP TABLE Z_MODELCACHE")
    connection.close()
    let guess = try FoundModel(path: store.url.path)
    for hasArea in [false, true] {
      let url = folder.file("City \(hasArea).xcdatamodel")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      try Data(
        ModelDocument.text(of: ConfigurationStore.model(hasArea: hasArea)).text.utf8
      ).write(to: url.appendingPathComponent("contents"))
      let document = try FoundModel(path: url.path)
      if hasArea {
        #expect(throws: InvalidInputError.self) { try ComparedModels(from: guess, to: document) }
      } else {
        #expect(try ComparedModels(from: guess, to: document).isGuessed)
      }
    }
  }

  @Test func modelIsPrintedAsTextJSONAndGraph() throws {
    let found = try FoundModel(path: Self.moody.path)
    let json = try JSONSerialization.jsonObject(with: ModelJSON.data(found)) as? [String: Any]
    let entities = json?["entities"] as? [[String: Any]] ?? []
    #expect(
      Set(entities.compactMap { $0["name"] as? String }) == Set(found.model.entitiesByName.keys))
    let mood = try #require(entities.first { $0["name"] as? String == "Mood" })
    #expect(
      (mood["attributes"] as? [[String: Any]])?.contains { $0["type"] as? String == "Date" } == true
    )
    let graph = ModelGraph.lines(found.model)
    #expect(graph.first == "digraph model {" && graph.last == "}")
    #expect(graph.filter { $0.contains("dir=both") }.count == 2)
    #expect(ModelText.lines(found).contains { $0.contains("to one, Country, delete Nullify") })
  }

  @Test("A quotation mark that a combining mark follows doesn't end a name in a graph")
  func namesInGraphsAreEscaped() {
    let entity = NSEntityDescription()
    entity.name = "A\"\u{301}\n|\\"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let name = "A\\\"\u{301} \\|\\\\"
    #expect(ModelGraph.lines(model).contains("  \"\(name)\" [label=\"{\(name)|}\"];"))
  }
}
