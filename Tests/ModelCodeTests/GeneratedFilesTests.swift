import Foundation
import ManagedModel
import Testing

@testable import ModelCode

@Suite("Generated classes")
struct GeneratedFilesTests {
  private static let tests = URL(fileURLWithPath: #filePath)
    .resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
  private static let orchestra = tests.appendingPathComponent(
    "ModelCodeTests/Models/Orchestra.xcdatamodel")
  /// Compiled and used by OpenCoreDataTests.
  private static let golden = tests.appendingPathComponent("OpenCoreDataTests/Generated")

  private func files(_ url: URL, _ style: ClassStyle = .class) throws -> [GeneratedFile] {
    try ClassGenerator(
      NSManagedObjectModel.read(contentsOf: url), file: url.lastPathComponent
    ).files(style)
  }

  /// `CDPROF_UPDATE_DOCS=1` regenerates the files.
  @Test func orchestraClassesMatchTheRepository() throws {
    let files = try files(Self.orchestra)
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] != nil {
      _ = try GeneratedFolder(Self.golden).write(files)
    }
    for file in files {
      let url = Self.golden.appendingPathComponent(file.name)
      #expect(try String(contentsOf: url, encoding: .utf8) == file.text, "\(file.name)")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.golden.path)
    #expect(Set(names) == Set(files.map(\.name)))
    #expect(try self.files(Self.orchestra) == files)
  }

  /// The benchmark doesn't generate them with each build, which would compile the tool first.
  ///
  /// `CDPROF_UPDATE_DOCS=1` regenerates the file.
  @Test func classesOfTheBenchmarkMatchTheirModel() throws {
    let folder = Self.tests.deletingLastPathComponent()
      .appendingPathComponent("Benchmarks/Sources/Bench/Data")
    let model = folder.appendingPathComponent("Moods.xcdatamodel")
    let file = try ClassGenerator(
      NSManagedObjectModel.read(contentsOf: model), file: model.lastPathComponent
    ).singleFile(named: "Moods+CoreDataModel.swift")
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] != nil {
      _ = try GeneratedFolder(folder).write([file])
    }
    let text = try String(contentsOf: folder.appendingPathComponent(file.name), encoding: .utf8)
    #expect(text == file.text)
  }

  @Test("Classes are identifiable, as in Xcode; subclasses inherit the conformance")
  func classesAreIdentifiable() throws {
    for style in ClassStyle.allCases {
      let lines = try files(Self.orchestra, style)
        .flatMap { $0.text.components(separatedBy: "\n") }
        .filter { $0.contains("Identifiable") }
      #expect(
        lines.sorted() == ["Concert", "Person", "Piece"].map { "extension \($0): Identifiable {}" })
    }
  }

  @Test func extensionStyleOmitsClassFiles() throws {
    let all = try files(Self.orchestra)
    let properties = try files(Self.orchestra, .extension)
    #expect(properties == all.filter { !$0.name.hasSuffix("+CoreDataClass.swift") })
    #expect(all.count - properties.count == 4)
  }

  @Test(.enabled(if: SharedData.isUsed, SharedData.reason))
  func realModelsProduceWellFormattedFiles() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ModelCodeTests-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let models = SharedData.paths(endingIn: ".xcdatamodel").map { SharedData.url($0) }
    #expect(models.count > 50)
    for (index, url) in (models + [Self.orchestra]).enumerated() {
      _ = try GeneratedFolder(folder.appendingPathComponent("\(index)")).write(files(url))
    }
    let root = Self.tests.deletingLastPathComponent()
    let lint = Process()
    let messages = Pipe()
    lint.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    lint.arguments = [
      "swift", "format", "lint", "--strict", "--recursive", "--parallel", "--configuration",
      root.appendingPathComponent(".swift-format").path, folder.path,
    ]
    lint.standardError = messages
    try lint.run()
    let found = String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    lint.waitUntilExit()
    #expect(lint.terminationStatus == 0, "\(found.prefix(2_000))")
  }

  @Test func singleFileFollowsTheCodegenSetting() throws {
    let model = try NSManagedObjectModel.read(contentsOf: Self.orchestra)
    model.entitiesByName["Piece"]?.codeGenerationType = "category"
    model.entitiesByName["Concert"]?.codeGenerationType = nil
    let text = try ClassGenerator(model, file: "Orchestra.xcdatamodel")
      .singleFile(named: "Orchestra+CoreDataModel.swift").text
    #expect(text.contains("public class Musician: Person {}"))
    #expect(text.contains("extension Piece {") && !text.contains("class Piece"))
    #expect(!text.contains("extension Concert") && !text.contains("Concert.registerClass"))
    #expect(text.components(separatedBy: "import OpenCoreData").count == 2)
  }

  /// A model with entities of the names of their classes, and with attributes by entity.
  private func model(_ attributes: [(entity: String, names: [String])]) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = attributes.map { entry in
      let entity = NSEntityDescription()
      entity.name = entry.entity
      entity.managedObjectClassName = SwiftNames.identifier(entry.entity)
      entity.codeGenerationType = "class"
      entity.properties = entry.names.map { name in
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
        return attribute
      }
      return entity
    }
    return model
  }

  /// What follows a line break in a comment would be code.
  @Test func lineBreaksInNamesAreEscaped() throws {
    let model = model([("A\nfunc evil() {}\n//", ["x\r\nvar evil = 1\u{2028}//"])])
    let generator = try ClassGenerator(model, file: "A\nB.xcdatamodel")
    let texts = generator.files(.class).map(\.text) + [generator.singleFile(named: "A.swift").text]
    for line in texts.flatMap({ $0.split(whereSeparator: \.isNewline) }) {
      #expect(!line.hasPrefix("func") && !line.hasPrefix("var") && !line.hasPrefix("B."), "\(line)")
    }
    #expect(texts[0].contains("the entity `A\\nfunc evil() {}\\n//`."))
  }

  @Test func slotsOfHandwrittenSuperclassesAreNotUsed() throws {
    let model = model([("P", ["a"]), ("Q", ["b"]), ("C", ["c"])])
    let entities = model.entitiesByName
    entities["P"]?.subentities = [try #require(entities["Q"])]
    entities["Q"]?.subentities = [try #require(entities["C"])]
    entities["Q"]?.codeGenerationType = nil
    let generator = try ClassGenerator(model, file: "M.xcdatamodel")
    let text = generator.singleFile(named: "M.swift").text
    #expect(text.contains("slots: P.Slots.declarations, C.Slots.declarations)"))
    #expect(text.contains("public class C: Q {}") && !text.contains("Q.Slots"))
  }

  @Test func propertiesDoNotHideGeneratedMembers() throws {
    let model = model([("A", ["lazyThings", "Slots"])])
    let things = NSRelationshipDescription()
    things.name = "things"
    let entity = try #require(model.entities.first)
    things.destinationEntity = entity
    entity.properties.append(things)
    let text = try ClassGenerator(model, file: "M.xcdatamodel").singleFile(named: "M.swift").text
    #expect(text.contains("public var lazyThings: RelatedObjects<A>"))
    #expect(text.contains("public var lazyThingsProperty: String?"))
    #expect(text.contains("public var SlotsProperty: String?"))
  }

  @Test("A relationship is renamed if an inherited property has the name of its counterpart")
  func relationshipsDoNotHideInheritedProperties() throws {
    let model = model([("P", ["lazyThings"]), ("C", [])])
    let child = try #require(model.entitiesByName["C"])
    model.entitiesByName["P"]?.subentities = [child]
    child.properties += ["things", "Things"].map { name -> NSPropertyDescription in
      let relationship = NSRelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = child
      return relationship
    }
    let text = try ClassGenerator(model, file: "M.xcdatamodel").singleFile(named: "M.swift").text
    for name in ["lazyThings: String?", "thingsProperty: Set<C>", "ThingsProperty2: Set<C>"] {
      #expect(text.contains("public var \(name)"), "\(name)")
    }
    let lazy = text.ranges(of: /var lazy[A-Za-z0-9]*: RelatedObjects/).map { String(text[$0]) }
    #expect(Set(lazy).count == 2 && !lazy.contains("var lazyThings: RelatedObjects"), "\(lazy)")
  }

  @Test("A property isn't named like a renamed property of a superclass")
  func propertiesDoNotHideRenamedInheritedOnes() throws {
    let model = model([("P", ["hash", "classForCoder"]), ("C", ["hashProperty"])])
    let child = try #require(model.entitiesByName["C"])
    model.entitiesByName["P"]?.subentities = [child]
    let text = try ClassGenerator(model, file: "M.xcdatamodel").singleFile(named: "M.swift").text
    for name in ["hashProperty", "classForCoderProperty", "hashPropertyProperty"] {
      let declarations = text.components(separatedBy: "public var \(name): String?").count - 1
      #expect(declarations == 1, "\(name)")
    }
    #expect(text.contains("because another member of the class has the property's name."))
  }

  @Test(arguments: [
    (["A": "Thing", "B": "Thing"], "B: The class Thing already belongs to the entity A."),
    (
      ["A": "My Thing"],
      "A: A class can't be named My Thing, because that isn't an identifier in Swift."
    ),
    (
      ["A": "Data"],
      "A: A class can't be named Data, because that's the name of a type that properties use."
    ),
    ([:], "The model has no entities."),
  ])
  func rejectsModelsWithoutUsableClasses(classes: [String: String], message: String) throws {
    let model = NSManagedObjectModel()
    model.entities = classes.map { name, className in
      let entity = NSEntityDescription()
      entity.name = name
      entity.managedObjectClassName = className
      return entity
    }
    let failure = try #require(throws: ModelErrors.self) {
      try ClassGenerator(model, file: "Shop.xcdatamodel")
    }
    #expect(failure.description.hasPrefix("Shop.xcdatamodel: error: \(message)"))
  }

  @Test func entitiesWithoutClassesReceiveGeneratedNames() throws {
    let entity = NSEntityDescription()
    entity.name = "Date"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let generator = try ClassGenerator(model, file: "519 to many.xcdatamodel")
    let files = generator.files(.class)
    #expect(files.map(\.name).contains("DateObject+CoreDataClass.swift"))
    let registration = try #require(files.last)
    #expect(registration.name == "Model519_to_many.swift")
    #expect(registration.text.contains("setClasses(of model: NSManagedObjectModel)"))
    #expect(generator.notes.count == 1)
  }

  /// Subclasses declare the properties of an entity without a class.
  @Test("Each fetched property that's left out is noted once")
  func fetchedPropertiesAreNoted() throws {
    let model = model([("Base", []), ("A", []), ("B", [])])
    let entities = model.entitiesByName
    let base = try #require(entities["Base"])
    base.managedObjectClassName = "NSManagedObject"
    base.subentities = ["A", "B"].compactMap { entities[$0] }
    let fetched = NSFetchedPropertyDescription()
    fetched.name = "recent"
    base.properties.append(fetched)
    let generator = try ClassGenerator(model, file: "M.xcdatamodel")
    #expect(generator.notes == ["Fetched properties are left out: Base.recent."])
  }

  @Test("Properties of an entity that shares the class of its parent are noted")
  func propertiesOfSharedClassesAreNoted() throws {
    let model = model([("Animal", ["name"]), ("Cat", []), ("Dog", ["breed"])])
    let entities = model.entitiesByName
    entities["Animal"]?.subentities = ["Cat", "Dog"].compactMap { entities[$0] }
    for entity in model.entities { entity.managedObjectClassName = "Animal" }
    let generator = try ClassGenerator(model, file: "M.xcdatamodel")
    #expect(!generator.singleFile(named: "M.swift").text.contains("breed"))
    #expect(
      generator.notes == [
        "Properties of entities that share the class of a parent are left out: Dog.breed; "
          + "give each of these entities its own class."
      ])
  }

  @Test func handWrittenFilesAreNotOverwritten() throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("ModelCodeTests-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let folder = GeneratedFolder(url)
    let files = try files(Self.orchestra)
    #expect(try folder.write(files).allSatisfy { $0.outcome == .written })
    #expect(try folder.write(files).allSatisfy { $0.outcome == .unchanged })
    let mine = url.appendingPathComponent(files[3].name)
    try Data("// Mine.\n".utf8).write(to: mine)
    try FileManager.default.removeItem(at: url.appendingPathComponent(files[0].name))
    let refusal = #expect(throws: GeneratedFolder.Occupied.self) { _ = try folder.write(files) }
    #expect(refusal?.paths.count == 1 && refusal?.paths[0].hasSuffix(files[3].name) == true)
    #expect(try String(contentsOf: mine, encoding: .utf8) == "// Mine.\n")
    let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    #expect(Set(names) == Set(files.dropFirst().map { $0.name }))
    #expect(
      !FileManager.default.fileExists(atPath: url.appendingPathComponent(files[0].name).path))
    // A power loss can leave an empty file.
    try Data().write(to: mine)
    let outcomes = try folder.write(files).map { $0.outcome }
    #expect(outcomes.indices.filter { outcomes[$0] == .written } == [0, 3])
    #expect(try String(contentsOf: mine, encoding: .utf8) == files[3].text)
  }
}
