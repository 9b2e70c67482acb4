import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("Model rules")
struct ModelRulesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The contents of a document, and the expected rules and subjects.
  @Test(arguments: [
    (
      #"<entity name="A"><relationship name="b" maxCount="1" optional="YES" "#
        + #"destinationEntity="B"/></entity><entity name="B"/>"#, ["missing-inverse A.b"]
    ),
    (
      #"<entity name="A"><relationship name="b" maxCount="1" optional="YES" "#
        + #"destinationEntity="Missing"/></entity>"#, ["dangling-destination A.b"]
    ),
    (
      #"<entity name="A"><relationship name="b" maxCount="1" optional="YES" "#
        + #"destinationEntity="B" inverseName="a"/></entity><entity name="B">"#
        + #"<relationship name="a" maxCount="1" optional="YES" deletionRule="No Action" "#
        + #"destinationEntity="A" inverseName="b"/></entity>"#, ["dangling-destination A.b"]
    ),
    // The key is in the row of the object that stays.
    (
      #"<entity name="A"><relationship name="bs" toMany="YES" optional="YES" "#
        + #"deletionRule="No Action" destinationEntity="B" inverseName="a"/></entity>"#
        + #"<entity name="B"><relationship name="a" maxCount="1" optional="YES" "#
        + #"destinationEntity="A" inverseName="bs"/></entity>"#, ["dangling-destination B.a"]
    ),
    // It's in the deleted row, or in join rows.
    (
      #"<entity name="A"><relationship name="bs" toMany="YES" optional="YES" "#
        + #"destinationEntity="B" inverseName="a"/></entity><entity name="B">"#
        + #"<relationship name="a" maxCount="1" optional="YES" deletionRule="No Action" "#
        + #"destinationEntity="A" inverseName="bs"/></entity>"#, []
    ),
    (
      #"<entity name="A"><relationship name="bs" toMany="YES" optional="YES" "#
        + #"deletionRule="No Action" destinationEntity="B" inverseName="as"/></entity>"#
        + #"<entity name="B"><relationship name="as" toMany="YES" optional="YES" "#
        + #"deletionRule="No Action" destinationEntity="A" inverseName="bs"/></entity>"#, []
    ),
    (
      #"<entity name="A"><attribute name="x" attributeType="Integr 16"/>"#
        + #"<attribute name="photo" attributeType="Binary"/></entity>"#,
      ["ignored-element A.x", "large-inline-binary A.photo"]
    ),
    (
      #"<entity name="A"/><entity name="A"><attribute name="y" attributeType="Integr 16"/></entity>"#,
      ["invalid-model A"]
    ),
    (
      #"<entity name="A"><attribute name="x" attributeType="Date"/>"#
        + #"<attribute name="y" attributeType="Date"/>"#
        + #"<fetchIndex name="byX"><fetchIndexElement property="x" order="descending"/>"#
        + #"</fetchIndex><fetchIndex name="byXY"><fetchIndexElement property="x"/>"#
        + #"<fetchIndexElement property="y"/></fetchIndex><fetchIndex name="someX" "#
        + #"partialIndexPredicate="y != nil"><fetchIndexElement property="x"/></fetchIndex>"#
        + #"<fetchIndex name="byY"><fetchIndexElement property="y"/></fetchIndex></entity>"#,
      ["prefix-index A", "prefix-index A"]
    ),
    // A property without a column is in no index, and an element of a composite attribute has one.
    (
      #"<entity name="A"><attribute name="t" optional="YES" transient="YES" "#
        + #"attributeType="String"/><fetchIndex name="byT"><fetchIndexElement property="t"/>"#
        + "</fetchIndex><uniquenessConstraints><uniquenessConstraint>"
        + #"<constraint value="t"/></uniquenessConstraint></uniquenessConstraints></entity>"#,
      ["index-without-column A", "index-without-column A"]
    ),
    (
      #"<entity name="A"><attribute name="at" optional="YES" attributeType="Composite">"#
        + #"<attribute name="x" optional="YES" attributeType="Double"/></attribute>"#
        + "<uniquenessConstraints><uniquenessConstraint>"
        + #"<constraint value="at.x"/></uniquenessConstraint></uniquenessConstraints></entity>"#, []
    ),
    // Attributes of two subentities with the same name have a column each; inherited ones share it.
    (
      #"<entity name="P"/><entity name="A" parentEntity="P"><attribute name="x" "#
        + #"attributeType="Date"/><fetchIndex name="byX"><fetchIndexElement property="x"/>"#
        + #"</fetchIndex></entity><entity name="B" parentEntity="P"><attribute name="x" "#
        + #"attributeType="Date"/><attribute name="y" attributeType="Date"/><fetchIndex "#
        + #"name="byXY"><fetchIndexElement property="x"/><fetchIndexElement property="y"/>"#
        + "</fetchIndex></entity>", []
    ),
    (
      #"<entity name="P"><attribute name="x" attributeType="Date"/></entity><entity name="A" "#
        + #"parentEntity="P"><fetchIndex name="byX"><fetchIndexElement property="x"/>"#
        + #"</fetchIndex></entity><entity name="B" parentEntity="P"><attribute name="y" "#
        + #"attributeType="Date"/><fetchIndex name="byXY"><fetchIndexElement property="x"/>"#
        + #"<fetchIndexElement property="y"/></fetchIndex></entity>"#, ["prefix-index A"]
    ),
    (
      #"<entity name="A"><attribute name="x" attributeType="Date" indexed="YES"/>"#
        + "<uniquenessConstraints><uniquenessConstraint>"
        + #"<constraint value="x"/></uniquenessConstraint></uniquenessConstraints></entity>"#,
      ["prefix-index A"]
    ),
    (
      #"<entity name="A"><attribute name="x" attributeType="Integer 16" minValueString="5" "#
        + #"maxValueString="1"/><attribute name="y" attributeType="String" "#
        + #"regularExpressionString="[a-z"/><fetchedProperty name="f"><fetchRequest name="q" "#
        + #"entity="A" predicateString="nope == 1"/></fetchedProperty></entity>"#
        + #"<fetchRequest name="r" entity="A" predicateString="x == "/>"#
        + #"<fetchRequest name="s" entity="A" predicateString="x == $N AND y == nil"/>"#,
      [
        "invalid-expression A.x", "invalid-expression A.y", "invalid-expression A.f",
        "invalid-expression ",
      ]
    ),
    (
      #"<entity name="A"><attribute name="x" attributeType="Date"/><fetchIndex name="byX">"#
        + #"<fetchIndexElement property="x"/></fetchIndex><compoundIndexes><compoundIndex/>"#
        + "</compoundIndexes></entity>", []
    ),
  ])
  func eachRuleFindsItsProblem(contents: String, expected: [String]) throws {
    let findings = try ModelRules.findings(in: document(contents))
    #expect(findings.map { "\($0.rule) \(subject($0))" } == expected)
    #expect(findings.allSatisfy { $0.error.nextStep != nil })
    // The names of entities have no article, which would depend on the name.
    #expect(!findings.contains { $0.error.message.contains(/\ba [AB]\b/) })
    #expect(findings.allSatisfy { $0.error.line == 1 && $0.error.column != nil })
  }

  @Test("Each finding about a document has the position of its element")
  func findingsHavePositions() throws {
    let found = try document(
      """

      <entity name="A">
        <attribute name="x" attributeType="String" regularExpressionString="["/>
      </entity>
       <fetchRequest name="q" entity="A" predicateString="y == 1"/>
      """)
    let errors = try ModelRules.findings(in: found).map(\.error)
    #expect(errors.map(\.line) == [3, 5])
    #expect(errors.map(\.column) == [3, 2])
    #expect(errors.allSatisfy { $0.isWarning && $0.nextStep != nil })
    #expect(errors.allSatisfy { $0.file?.hasSuffix("A.xcdatamodel/contents") == true })
  }

  private func subject(_ finding: ModelFinding) -> String {
    [finding.error.entity, finding.error.property].compactMap(\.self).joined(separator: ".")
  }

  private func document(_ contents: String) throws -> FoundModel {
    let model = folder.file("A.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data("<model>\(contents)</model>".utf8).write(to: model.appendingPathComponent("contents"))
    return try FoundModel(path: model.path, keepsGoing: true)
  }

  /// A parent entity with five subentities of eight attributes, `shared` of them in the parent.
  @Test(arguments: [(0, true), (7, false)])
  func wideHierarchiesAreFound(shared: Int, isFound: Bool) throws {
    func attributes(_ stem: String, _ count: Int) -> String {
      (0..<count).map { #"<attribute name="\#(stem)\#($0)" attributeType="Date" optional="YES"/>"# }
        .joined()
    }
    let children = (0..<5).map { child in
      #"<entity name="C\#(child)" parentEntity="P">\#(attributes("c\(child)x", 8 - shared))</entity>"#
    }
    let found = try document(
      #"<entity name="P" isAbstract="YES">\#(attributes("p", 12))\#(attributes("s", shared))</entity>"#
        + children.joined())
    let rules = try ModelRules.findings(in: found).map(\.rule)
    #expect(rules == (isFound ? ["wide-hierarchy"] : []))
  }

  /// Large values and one-way join tables can be found only in a store.
  @Test func binarySizesAreMeasuredInStores() throws {
    let model = try document(
      #"<entity name="A"><attribute name="photo" optional="YES" attributeType="Binary"/>"#
        + #"<relationship name="bs" toMany="YES" optional="YES" destinationEntity="B" "#
        + #"inverseName="as"/></entity><entity name="B"><relationship name="as" toMany="YES" "#
        + #"optional="YES" destinationEntity="A" inverseName="bs"/></entity>"#
    ).model
    let url = folder.file("A.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
        .setValue(Data(repeating: 1, count: 90_000), forKey: "photo")
      try context.save()
    }
    #expect(try ModelRules.findings(in: FoundModel(path: url.path)).isEmpty)
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
        .setValue(Data(repeating: 1, count: 150_000), forKey: "photo")
      try context.save()
    }
    let connection = try Connection(path: url.path, access: .writing)
    try connection.execute("DROP INDEX Z_1BS_Z_2BS_INDEX")
    connection.close()
    let found = try FoundModel(path: url.path)
    let before = try FolderState(folder.url)
    let findings = try ModelRules.findings(in: found)
    #expect(try FolderState(folder.url) == before)
    #expect(findings.map(\.rule) == ["one-way-join-table", "large-inline-binary"])
    #expect(findings[0].error.message.contains("Z_1BS has no index that begins with Z_2BS"))
    #expect(findings[1].error.message.contains("the largest of 150,000 bytes"))
  }

  /// The other entities of the model have no tables in the store.
  @Test func binarySizesOfAConfigurationAreMeasured() throws {
    let model = try document(
      ["A", "B"].map {
        #"<entity name="\#($0)"><attribute name="photo" optional="YES" attributeType="Binary"/></entity>"#
      }.joined()
    ).model
    model.setEntities(
      [try #require(model.entitiesByName["B"])], forConfigurationName: "Local")
    let url = folder.file("B.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, configuration: "Local", at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "B", into: context)
        .setValue(Data(repeating: 1, count: 150_000), forKey: "photo")
      try context.save()
    }
    try coordinator.remove(store)
    let findings = try ModelRules.findings(in: FoundModel(path: url.path))
    #expect(findings.map { "\($0.rule) \(subject($0))" } == ["large-inline-binary B.photo"])
  }

  /// Attributes of two subentities with the same name have a column each.
  @Test func binarySizesOfSiblingsAreMeasuredSeparately() throws {
    let model = try document(
      #"<entity name="P"/>"#
        + ["A", "B"].map {
          #"<entity name="\#($0)" parentEntity="P"><attribute name="photo" optional="YES" "#
            + #"attributeType="Binary"/></entity>"#
        }.joined()
    ).model
    let url = folder.file("P.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (entity, size) in [("A", 10), ("B", 150_000)] {
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
          .setValue(Data(repeating: 1, count: size), forKey: "photo")
      }
      try context.save()
    }
    try coordinator.remove(store)
    let findings = try ModelRules.findings(in: FoundModel(path: url.path))
    #expect(findings.map { "\($0.rule) \(subject($0))" } == ["large-inline-binary B.photo"])
  }
}
