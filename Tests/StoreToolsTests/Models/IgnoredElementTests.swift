import Foundation
import ModelCode
import OpenCoreData
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("Models with ignored elements")
struct IgnoredElementTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func document(_ text: String, named name: String = "A") throws -> FoundModel {
    let model = folder.file("\(name).xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: model.appendingPathComponent("contents"))
    return try FoundModel(path: model.path)
  }

  private func subjects(_ problems: [ModelError]) -> [String] {
    problems.map { [$0.entity, $0.property].compactMap(\.self).joined(separator: ".") }
  }

  @Test(arguments: IgnoredElement.all)
  func warningsAndStatementsSurviveCopying(_ element: IgnoredElement) throws {
    let found = try document("<model>\(element.contents)</model>")
    #expect(subjects(found.problems) == element.subjects)
    for problem in found.problems {
      #expect(problem.isWarning && problem.nextStep != nil && problem.file != nil)
      #expect(problem.line != nil && problem.column != nil)
    }
    let rules = try ModelRules.findings(in: found)
      .filter { ["ignored-element", "dangling-destination"].contains($0.rule) }
    #expect(Set(rules.map(\.error)) == Set(found.problems))
    #expect(ModelText.lines(found).isEmpty == false)
    #expect(try ModelJSON.data(found).isEmpty == false)
    #expect(ModelGraph.lines(found.model).isEmpty == false)
    _ = try ClassGenerator(found.model, file: "A").files(.class)

    let written = try document(ModelDocument.text(of: found.model).text, named: "Written")
    let compiled = folder.file("A.mom")
    try Data(ModelArchive.bytes(of: found.model)).write(to: compiled)
    let copies = [written, try FoundModel(path: compiled.path)]
    for copy in copies {
      #expect(copy.problems.allSatisfy { $0.isWarning })
      if element.isPreserved {
        #expect(
          Set(subjects(copy.problems)) == Set(element.subjects), "\(copy.url.lastPathComponent)")
      }
      let (statements, expected) = (
        try copy.model.creationStatements(), try found.model.creationStatements()
      )
      #expect(statements == expected, "\(copy.url.lastPathComponent)")
    }
  }

  @Test(arguments: IgnoredElement.all, [NSPersistentStore.StoreType.sqlite, .inMemory])
  func storesCanBeUsed(_ element: IgnoredElement, type: NSPersistentStore.StoreType) throws {
    let model = try document("<model>\(element.contents)</model>").model
    let url = folder.file("A.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: type, at: url)
    let saved = try use(coordinator, model)
    let isUsable = element.testDescription != "a minimum count above the maximum count"
    #expect(saved == (isUsable ? model.entities.filter { !$0.isAbstract }.count : 0))
    guard type == .sqlite else { return }
    let own = try StoreModel.ofStore(at: url)
    #expect(!own.isInferred && own.problem == nil)
    #expect(try StoreDoctor.examine(url).findings.map { "\($0)" } == [])
    let reopened = NSPersistentStoreCoordinator(managedObjectModel: own.model)
    try reopened.addPersistentStore(type: .sqlite, at: url)
    #expect(try use(reopened, own.model) == saved)
    #expect(try StoreDoctor.examine(url).findings.map { "\($0)" } == [])
  }

  /// Creates, relates, saves, fetches, and deletes objects of every entity.
  ///
  /// - Returns: The number of successful saves; objects with unsatisfiable limits can't be saved.
  private func use(
    _ coordinator: NSPersistentStoreCoordinator, _ model: NSManagedObjectModel
  ) throws -> Int {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      var saved = 0
      for entity in model.entities where !entity.isAbstract {
        let name = entity.name ?? ""
        let objects = (0..<2).map { _ in
          NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        }
        for relationship in entity.relationshipsByName.values {
          guard let destination = relationship.destinationEntity, !destination.isAbstract else {
            continue
          }
          let other = NSEntityDescription.insertNewObject(
            forEntityName: destination.name ?? "", into: context)
          let value: Any =
            if !relationship.isToMany { other } else if relationship.isOrdered {
              NSOrderedSet(object: other)
            } else { Set([other]) }
          objects[0].setValue(value, forKey: relationship.name)
        }
        read(objects, entity)
        do {
          try context.save()
          saved += 1
        } catch let error as NSError {
          // Only validation errors are allowed, because no value satisfies impossible limits.
          #expect((1550..<1700).contains(error.code), "\(name): \(error)")
          context.rollback()
        }
        context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.relationshipKeyPathsForPrefetching = Array(entity.relationshipsByName.keys)
        let fetched = try context.fetch(request)
        read(fetched, entity)
        for object in fetched { context.delete(object) }
        try context.save()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name)) == 0)
      }
      for entity in model.entities where entity.superentity == nil {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        for object in try context.fetch(request) { context.delete(object) }
      }
      try context.save()
      #expect(context.faultError == nil)
      return saved
    }
  }

  private func read(_ objects: [NSManagedObject], _ entity: NSEntityDescription) {
    for object in objects {
      for property in entity.properties where !(property is NSFetchedPropertyDescription) {
        let value = object.value(forKey: property.name)
        guard let relationship = property as? NSRelationshipDescription,
          relationship.destinationEntity == nil
        else { continue }
        #expect(relationship.isToMany || value == nil)
      }
      _ = object.dictionaryWithValues(forKeys: Array(entity.attributesByName.keys))
    }
  }

  /// A store has no second column for a to-many relationship whose inverse belongs to another one.
  @Test func toManyWithForeignInverseIsReadByColumn() throws {
    let element = try #require(IgnoredElement.all.first { $0.subjects == ["A.cs"] })
    let invalid = try document("<model>\(element.contents)</model>").model
    let valid = try document("<model>\(element.contents)</model>", named: "Valid").model
    for entity in valid.entities { entity.properties.removeAll { $0.name == "cs" } }
    let url = folder.file("A.sqlite")
    try open(url, valid) { context in
      let a = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      let b = NSEntityDescription.insertNewObject(forEntityName: "B", into: context)
      a.setValue(Set([b]), forKey: "bs")
      try context.save()
    }
    try open(url, invalid) { context in
      let a = try #require(
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).first)
      #expect((a.value(forKey: "bs") as? Set<NSManagedObject>)?.count == 1)
      #expect((a.value(forKey: "cs") as? NSOrderedSet)?.count == 1)
      #expect(context.faultError == nil)
    }
  }

  private func open(
    _ url: URL, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSIgnorePersistentStoreVersioningOption: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context) }
    try coordinator.remove(store)
  }

  @Test func manyWarningsAreSummarized() throws {
    let element = try #require(IgnoredElement.all.first { $0.subjects.count == 4 })
    let model = try document("<model>\(element.contents)</model>").model
    let lines = ModelWarningText.lines(model.problems, path: "A.xcdatamodel")
    #expect(lines.count == 4 && lines.allSatisfy { $0.contains("warning: ") })
    #expect(lines.last == "warning: 1 more; `cdprof model A.xcdatamodel --check` lists them")
  }
}
