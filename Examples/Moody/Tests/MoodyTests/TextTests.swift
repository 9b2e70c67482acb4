import CoreDataCosts
import Moody
import OpenCoreData
import Testing

/// Tests of the recipes of chapter 13.
@Suite("Searching and sorting strings")
struct TextTests {
  @Test(
    arguments: [
      ("S13-1 composed", "Saint-\u{C9}tienne", "saint-etienne", "saintetienne"),
      ("S13-1 decomposed", "Saint-E\u{301}tienne", "saint-etienne", "saintetienne"),
      ("S13-1 Danish", "\u{C5}rhus", "arhus", "arhus"),
      ("S13-1 Danish, spelt out", "Aarhus", "aarhus", "aarhus"),
      ("S13-1 Cyrillic", "Москва", "moskva", "moskva"),
      ("S13-1 Chinese", "西安", "xi an", "xian"),
      ("S13-1 apostrophe", "Xi'an", "xi'an", "xian"),
      ("S13-1 typographic apostrophe", "Xi\u{2019}an", "xi'an", "xian"),
      ("S13-1 German", "Straße", "strasse", "strasse"),
      ("S13-1 slashed o", "Ølstykke-Stenløse", "olstykke-stenlose", "olstykkestenlose"),
    ])
  func normalizesSearchStrings(id: String, text: String, search: String, letters: String) {
    #expect(text.searchText == search)
    #expect(text.searchLetters == letters)
  }

  @Test(
    arguments: [
      ("S13-7 German", "de_DE", ["Köln", "Kyllburg"]),
      ("S13-7 Swedish", "sv_SE", ["Sundsvall", "Södertälje"]),
      ("S13-7 Danish", "da_DK", ["Viborg", "Ølstykke-Stenløse", "Aarhus"]),
    ])
  func sortsByTheRulesOfTheLanguage(id: String, language: String, order: [String]) throws {
    let stack = try cities(order.reversed())
    let context = try stack.coldContext()
    try context.performAndWait {
      let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Town"))
      let sorted = SortedObjects(
        all, by: "name", in: context, locale: Locale(identifier: language))
      #expect(sorted.objects.compactMap { $0.value(forKey: "name") as? String } == order)
    }
  }

  @Test("S13-9 inserting and renaming re-sort; other changes and contexts don't")
  func sortedObjectsFollowInsertionsRenamesAndDeletions() throws {
    let stack = try cities(["b", "d", "c"])
    let context = try stack.coldContext()
    let other = try stack.coldContext()
    try context.performAndWait {
      let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Town"))
      let sorted = SortedObjects(all, by: "name", in: context, locale: Locale(identifier: "en_US"))
      let names = { sorted.objects.compactMap { $0.value(forKey: "name") as? String } }
      let watch = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: nil, queue: nil
      ) { [sorted = UncheckedReference(sorted)] note in sorted.value.follow(note) }
      defer { NotificationCenter.default.removeObserver(watch) }
      let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Town"])
      let new = NSManagedObject(entity: entity, insertInto: nil)
      new.setValue("cc", forKey: "name")
      context.insert(new)
      context.processPendingChanges()
      #expect(names() == ["b", "c", "cc", "d"] && sorted.sorts == 1)
      sorted.objects[0].setValue("x", forKey: "name")
      context.processPendingChanges()
      #expect(names() == ["c", "cc", "d", "x"] && sorted.sorts == 2)
      let before = sorted.comparisons
      let home = NSManagedObject(
        entity: try #require(stack.coordinator.managedObjectModel.entitiesByName["Order"]),
        insertInto: context)
      context.processPendingChanges()
      sorted.objects[2].setValue(home, forKey: "order")
      sorted.follow(Notification(name: .NSManagedObjectContextObjectsDidChange, object: other))
      #expect(sorted.comparisons == before && sorted.sorts == 2)
      context.refresh(sorted.objects[1], mergeChanges: true)
      context.processPendingChanges()
      context.delete(sorted.objects[0])
      context.processPendingChanges()
      #expect(names() == ["cc", "d", "x"])
    }
  }

  @Test("An unsaved object that was already fetched isn't inserted a second time")
  func fetchedObjectIsNotInsertedAgain() throws {
    let stack = try cities(["b"])
    let context = try stack.coldContext()
    try context.performAndWait {
      let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Town"])
      NSManagedObject(entity: entity, insertInto: context).setValue("a", forKey: "name")
      let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Town"))
      let sorted = SortedObjects(all, by: "name", in: context, locale: Locale(identifier: "en_US"))
      let watch = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: nil, queue: nil
      ) { [sorted = UncheckedReference(sorted)] note in sorted.value.follow(note) }
      defer { NotificationCenter.default.removeObserver(watch) }
      context.processPendingChanges()
      #expect(sorted.objects.count == 2)
    }
  }

  @Test("S13-8 sorting 4,000 names fires each fault once and runs no statements")
  func sortingInMemoryRunsNoStatements() throws {
    let stack = try cities((0..<4_000).map { "Town \($0 * 7_919 % 4_000)" })
    let context = try stack.coldContext()
    try context.performAndWait {
      let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Town"))
      var sorted: SortedObjects<NSManagedObject>?
      let cost = costs(of: context) {
        sorted = SortedObjects(
          all, by: "name", in: context, locale: Locale(identifier: "en_US"))
      }
      #expect(cost.hits == 4_000 && cost.faults == 4_000 && cost.statements == 0)
      // At most about 20 comparisons per name.
      let comparisons = try #require(sorted).comparisons
      #expect((3_999...100_000).contains(comparisons) && sorted?.sorts == 1)
    }
  }

  @Test("S13-10 inserting among 4,000 objects takes at most 13 comparisons")
  func insertionUsesABinarySearch() throws {
    let stack = try cities([])
    let context = try stack.coldContext()
    try context.performAndWait {
      let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Town"])
      let all = (0..<4_000).map { number in
        let object = NSManagedObject(entity: entity, insertInto: nil)
        object.setValue("Town \(number * 2)", forKey: "name")
        return object
      }
      let sorted = SortedObjects(all, by: "name", in: context, locale: Locale(identifier: "en_US"))
      let before = sorted.comparisons
      let new = NSManagedObject(entity: entity, insertInto: nil)
      new.setValue("Town 4001", forKey: "name")
      sorted.follow(
        Notification(
          name: .NSManagedObjectContextObjectsDidChange, object: context,
          userInfo: [NSInsertedObjectsKey: Set([new])]))
      #expect((11...13).contains(sorted.comparisons - before))
      #expect(sorted.objects[2_001] === new && sorted.sorts == 1)
    }
  }

  private func cities(_ names: [String]) throws -> MoodyStack {
    let stack = try MoodyStack(.sqlite, model: NamedModel.make())
    let context = stack.context()
    try context.performAndWait {
      let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Town"])
      for name in names {
        NSManagedObject(entity: entity, insertInto: context).setValue(name, forKey: "name")
      }
      if context.hasChanges { try context.save() }
    }
    return stack
  }
}

/// Passes a reference that only one queue uses to a sendable closure.
private struct UncheckedReference<Value: AnyObject>: @unchecked Sendable {  // one queue uses it
  let value: Value

  init(_ value: Value) { self.value = value }
}
