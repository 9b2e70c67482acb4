import CoreDataCosts
import Moody
import OpenCoreData
import Testing

/// A town that stores a normalized form of its name in another attribute.
private final class Town: NSManagedObject {
  @Managed("normalized") var normalized: String?

  var name: String? {
    get {
      willAccessValue(forKey: "name")
      defer { didAccessValue(forKey: "name") }
      return primitiveValue(forKey: "name") as? String
    }
    set {
      willChangeValue(forKey: "name")
      setPrimitiveValue(newValue, forKey: "name")
      didChangeValue(forKey: "name")
      normalized = newValue?.searchText
    }
  }
}

/// The recipes of chapter 13 that store data derived from strings.
@Suite("Stored normalized names and sort orders", .serialized)
struct KeptTextTests {
  private func model() -> NSManagedObjectModel {
    Town.registerClass()
    let model = NamedModel.make()
    model.entitiesByName["Town"]?.managedObjectClassName = "Town"
    return model
  }

  @Test(
    "S13-2 setting a name also sets its normalized form in the same event",
    arguments: StoreKind.allCases)
  func settingANameSetsItsNormalizedForm(kind: StoreKind) throws {
    let stack = try MoodyStack(kind, model: model())
    let context = stack.context()
    try context.performAndWait {
      let made = NSEntityDescription.insertNewObject(forEntityName: "Town", into: context)
      let town = try #require(made as? Town)
      town.name = "Köln"
      try context.save()
      context.refresh(town, mergeChanges: false)
      nonisolated(unsafe) var events: [Set<String>] = []
      nonisolated(unsafe) let watched = town
      let watch = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { _ in events.append(Set(watched.changedValuesForCurrentEvent().keys)) }
      defer { NotificationCenter.default.removeObserver(watch) }
      let cost = costs(of: context) {
        town.name = "Århus"
        context.processPendingChanges()
      }
      #expect(town.normalized == "arhus" && events == [["name", "normalized"]])
      #expect(cost.faults == 1)
      try context.save()
      let other = stack.context()
      try other.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Town")
        request.predicate = NSPredicate(format: "normalized BEGINSWITH[n] %@", "Årh".searchText)
        let found = try other.fetch(request)
        #expect(found.first?.value(forKey: "name") as? String == "Århus")
      }
    }
  }

  @Test(
    "S13-11 restoring a stored order takes one read and no comparisons",
    arguments: StoreKind.allCases)
  func restoringAStoredOrderTakesNoComparisons(kind: StoreKind) throws {
    let stack = try MoodyStack(kind, model: model())
    let locale = Locale(identifier: "de_DE")
    let first = stack.context()
    try first.performAndWait {
      let towns = ["Köln", "Aachen", "Zwickau", "Öhringen"].map { name in
        let town = NSEntityDescription.insertNewObject(forEntityName: "Town", into: first)
        (town as? Town)?.name = name
        return town
      }
      let sorted = SortedObjects(towns, by: "name", in: first, locale: locale)
      #expect(sorted.comparisons > 0 && sorted.sorts == 1)
      let order = NSEntityDescription.insertNewObject(forEntityName: "Order", into: first)
      order.setValue(
        SortedObjects<NSManagedObject>.signature(for: locale), forKey: "signature")
      order.setValue(sorted.objects, forKey: "towns")
      try first.save()
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
      request.returnsObjectsAsFaults = false
      let order = try #require(try context.fetch(request).first)
      let signature = order.value(forKey: "signature") as? String
      var towns: [NSManagedObject] = []
      let cost = costs(of: context) {
        towns = (order.value(forKey: "towns") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
      }
      #expect(cost.faults == 1 && cost.selects == stack.selects(1))
      var kept: SortedObjects<NSManagedObject>?
      let start = costs(of: context) {
        kept = SortedObjects(kept: towns, under: signature, by: "name", in: context, locale: locale)
      }
      #expect(kept?.comparisons == 0 && kept?.sorts == 0 && start.faults == 0)
      #expect(towns.count == 4 && towns.allSatisfy(\.isFault))
      #expect(
        kept?.objects.compactMap { $0.value(forKey: "name") as? String }
          == ["Aachen", "Köln", "Öhringen", "Zwickau"])
      // Another language has another order, so the objects must be sorted again.
      let swedish = Locale(identifier: "sv_SE")
      #expect(
        SortedObjects(kept: towns, under: signature, by: "name", in: context, locale: swedish)
          == nil)
      let resorted = SortedObjects(towns, by: "name", in: context, locale: swedish)
      #expect(resorted.objects.last?.value(forKey: "name") as? String == "Öhringen")
    }
  }
}
