import FailingFiles
import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite(
  "Failures while changes of a child context are saved through its parents",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct ChildSaveFailureTests {
  /// A context with a store, a child of it, and a child of that one.
  private struct Family {
    let root: NSManagedObjectContext
    let middle = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

    init(_ work: StoreWork, _ folder: URL) throws {
      root = try work.open(folder)
      middle.parent = root
      child.parent = middle
    }

    var hasChanges: Bool {
      [child, middle, root].contains { context in context.performAndWait { context.hasChanges } }
    }

    /// Saves each context that still has changes, from the child to the root.
    func save() throws {
      for context in [child, middle, root] {
        try context.performAndWait { try context.save() }
      }
    }

    func close() {
      for context in [child, middle] { context.performAndWait { context.reset() } }
      StoreWork.close(root)
    }
  }

  /// Inserts, updates, and deletes, with external data and both kinds of relationships.
  private static func change(_ context: NSManagedObjectContext) throws {
    func named(_ name: String, _ entity: String = "Person") throws -> NSManagedObject {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.predicate = NSPredicate(format: "name == %@", name)
      return try #require(try context.fetch(request).first)
    }
    let paris = try named("Paris", "City")
    let new = context.make("Person", ["name": "Di", "age": 40, "home": paris])
    new.setValue(Data(repeating: 9, count: 120_000), forKey: "photo")
    new.setValue(NSOrderedSet(array: [paris]), forKey: "visited")
    let ada = try named("Ada")
    ada.setValue(Data(repeating: 8, count: 130_000), forKey: "photo")
    ada.setValue("a note", forKey: "note")
    try named("Cy").setValue(paris, forKey: "home")
    context.delete(try named("Bo"))
  }

  @Test(
    "A failed save of a family writes nothing and loses no change, and the next one writes all",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml])
  func failedSaveKeepsChangesOfTheFamily(type: NSPersistentStore.StoreType) throws {
    let fixture = try FailureFixture()
    let work = StoreWork(testDescription: "child", type: type)
    try work.create(in: fixture.template)
    let before = try work.content(fixture.template)
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) {
      (folder: URL) throws -> Family in
      let family = try Family(work, folder)
      try family.child.performAndWait { try Self.change(family.child) }
      return family
    } _: { (family: Family) in
      try family.save()
    }
    let complete = try sweep.withoutFailure().folder
    let after = try work.content(complete)
    #expect(before != after)
    let names = try FailureFixture.names(in: complete)
    var attempts = 0
    for cause in FailingFiles.Cause.allCases {
      // A document doesn't use SQLite.
      guard type == .sqlite || cause.kinds.isDisjoint(with: [.statement, .allocation]) else {
        continue
      }
      attempts += try sweep.run(cause) { attempt in
        let (name, family) = (attempt.description, attempt.prepared)
        defer { family.close() }
        do {
          if let error = attempt.error {
            FailureFixture.check(error, name)
            #expect(family.hasChanges, "\(name)")
            // Only a document can be there although the save failed, and the error says so.
            let expected = (error as NSError).isOfUnsyncedFile ? after : before
            #expect(try work.content(attempt.folder) == expected, "\(name)")
            try family.save()
          }
          #expect(!family.hasChanges, "\(name)")
          #expect(try work.content(attempt.folder) == after, "\(name)")
          family.close()
          #expect(try FailureFixture.names(in: attempt.folder) == names, "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
    #expect(attempts >= 2)
  }
}
