import CoreDataCosts
import OpenCoreData
import Testing

@testable import OpenCoreData

@Suite("Sorting and paging")
struct FetchOrderTests {
  @Test("S13-6 SQL orders names by their bytes")
  func sqlSortsNamesByBytes() throws {
    let stack = try TestStack(model: TestModels.company())
    let context = try stack.coldContext()
    try context.performAndWait {
      let entity = try #require(stack.model.entitiesByName["Employee"])
      for name in ["É", "a", "Z", "z", "A"] {
        NSManagedObject(entity: entity, insertInto: context).setValue(name, forKey: "name")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let names = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
      #expect(names == ["A", "Z", "a", "z", "É"])
    }
  }

  @Test(
    "Objects are sorted by their IDs, new ones as if they were saved",
    arguments: StoreKind.allCases)
  func objectsAreSortedByTheirIDs(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: TestModels.company())
    let context = try stack.coldContext()
    try context.performAndWait {
      let entity = try #require(stack.model.entitiesByName["Employee"])
      for (name, isSaved) in [("c", true), ("a", true), ("b", true), ("e", false), ("d", false)] {
        NSManagedObject(entity: entity, insertInto: context).setValue(name, forKey: "name")
        if isSaved { try context.save() }
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      func names(by key: String, ascending: Bool) throws -> [String] {
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
      }
      for key in ["objectID", "self"] {
        request.includesPendingChanges = false
        #expect(try names(by: key, ascending: true) == ["c", "a", "b"])
        #expect(try names(by: key, ascending: false) == ["b", "a", "c"])
        request.includesPendingChanges = true
        #expect(try names(by: key, ascending: true) == ["c", "a", "b", "e", "d"])
        #expect(try names(by: key, ascending: false) == ["d", "e", "b", "a", "c"])
      }
    }
  }

  @Test(
    "A comparison of strings applies to the greatest string of a relationship's objects",
    arguments: StoreKind.allCases)
  func stringsOfRelationshipsAreComparedAsRequested(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: TestModels.company())
    let context = try stack.coldContext()
    try context.performAndWait {
      let entities = stack.model.entitiesByName
      let (department, employee) = (
        try #require(entities["Department"]), try #require(entities["Employee"])
      )
      for name in ["b", "A", "C"] {
        let home = NSManagedObject(entity: department, insertInto: context)
        home.setValue(name, forKey: "name")
        let person = NSManagedObject(entity: employee, insertInto: context)
        person.setValue(name, forKey: "name")
        person.setValue(home, forKey: "department")
      }
      try context.save()
      func names(_ comparison: NSSortDescriptor.Comparison) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
        request.sortDescriptors = [
          NSSortDescriptor(key: "employees.@max.name", ascending: true, selector: comparison)
        ]
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
      }
      #expect(try names(.binary) == ["A", "C", "b"])
      #expect(try names(.caseInsensitiveCompare) == ["A", "b", "C"])
    }
  }

  @Test("Strings have the same order in stores as in memory", arguments: StoreKind.allCases)
  func storesOrderStringsAsInMemory(kind: StoreKind) throws {
    let names = [
      "Noël", "Nö", "Noel", "Aö", "Äpfel", "aΩ", "åñ ", "sé_", "ßbb\0", "éßb ", "STRASSE", "straße",
      "É", "e\u{301}", "\0", "a\0b", "A\0c", "İ", "ı", "ﬁ", "FI", "😀", "中", "a10", "a9", "a09",
    ]
    let stack = try TestStack(kind, model: TestModels.company())
    let context = try stack.coldContext()
    try context.performAndWait {
      let entity = try #require(stack.model.entitiesByName["Employee"])
      for name in names {
        NSManagedObject(entity: entity, insertInto: context).setValue(name, forKey: "name")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      let everyone = try context.fetch(request)
      for comparison in NSSortDescriptor.Comparison.allCases {
        let order = [
          NSSortDescriptor(key: "name", ascending: true, selector: comparison),
          NSSortDescriptor(key: "name", ascending: true),
        ]
        request.sortDescriptors = order
        let found = try context.fetch(request)
        #expect(found == everyone.sorted(using: order), "\(comparison)")
      }
      request.sortDescriptors = nil
      let formats = [
        "name <[c] %@", "name >=[cd] %@", "name BETWEEN[c] {'a', %@}", "name ==[c] %@",
      ]
      for format in formats {
        for name in names {
          let predicate = NSPredicate(format: format, name)
          request.predicate = predicate
          let found = Set(try context.fetch(request))
          let expected = Set(everyone.filter { predicate.evaluate(with: $0) })
          #expect(found == expected, "\(format) \(name.debugDescription)")
        }
      }
    }
  }

  @Test(
    "An order by a value that can't be computed is an error", arguments: StoreKind.allCases)
  func orderByAnUncomputableValueIsAnError(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: TestModels.company())
    let context = try stack.coldContext()
    try context.performAndWait {
      func error<T>(_ key: String, _ request: NSFetchRequest<T>) -> NSError? {
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return #expect(throws: NSError.self, "\(key)") { try context.fetch(request) }
      }
      // Without objects, with unsaved ones, and with saved ones.
      for state in 0...2 {
        if state == 1 {
          for name in ["b", "a", "c"] {
            let department = context.make("Department", ["name": name])
            for index in 1...2 {
              let person = context.make("Employee", ["name": "\(name)\(index)"])
              person.setValue(department, forKey: "department")
            }
          }
        }
        if state == 2 { try context.save() }
        for key in [
          "employees.@sum.name", "employees.@avg.name", "employees.@max.nick", "name.@count",
        ] {
          let objects = error(key, NSFetchRequest<NSManagedObject>(entityName: "Department"))
          #expect(objects?.domain == NSCocoaErrorDomain && objects?.code == NSCoreDataError)
          let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Department")
          dictionaries.resultType = .dictionaryResultType
          #expect(error(key, dictionaries)?.code == NSCoreDataError)
        }
        for key in ["department.@count", "department.@max.name", "SELF.@count"] {
          let objects = error(key, NSFetchRequest<NSManagedObject>(entityName: "Employee"))
          #expect(objects?.domain == NSCocoaErrorDomain && objects?.code == NSCoreDataError)
        }
        // What only the values show.
        for key in ["name.nick", "employees.@max.department", "employees.@sum"] where state > 0 {
          let objects = error(key, NSFetchRequest<NSManagedObject>(entityName: "Department"))
          #expect(objects?.domain == NSCocoaErrorDomain && objects?.code == NSCoreDataError)
        }
      }
    }
  }

  @Test("S6.26 manual paging: IDs, then one page at a time", arguments: StoreKind.allCases)
  func manualPagingLoadsIDsThenOnePageAtATime(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(25, countries: 2)
    let context = try stack.coldContext()
    try context.performAndWait {
      let keys = NSFetchRequest<NSManagedObjectID>(entityName: "Mood")
      keys.resultType = .managedObjectIDResultType
      keys.includesPropertyValues = false
      keys.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
      var pages: [[NSManagedObjectID]] = []
      let cost = try costs(of: context) {
        let ids = try context.fetch(keys)
        for start in stride(from: 0, to: ids.count, by: 10) {
          let page = Array(ids[start..<min(start + 10, ids.count)])
          let request = NSFetchRequest<Mood>(entityName: "Mood")
          request.predicate = NSPredicate(format: "self IN %@", page)
          let moods = try context.fetch(request)
          #expect(Set(moods.map(\.objectID)) == Set(page))
          pages.append(page)
        }
      }
      #expect(
        cost.selects == stack.statements(1 + 3) && cost.rows == stack.statements(50)
          && cost.misses == 0)
      let all = NSFetchRequest<Mood>(entityName: "Mood")
      all.sortDescriptors = keys.sortDescriptors
      #expect(try context.fetch(all).map(\.objectID) == pages.flatMap { $0 })
    }
  }
}
