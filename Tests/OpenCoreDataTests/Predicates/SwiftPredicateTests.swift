import CoreDataCosts
import ProfileEvents
import Testing

@testable import OpenCoreData

/// Swift's predicates and sort descriptors in fetch requests.
@Suite struct SwiftPredicateTests {
  /// Each predicate with its format, and the number of matches among six moods of two countries.
  static var cases: [(Foundation.Predicate<Mood>, String, Int)] {
    let from = Date(timeIntervalSinceReferenceDate: 60)
    let to = Date(timeIntervalSinceReferenceDate: 240)
    let codes: [Int16] = [2, 9]
    let start = "CAST(60.000000, \"NSDate\")"
    let end = "CAST(240.000000, \"NSDate\")"
    return [
      (#Predicate { $0.date >= from }, "date >= \(start)", 5),
      (
        #Predicate { $0.date < to && !($0.date == from) }, "date < \(end) AND NOT date == \(start)",
        3
      ),
      (#Predicate { (from...to).contains($0.date) }, "date BETWEEN {\(start), \(end)}", 4),
      (
        #Predicate { (from..<to).contains($0.date) || $0.latitude != nil },
        "(date >= \(start) AND date < \(end)) OR latitude != nil", 3
      ),
      (#Predicate { $0.country?.numericISO3166Code == 1 }, "country.numericISO3166Code == 1", 3),
      (
        #Predicate { codes.contains($0.country.flatMap { $0.numericISO3166Code } ?? 0) },
        "TERNARY(country.numericISO3166Code != nil, country.numericISO3166Code, 0) IN {2, 9}", 3
      ),
      (
        #Predicate { ($0.latitude ?? 1.5) * 2 == 3 },
        "TERNARY(latitude != nil, latitude, 1.5) * 2.0 == 3", 6
      ),
      (
        #Predicate { $0.remoteIdentifier?.starts(with: "x") == true },
        "TERNARY(remoteIdentifier BEGINSWITH \"x\", 1, 0) == 1", 0
      ),
    ]
  }

  @Test(arguments: StoreKind.allCases)
  func swiftPredicatesAreTranslatedToOneSelect(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(6, countries: 2)
    let context = try stack.coldContext()
    try context.performAndWait {
      let entity = try #require(stack.model.entitiesByName["Mood"])
      let all = try context.fetch(NSFetchRequest<Mood>(entityName: "Mood"))
      for (predicate, text, count) in Self.cases {
        let request = NSFetchRequest<Mood>(entityName: "Mood")
        request.setPredicate(predicate)
        var found: [Mood] = []
        let cost = try costs(of: context) { found = try context.fetch(request) }
        #expect(cost.selects == stack.statements(1) && cost.rows == stack.statements(count))
        #expect(found.count == count, "\(text)")
        #expect(all.filter { NSPredicate(predicate).evaluate(with: $0) }.count == count, "\(text)")
        let translated = try NSPredicate(predicate).withoutSwiftPredicates(for: entity)
        #expect(translated.predicateFormat == text)
        #expect(all.filter { translated.evaluate(with: $0) }.count == count, "\(text)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func toManyRelationshipsBecomeSubqueries(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(5, countries: 2)
    let context = try stack.coldContext()
    try context.performAndWait {
      let late = Date(timeIntervalSinceReferenceDate: 200)
      let request = NSFetchRequest<Country>(entityName: "Country")
      let some = #Predicate<Country> { $0.moods.contains { $0.date > late } && $0.moods.count == 3 }
      request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
        NSPredicate(some), NSPredicate(format: "numericISO3166Code == 1"),
      ])
      let found = try context.fetch(request)
      #expect(found.count == 1)
      request.setPredicate(#Predicate { $0.moods.allSatisfy { $0.date < late } })
      let early = try context.fetch(request).map(\.numericISO3166Code)
      #expect(early == [2])
      request.setPredicate(#Predicate { $0.moods.isEmpty || !$0.moods.contains { $0.date < late } })
      let none = try context.fetch(request)
      #expect(none.isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func untranslatableExpressionIsReported(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(2, countries: 1)
    let context = try stack.coldContext()
    context.performAndWait {
      let cases: [(Foundation.Predicate<Mood>, String)] = [
        (#Predicate { ($0.remoteIdentifier ?? "").count > 3 }, "collectionCount"),
        (#Predicate { $0.colors[0] == 1 }, "CollectionIndexSubscript"),
        (#Predicate { $0.isFault }, "isn't a property of the entity 'Mood'"),
      ]
      for (predicate, part) in cases {
        let request = NSFetchRequest<Mood>(entityName: "Mood")
        request.setPredicate(predicate)
        let error = #expect(throws: (any Error).self) { try context.fetch(request) }
        #expect((error as? NSError)?.localizedDescription.contains(part) == true, "\(part)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func swiftSortDescriptorsBecomeAnOrderByClause(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(5, countries: 2)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.setSortDescriptors([SortDescriptor(\Mood.date, order: .reverse)])
      let dates = try context.fetch(request).map(\.date)
      #expect(dates == dates.sorted(by: >) && dates.count == 5)
      let ordered = events.statements(.select).filter { $0.hasSuffix("ORDER BY t0.ZDATE DESC") }
      #expect(ordered.count == stack.statements(1))
      request.sortDescriptors = nil
      #expect(try FetchPlan(request, model: stack.model).sort.isEmpty)
    }
  }

  @Test func batchDeletionHasTheOrderOfSwiftSortDescriptors() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(5, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.setSortDescriptors([SortDescriptor(\Mood.date, order: .reverse)])
      request.fetchLimit = 2
      try context.execute(NSBatchDeleteRequest(fetchRequest: request))
      request.fetchLimit = 0
      let seconds = try context.fetch(request).map { $0.date.timeIntervalSinceReferenceDate }
      #expect(seconds == [120, 60, 0])
    }
  }

  @Test func resultsControllersHaveTheOrderOfSwiftSortDescriptors() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(3, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.setSortDescriptors([SortDescriptor(\Mood.date, order: .reverse)])
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      try controller.performFetch()
      let seconds = controller.fetchedObjects?.map { $0.date.timeIntervalSinceReferenceDate }
      #expect(seconds == [120, 60, 0])
    }
  }

  /// Predicates with optional values, and the identifiers of the moods that match, of "x", "y", and
  /// none.
  static var optionalCases: [(Foundation.Predicate<Mood>, String)] {
    [
      (#Predicate { $0.remoteIdentifier?.contains("x") == true }, "x"),
      (#Predicate { $0.remoteIdentifier?.contains("x") == false }, "y"),
      (#Predicate { $0.remoteIdentifier?.contains("x") != true }, "y-"),
      (#Predicate { $0.remoteIdentifier?.contains("x") != false }, "x-"),
      (#Predicate { $0.remoteIdentifier?.contains("x") ?? true }, "x-"),
      (#Predicate { $0.remoteIdentifier?.contains("x") ?? false }, "x"),
      (#Predicate { !($0.remoteIdentifier?.contains("x") ?? true) }, "y"),
      (#Predicate { $0.remoteIdentifier.flatMap { $0 > "x" } == nil }, "-"),
      (#Predicate { $0.remoteIdentifier.flatMap { $0 != "x" } == true }, "y"),
    ]
  }

  @Test(arguments: StoreKind.allCases)
  func conditionsOnMissingValuesAreNil(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(3, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
      let moods = try context.fetch(request)
      for (mood, text) in zip(moods, ["x", "y", nil] as [String?]) {
        mood.setValue(text, forKey: "remoteIdentifier")
      }
      try context.save()
      for (index, (predicate, expected)) in Self.optionalCases.enumerated() {
        request.setPredicate(predicate)
        let found = try context.fetch(request).map { $0.remoteIdentifier ?? "-" }.joined()
        #expect(found == expected, "case \(index)")
        let inSwift = moods.filter { NSPredicate(predicate).evaluate(with: $0) }
        #expect(inSwift.map { $0.remoteIdentifier ?? "-" }.joined() == expected, "case \(index)")
      }
      // No element without a value satisfies a comparison.
      let countries = NSFetchRequest<Country>(entityName: "Country")
      countries.setPredicate(#Predicate { $0.moods.allSatisfy { $0.remoteIdentifier == "x" } })
      for mood in moods.prefix(2) { mood.setValue("x", forKey: "remoteIdentifier") }
      try context.save()
      #expect(try context.fetch(countries).isEmpty)
      moods[2].setValue("x", forKey: "remoteIdentifier")
      try context.save()
      #expect(try context.fetch(countries).count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func sortDescriptorsAcceptSwiftKeyPaths(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(6, countries: 2)
    let context = try stack.coldContext()
    try context.performAndWait {
      let date = NSSortDescriptor(keyPath: \Mood.date, ascending: false)
      let code = NSSortDescriptor(keyPath: \Mood.country?.numericISO3166Code, ascending: true)
      #expect(date.key == "date" && !date.ascending)
      #expect(code.key == "country.numericISO3166Code")
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.sortDescriptors = [code, date]
      let moods = try context.fetch(request)
      let sorted = moods.sorted(using: [code, date])
      #expect(moods == sorted && moods.count == 6)
      #expect(moods[0].date > moods[1].date)
      let swift = NSSortDescriptor(SortDescriptor(\Mood.date, order: .reverse))
      #expect(swift == date)
      request.sortDescriptors = [swift]
      #expect(try context.fetch(request) == moods.sorted { $0.date > $1.date })
    }
  }

  @Test func expressionsAcceptSwiftKeyPaths() async {
    // In a process without the models of other tests.
    await #expect(processExitsWith: .success) {
      let stack = try TestStack.moody(.memory)
      try stack.addMoods(1, countries: 1)
      let paths = withExtendedLifetime(stack) {
        [
          NSExpression(forKeyPath: \Mood.date).keyPath,
          NSExpression(forKeyPath: \Mood.country?.numericISO3166Code).keyPath,
        ]
      }
      guard paths == ["date", "country.numericISO3166Code"] else {
        throw NSError(domain: "\(paths)", code: 1)
      }
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Car {
        let maker: String
      }
      _ = NSExpression(forKeyPath: \Car.maker)
    }
    #expect(result.message.contains("isn't a property in a model in use"))
  }

  @Test func comparatorsOfSwiftKeyPathsSortInMemory() throws {
    let stack = try TestStack.moody(.memory)
    try stack.addMoods(3, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let latestFirst = NSSortDescriptor(keyPath: \Mood.date, ascending: true) { one, other in
        guard let one = one as? Date, let other = other as? Date else { return .orderedSame }
        return other.compare(one)
      }
      #expect(latestFirst.key == "date" && latestFirst.comparison == nil)
      let moods = try context.fetch(NSFetchRequest<Mood>(entityName: "Mood"))
      let sorted = moods.sorted { $0.date > $1.date }
      #expect(moods.sorted(using: [latestFirst]) == sorted && sorted.count == 3)
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.sortDescriptors = [latestFirst]
      let fetched = try context.fetch(request)
      #expect(fetched == sorted)
    }
  }

  @Test func sortDescriptorsOfSwiftValuesSortInMemory() {
    struct Car {
      let maker: String
    }
    let descriptor = NSSortDescriptor(keyPath: \Car.maker, ascending: true)
    #expect(descriptor.key == nil && descriptor.keyPath == (\Car.maker as AnyKeyPath))
    let cars = [Car(maker: "b"), Car(maker: "a")].sorted(using: [descriptor])
    #expect(cars.map(\.maker) == ["a", "b"])
    let byLength = NSSortDescriptor(keyPath: \Car.maker, ascending: true) { one, other in
      let counts = [one, other].map { ($0 as? String)?.count ?? 0 }
      return counts[0] < counts[1] ? .orderedAscending : .orderedDescending
    }
    let lengths = [Car(maker: "aa"), Car(maker: "b")].sorted(using: [byLength])
    #expect(lengths.map(\.maker) == ["b", "aa"])
  }
}
