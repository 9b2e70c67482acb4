import ManagedModel
import Testing

@testable import OpenCoreData

/// Predicates match unsaved changes as they match saved ones.
@Suite struct UnsavedPredicateTests {
  /// Owners with pets, some of the same age, and a transformable list.
  private static func model() -> NSManagedObjectModel {
    let owner = SchemaModels.entity(
      "Owner",
      [
        SchemaModels.attribute("name", .stringAttributeType),
        SchemaModels.attribute("pattern", .stringAttributeType),
        SchemaModels.attribute("age", .integer32AttributeType),
        SchemaModels.attribute("price", .decimalAttributeType),
        SchemaModels.attribute("born", .dateAttributeType),
        SchemaModels.attribute("site", .URIAttributeType),
        SchemaModels.attribute("home", .URIAttributeType),
        SchemaModels.attribute("key", .UUIDAttributeType),
        SchemaModels.attribute("tags", .transformableAttributeType),
      ])
    owner.attributesByName["tags"]?.valueTransformerName = "NSSecureUnarchiveFromData"
    let pet = SchemaModels.entity(
      "Pet",
      [
        SchemaModels.attribute("age", .integer32AttributeType),
        SchemaModels.attribute("name", .stringAttributeType),
      ])
    SchemaModels.relate(owner, "pets", many: true, pet, "owner", many: false)
    SchemaModels.relate(owner, "friends", many: true, owner, "friendOf", many: true)
    SchemaModels.relate(owner, "boss", many: false, owner, "staff", many: true)
    let model = NSManagedObjectModel()
    model.entities = [owner, pet]
    return model
  }

  private static let key = UUID()

  /// Ann has two pets aged 4 and one without an age; Bob has none; Cid has pets aged 1 and 2.
  private func fill(_ context: NSManagedObjectContext) {
    let ages: [(String, [Int?])] = [("Ann", [4, 4, nil]), ("Bob", []), ("Cid", [1, 2])]
    var owners: [NSManagedObject] = []
    for (index, (name, ages)) in ages.enumerated() {
      let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      owner.setValue(name, forKey: "name")
      owner.setValue(index == 0 ? "(" : "[A-Z]+", forKey: "pattern")
      owner.setValue(30 + index, forKey: "age")
      owner.setValue(Decimal(index) / 2, forKey: "price")
      owner.setValue(Date(timeIntervalSinceReferenceDate: Double(index)), forKey: "born")
      owner.setValue(URL(string: "https://x.org/\(name)"), forKey: "site")
      let home = [URL(string: "https://X.org/Ann"), URL(string: "https://x.org/Bob"), nil][index]
      owner.setValue(home, forKey: "home")
      owner.setValue(index == 1 ? Self.key : UUID(), forKey: "key")
      for age in ages {
        let pet = NSEntityDescription.insertNewObject(forEntityName: "Pet", into: context)
        pet.setValue(age, forKey: "age")
        pet.setValue(owner, forKey: "owner")
      }
      owners.append(owner)
    }
    owners[1].setValue(Set([owners[0], owners[2]]), forKey: "friends")
    owners[0].setValue(owners[2], forKey: "boss")
  }

  private func names(
    _ format: String, _ context: NSManagedObjectContext
  ) throws -> String {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
    request.predicate = NSPredicate(format: format)
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let found = try context.fetch(request)
    #expect(try context.count(for: request) == found.count, "\(format)")
    return found.compactMap { ($0.value(forKey: "name") as? String)?.prefix(1) }.joined()
  }

  /// Formats with the first letters of the matching owners.
  private static let found: [(String, String)] = [
    // A constant is converted to the attribute's type.
    ("age > '30'", "BC"), ("age == '31'", "B"), ("'31' <= age", "BC"), ("age IN {'30', 32}", "AC"),
    ("age BETWEEN {'30', '31'}", "AB"), ("price == '0.5'", "B"), ("price >= '0.50'", "BC"),
    ("born > 0.5", "BC"), ("name == 3", ""), ("name != 3", "ABC"), ("name < 4", ""),
    ("site CONTAINS 'Bob'", "B"), ("site == 'https://x.org/Cid'", "C"),
    ("site IN {'https://x.org/Ann'}", "A"), ("length:(site) == 17", "ABC"),
    ("lowercase:(site) ENDSWITH 'bob'", "B"), ("uppercase:(site) < 'HTTPS://X.ORG/B'", "A"),
    // Options apply to strings, but not to two URLs.
    ("site ==[c] home", "B"), ("home <[c] site", "A"), ("home ==[c] 'HTTPS://X.ORG/ANN'", "A"),
    ("home IN[c] {CAST('https://x.org/ann', 'NSURL'), site}", "B"),
    ("name ==[c] CAST('ann', 'NSURL')", "A"), ("name IN[c] {CAST('ann', 'NSURL')}", "A"),
    ("site BEGINSWITH CAST('https://x.org/B', 'NSURL')", "B"),
    ("CAST('https://x.org/Bob/1', 'NSURL') BEGINSWITH site", "B"),
    ("site ENDSWITH[c] CAST('bob', 'NSURL')", "B"),
    ("key == '\(key.uuidString)'", "B"),
    ("noindex:(price) == '0.5'", "B"), ("noindex:(price) IN {'0.5', 1}", "BC"),
    ("noindex:(price) < CAST('0.75', 'NSDecimalNumber')", "AB"),
    ("noindex:(price) BETWEEN {'0.25', '0.75'}", "B"),
    ("'4' IN pets.age", "A"), ("ANY pets.age == '1'", "C"),
    ("CAST(name, 'NSNumber') == nil", "ABC"),
    // Seconds added to a date give a date; the difference of two dates is a number.
    ("born + 1 == CAST(1.0, 'NSDate')", "A"), ("1 + born > CAST(1.5, 'NSDate')", "BC"),
    ("born - 1 < CAST(0.5, 'NSDate')", "AB"), ("born - CAST(0.0, 'NSDate') > 0.5", "BC"),
    ("born < now() - 3600", "ABC"), ("born * 2 == 4", "C"), ("born / 0 == nil", "ABC"),
    // A key path over a to-many relationship is a set of values without nils.
    ("sum:(pets.age) == 4", "A"), ("sum:(pets.age) == 0", "B"), ("count:(pets.age) == 1", "A"),
    ("average:(pets.age) == 4", "A"), ("max:(pets.age) == 2", "C"), ("ANY pets.age == nil", "A"),
    ("ANY pets.age != nil", "AC"), ("ALL pets.age > 3", "AB"), ("NONE pets.age == nil", "BC"),
    ("ALL pets.age == nil", "B"), ("pets.age CONTAINS nil", ""), ("ANY pets.age IN {nil, 2}", "AC"),
    // A collection operator reads each object's value; an average counts nil as 0.
    ("pets.@sum.age == 8", "A"), ("pets.@count == 3", "A"), ("pets.@avg.age > 2.6", "A"),
    ("pets.@avg.age == 0", "B"), ("pets.@max.age == nil", "B"), ("pets.@min.age == 4", "A"),
    ("ANY friends.pets.age == 4", "B"), ("ALL friends.pets.age > 0", "ABC"),
    ("SUBQUERY(friends, $f, $f.pets.@count > 2).@count == 1", "B"),
    ("SELF IN friends.friendOf", "B"), ("friends.friendOf CONTAINS SELF", "B"),
    ("friends.pets.age CONTAINS 4", "B"), ("ANY friends IN friends.friendOf.friends", "B"),
    ("SUBQUERY(friendOf, $f, 4 IN $f.friends.pets.age).@count > 0", "AC"),
    ("SELF IN SUBQUERY(friends, $f, $f.pets.@count > 0).friendOf", "B"),
    // ANY finds elements without a value, but only by a constant.
    ("ANY friends.boss == nil", "B"), ("ANY friends.boss.name == nil", "B"),
    ("ANY friends.pets.age == nil", "B"), ("ANY friends.friends.pets.age == nil", ""),
    ("ANY pets == nil", ""), ("ANY pets.name == boss.name", ""), ("ANY pets.age != nil", "AC"),
    ("NOT ANY pets.age IN {nil}", "BC"), ("ANY boss.name == nil", ""),
    // A list may contain nil, also next to a key path.
    ("boss.name IN {nil, name}", "BC"), ("{nil, name} CONTAINS boss.name", "BC"),
    ("age == 99 OR boss.name IN {nil, name}", "BC"), ("boss.name IN {'Cid', name}", "A"),
    ("ANY friends.boss.name IN {nil, name}", "B"), ("ANY friends.boss.name IN {nil, 'Cid'}", "B"),
    // A list may contain operators.
    ("age IN {pets.@count, 31}", "B"), ("3 IN {pets.@count, 9}", "A"),
    ("2 BETWEEN {pets.@count, age}", "BC"), ("pets.@count IN {pets.@max.age, 0}", "BC"),
  ]

  @Test(arguments: [StoreKind.sqlite, .memory])
  func unsavedAndSavedObjectsMatchTheSamePredicates(kind: StoreKind) throws {
    let stack = try SharedStack(kind, Self.model())
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      for (format, names) in Self.found {
        #expect(try self.names(format, context) == names, "unsaved: \(format)")
      }
      try context.save()
      let fresh = stack.context()
      try fresh.performAndWait {
        for (format, names) in Self.found {
          #expect(try self.names(format, fresh) == names, "saved: \(format)")
        }
        // Setting equal values marks the objects as updated: all are evaluated in memory.
        for owner in try fresh.everyObject(of: "Owner") {
          owner.setValue(owner.value(forKey: "name"), forKey: "name")
        }
        for (format, names) in Self.found {
          #expect(try self.names(format, fresh) == names, "updated: \(format)")
        }
      }
    }
  }

  @Test(arguments: [
    ("ALL friends.pets.@count > 0", "two to-many relationships"),
    ("ANY friends.pets.@sum.age > 0", "SUBQUERY"),
    ("count:(tags) >= 3", "transformable"), ("ANY tags == 'z'", "transformable"),
    ("max:(tags) == 1", "transformable"), ("name == age", "CAST"), ("born < name", "CAST"),
    ("age > 'x'", "can't be compared"), ("name MATCHES '('", "regular expression"),
    ("name MATCHES pattern", "regular expression"),
  ])
  func untranslatablePredicateThrows(format: String, part: String) throws {
    let stack = try SharedStack(.sqlite, Self.model())
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      try context.save()
      for isChanged in [false, true] {
        if isChanged { fill(context) }
        let error = thrownError { _ = try names(format, context) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSCoreDataError, "\(format)")
        #expect(
          error?.localizedDescription.contains(part) == true,
          "\(format): \(error?.localizedDescription ?? "")")
      }
    }
  }

  @Test(arguments: [
    ("name > age", "can't be compared"), ("born > 'x'", "can't be compared"),
    ("age BEGINSWITH '3'", "can't be applied"), ("name MATCHES pattern", "regular expression"),
    ("pets.@sum.name > 1", "can't be applied"),
  ])
  func inMemoryEvaluationErrorFailsTheFetch(format: String, part: String) throws {
    let stack = try SharedStack(.memory, Self.model())
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      for pet in context.insertedObjects where pet.entity.name == "Pet" {
        pet.setValue("Rex", forKey: "name")
      }
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        let error = thrownError { _ = try names(format, context) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSCoreDataError, "\(format)")
        #expect(
          error?.localizedDescription.contains(part) == true,
          "\(format): \(error?.localizedDescription ?? "")")
      }
    }
  }

  @Test(arguments: [StoreKind.sqlite, .memory])
  func relativeURLsEqualAbsoluteOnes(kind: StoreKind) throws {
    let stack = try SharedStack(kind, Self.model())
    let context = stack.context()
    let bob = try #require(URL(string: "Bob", relativeTo: URL(string: "https://x.org/")))
    try context.performAndWait {
      fill(context)
      let list = [bob] + (0..<9).compactMap { URL(string: "https://x.org/\($0)") }
      let cases = [
        (NSPredicate(format: "site == %@", bob), 1), (NSPredicate(format: "site IN %@", list), 1),
        (NSPredicate(format: "site != %@ AND name == 'Bob'", bob), 0),
      ]
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        for (predicate, count) in cases {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
          request.predicate = predicate
          #expect(try context.fetch(request).count == count, "\(predicate)")
        }
      }
    }
  }

  @Test(arguments: [StoreKind.sqlite, .memory])
  func unsavedTransformablesAreMatched(kind: StoreKind) throws {
    let stack = try SharedStack(kind, Self.model())
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      try context.save()
      let owner = try #require(try context.everyObject(of: "Owner").first)
      owner.setValue(["x", "z"], forKey: "tags")
      let results = [
        ("tags == nil", false), ("tags != nil", true), ("ANY tags == 'z'", true),
        ("tags CONTAINS 'x'", true), ("count:(tags) == 2", true), ("'y' IN tags", false),
      ]
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        for (format, result) in results {
          #expect(NSPredicate(format: format).evaluate(with: owner) == result, "\(format)")
        }
        #expect(try names("tags == nil", context).count == 2)
        #expect(try names("tags != nil", context).count == 1)
        if kind == .memory { #expect(try names("ANY tags == 'z'", context).count == 1) }
      }
      owner.setValue(nil, forKey: "tags")
      #expect(NSPredicate(format: "tags == nil").evaluate(with: owner))
    }
  }

  @Test func resultsControllersOmitUnevaluableObjects() throws {
    let stack = try SharedStack(.sqlite, Self.model())
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
      request.predicate = NSPredicate(format: "name MATCHES pattern OR age == 31")
      request.predicate = NSPredicate(
        format: "age == 31 OR pattern == '((' OR name MATCHES pattern")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      for owner in try context.everyObject(of: "Owner") { owner.setValue("B.*", forKey: "pattern") }
      try context.save()
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      let listener = ResultsListener()
      controller.delegate = listener
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 1)
      let owner = try #require(
        try context.everyObject(of: "Owner").first { $0.value(forKey: "name") as? String == "Cid" })
      owner.setValue("(", forKey: "pattern")
      context.processPendingChanges()
      #expect(controller.fetchedObjects?.count == 1 && listener.lines.isEmpty)
      #expect(context.faultError?.code == NSCoreDataError)
    }
  }

  @Test func resultsControllersOmitUnsortableObjects() throws {
    let stack = try SharedStack(.memory, Self.model())
    let context = stack.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
      request.sortDescriptors = ["name.nick", "age"].map {
        NSSortDescriptor(key: $0, ascending: true)
      }
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      let listener = ResultsListener()
      controller.delegate = listener
      try controller.performFetch()
      listener.start(controller.sections)
      let owners = [2, 1, 3].map { context.make("Owner", ["age": $0]) }
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [owners[1], owners[0], owners[2]])
      // A string has no nick.
      owners[0].setValue("Ada", forKey: "name")
      let named = context.make("Owner", ["name": "Ben"])
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [owners[1], owners[2]])
      #expect(context.faultError?.code == NSCoreDataError)
      for owner in [owners[0], named] { owner.setValue(nil, forKey: "name") }
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [named, owners[1], owners[0], owners[2]])
      #expect(listener.mirror.first?.objects == controller.fetchedObjects)
    }
  }

  @Test(arguments: [StoreKind.sqlite, .memory])
  func executingARequestSetsItsEntity(kind: StoreKind) throws {
    let stack = try SharedStack(kind, Self.model())
    let context = stack.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
      #expect(request.entity == nil)
      _ = try context.fetch(request)
      #expect(request.entity === stack.coordinator.managedObjectModel.entitiesByName["Owner"])
      let counted = NSFetchRequest<NSManagedObject>(entityName: "Pet")
      _ = try context.count(for: counted)
      #expect(counted.entity?.name == "Pet")
    }
  }

  @Test("A request that was executed with one model can be executed with another")
  func requestIsReusableWithAnotherModel() throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
    for _ in 0..<2 {
      let stack = try SharedStack(.memory, Self.model())
      let context = stack.context()
      try context.performAndWait {
        fill(context)
        let found = try context.fetch(request)
        #expect(found.count == 3)
      }
    }
  }

  @Test(
    "Unsaved changes are merged before an offset and a limit",
    arguments: [StoreKind.sqlite, .memory])
  func offsetAndLimitIncludeUnsavedObjects(kind: StoreKind) throws {
    let stack = try SharedStack(kind, Self.model())
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
      request.predicate = NSPredicate(format: "age < 40")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      func found(limit: Int, offset: Int, _ context: NSManagedObjectContext) throws -> String {
        request.fetchLimit = limit
        request.fetchOffset = offset
        let objects = try context.fetch(request)
        #expect(try context.count(for: request) == objects.count)
        #expect(try Array(context.fetchBatched(request)) == objects)
        return objects.compactMap { ($0.value(forKey: "name") as? String)?.prefix(1) }.joined()
      }
      #expect(try found(limit: 2, offset: 1, context) == "BC")
      let first = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      first.setValue("Aaa", forKey: "name")
      first.setValue(1, forKey: "age")
      #expect(try found(limit: 0, offset: 1, context) == "ABC")
      #expect(try found(limit: 2, offset: 2, context) == "BC")
      #expect(try found(limit: 2, offset: 4, context) == "")
      context.delete(first)
      let owners = try context.everyObject(of: "Owner")
      let bob = try #require(owners.first { $0.value(forKey: "name") as? String == "Bob" })
      bob.setValue(99, forKey: "age")
      #expect(try found(limit: 2, offset: 0, context) == "AC")
      #expect(try found(limit: 1, offset: 1, context) == "C")
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      try child.performAndWait {
        let last = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: child)
        last.setValue("Dan", forKey: "name")
        let unchanged = try found(limit: 2, offset: 1, child)
        #expect(unchanged == "C")
        last.setValue(2, forKey: "age")
        let changed = try found(limit: 2, offset: 1, child)
        #expect(changed == "CD")
      }
    }
  }

  @Test(
    "An order by a key path has unsaved values of related objects if changes are merged",
    arguments: [StoreKind.sqlite, .memory])
  func ordersHaveUnsavedValuesOfRelatedObjects(kind: StoreKind) throws {
    let stack = try SharedStack(kind, Self.model())
    let context = stack.context()
    try context.performAndWait {
      fill(context)
      let pets = try context.everyObject(of: "Pet").sorted {
        ($0.value(forKey: "age") as? Int ?? 0) < ($1.value(forKey: "age") as? Int ?? 0)
      }
      for (index, pet) in pets.enumerated() { pet.setValue("\(index)", forKey: "name") }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Pet")
      request.sortDescriptors = ["owner.name", "name"].map {
        NSSortDescriptor(key: $0, ascending: true)
      }
      func found(_ limit: Int) throws -> String {
        request.fetchLimit = limit
        let objects = try context.fetch(request)
        return objects.compactMap { $0.value(forKey: "name") as? String }.joined()
      }
      // Ann has 0, 3, and 4; Cid has 1 and 2.
      #expect(try found(0) == "03412")
      (pets[1].value(forKey: "owner") as? NSManagedObject)?.setValue("Aaa", forKey: "name")
      pets[0].setValue("7", forKey: "name")
      #expect(try found(0) == "12347")
      #expect(try found(3) == "123")
      let new = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      new.setValue("Abc", forKey: "name")
      pets[4].setValue(new, forKey: "owner")
      #expect(try found(0) == "12437")
    }
  }

  @Test(
    "A child's order by a key path has its parent's unsaved values of related objects",
    arguments: [StoreKind.sqlite, .memory])
  func childOrdersHaveUnsavedValuesOfTheParent(kind: StoreKind) throws {
    let context = try SharedStack(kind, Self.model()).context()
    try context.performAndWait {
      fill(context)
      let pets = try context.everyObject(of: "Pet").sorted {
        ($0.value(forKey: "age") as? Int ?? 0) < ($1.value(forKey: "age") as? Int ?? 0)
      }
      for (index, pet) in pets.enumerated() { pet.setValue("\(index)", forKey: "name") }
      try context.save()
      // Ann has 0, 3, and 4; Cid has 1 and 2.
      (pets[1].value(forKey: "owner") as? NSManagedObject)?.setValue("Aaa", forKey: "name")
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      let last = pets[4].objectID
      try child.performAndWait {
        child.object(with: last).setValue("5", forKey: "name")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Pet")
        request.sortDescriptors = ["owner.name", "name"].map {
          NSSortDescriptor(key: $0, ascending: true)
        }
        for (limit, expected) in [(0, "12035"), (3, "120")] {
          request.fetchLimit = limit
          let objects = try child.fetch(request)
          let names = objects.compactMap { $0.value(forKey: "name") as? String }
          #expect(names.joined() == expected)
        }
      }
    }
  }
}
