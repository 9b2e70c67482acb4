import OpenCoreData
import PostgresFixtures
import PostgresStore
import Testing

@Suite("Predicates")
struct PredicateTests {
  /// Returns the sorted ages and names of the people that match.
  private static func matches(
    _ context: NSManagedObjectContext, _ predicate: NSPredicate?, entity: String = "Person",
    _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
  ) throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    change(request)
    return try context.fetch(request).map {
      "\($0.name ?? "nil") \($0.value(forKey: "age") ?? "nil")"
    }
  }

  private static let formats = [
    "age == 36", "age != 36", "NOT age == 36", "age < 36", "36 <= age", "age > 35.5",
    "age >= 36.0",
    "age == nil", "age != nil", "NOT (age == nil)", "nil == age", "age < nil", "age == '36'",
    "age BETWEEN {0, 40}", "NOT age BETWEEN {0, 40}", "age IN {36, 50}", "NOT age IN {36, 50}",
    "age IN {36, nil}", "NOT age IN {36, nil}", "age IN {}", "NOT age IN {}",
    "age IN {36, 50.0, 7.5}",
    "9007199254740993 == 9007199254740992", "9007199254740993 > 9007199254740992", "1 == 1.0",
    "2 < 1.5",
    "{36, 50} CONTAINS age", "score == 2.5", "score == 0.1", "score > 2", "score < age",
    "score == age", "score != age", "ratio == 0.5", "ratio == 0.1", "ratio < 0.2",
    "wage == 99.9", "wage > 99.9", "wage == 7", "wage < 100", "wage IN {7, 99.9}",
    "active == YES", "active == NO", "active != YES", "NOT active == YES", "active == 1",
    "active",
    "active > 0", "active >= 0", "active == 2", "active < 2", "active IN {YES, nil}",
    "name == 'Ada'", "name != 'Ada'", "NOT name == 'Ada'", "name == ''", "name == nil",
    "name > 'Ada'", "name <= 'Cleo'", "name BETWEEN {'A', 'C'}", "name IN {'Ada', 'ada', 'x'}",
    "name IN {'Ada', nil}", "name BEGINSWITH 'A'", "name BEGINSWITH ''", "name BEGINSWITH[n] 'A'",
    "NOT name BEGINSWITH 'A'", "name ENDSWITH 'a'", "name ENDSWITH ''",
    "name ENDSWITH 'longer than it'",
    "name CONTAINS 'd'", "name CONTAINS ''", "name CONTAINS '%'", "name CONTAINS '_'",
    "'d' IN name",
    "'Ada and Ben' CONTAINS name", "name IN 'Ada and Ben'", "name LIKE 'A?a'", "name LIKE '*'",
    "name LIKE '*a'", "name LIKE '?'", "name LIKE ''", "name LIKE '100% \\\\\\\\ *'",
    "name LIKE '*_x_'",
    "name LIKE '*\\\\*'", "name LIKE[n] 'C*'", "name LIKE nil", "name CONTAINS nil",
    "name MATCHES 'A.*'", "name MATCHES '.*'", "name MATCHES '[A-C][a-z]+'",
    "name MATCHES 'Ada|Ben'",
    "name MATCHES '(?:A|B)(d|e)[^x]'", "name MATCHES '.{3}'", "name MATCHES '[^A]{1,4}'",
    "name MATCHES 'Zo.\\\\n?.*'", "name MATCHES '100% .+'", "NOT name MATCHES 'A.*'",
    "name MATCHES '100\\\\% [\\\\\\\\ _x]+'", "name MATCHES '(Ada)?'",
    "site == 'b:c'", "site BEGINSWITH 'https'", "code == '00000000-0000-0000-0000-00000000000A'",
    "code > '00000000-0000-0000-0000-00000000000A'", "code != nil",
    "photo == nil", "photo != nil", "hired != nil", "hired > CAST(10, 'NSDate')",
    "hired == CAST(0, 'NSDate')",
    "department.name == 'Sales'", "department.name != 'Sales'", "NOT department.name == 'Sales'",
    "department.name == nil", "department == nil", "department != nil", "NOT (department == nil)",
    "department.name BEGINSWITH 'L' OR age > 40", "boss.department.name == 'Sales'",
    "boss.name == 'Ben' AND boss.age > 40", "boss.boss == nil", "boss.department == department",
    "department.name == boss.department.name",
    "badge.number == 42", "badge.owner.name == 'Ada'",
    "age > 30 AND score > 2", "age > 30 OR score > 2", "NOT (age > 30 AND score > 2)",
    "NOT (age > 30 OR score > 2)", "age > 30 AND NOT (score > 2 OR active == YES)",
    "name ==[c] 'ada'", "name ==[d] 'ada'", "name ==[cd] 'ada'", "name !=[cd] 'ADA'",
    "NOT name ==[cd] 'ada'",
    "name ==[cd] 'äda'", "name ==[c] 'äda'", "name ==[c] 'strasse'", "name ==[c] 'STRAẞE'",
    "name ==[c] 'k'",
    "name ==[c] 'σίσυφος'", "name CONTAINS[c] 'D'", "name CONTAINS[cd] 'a'",
    "name BEGINSWITH[c] 'A'",
    "name BEGINSWITH[d] 'A'", "name BEGINSWITH[cd] 'ä'", "name ENDSWITH[c] 'E'",
    "name ENDSWITH[cd] 'DA'",
    "name LIKE[c] 'A*'", "name LIKE[cd] '?da'", "name LIKE[c] 'stra*'", "name <[c] 'b'",
    "name >=[cd] 'c'",
    "name IN[c] {'ADA', 'BEN'}", "name IN[cd] {'ADA', nil}", "NOT name IN[c] {'ADA'}",
    "NOT name ==[c] 'nobody'",
    "'D' IN[c] name",
    "'ADA' ==[c] name", "'xADAx' CONTAINS[c] name", "name BETWEEN[c] {'A', 'C'}",
    "name CONTAINS[c] ''",
    "name ==[l] 'Ada'", "name CONTAINS[c] 'b:c'", "site CONTAINS[c] 'EXAMPLE'", "'a' ==[c] 'A'",
    "boss.name ==[c] 'BEN'", "ANY skills.name ==[c] 'swift'", "ALL skills.name CONTAINS[c] 's'",
    "SUBQUERY(reports, $x, $x.name ==[cd] 'ADA').@count == 2", "department.name ==[c] nil",
    "TRUEPREDICATE", "FALSEPREDICATE", "NOT TRUEPREDICATE", "TRUEPREDICATE AND age == 36",
    "1 == 1", "1 == 2", "'a' == 'a'", "nil == nil",
    "ANY skills.name == 'SQL'", "ANY skills.name != 'SQL'", "NOT ANY skills.name == 'SQL'",
    "NONE skills.name == 'SQL'", "ALL skills.name == 'C'", "NOT ALL skills.name == 'C'",
    "ALL skills.name != 'C'", "ANY skills.name IN {'SQL', 'C'}", "ANY skills.name BEGINSWITH 'S'",
    "ANY reports.age > 10", "ALL reports.age > 10", "ANY reports.skills.name == 'C'",
    "ANY reports.department.name == 'Labs'", "ANY reports.department == nil",
    "ANY reports.score == nil",
    "ALL reports.score > 0", "ANY friends.name == 'Ada'", "ANY friends.skills.name == 'Swift'",
    "ALL reports.skills.name == 'C'", "ANY boss.name == 'Ben'", "ALL boss.name == 'Ben'",
    "NOT ANY boss.name == 'Ben'", "NONE boss.name == 'Ben'", "ANY favorites.name == 'plan'",
    "skills.@count == 3", "skills.@count == 0", "skills.@count > 1", "reports.@count == 2",
    "department.people.@count > 1", "NOT department.people.@count > 1", "count(skills) == 3",
    "reports.@sum.age > 30", "reports.@sum.age == 0", "reports.@max.age == 36",
    "reports.@min.age < 36",
    "reports.@avg.age == 18", "reports.@avg.score > 0", "reports.@max.age == nil",
    "boss.reports.@max.age == 36", "reports.@max.name == 'ada'",
    "SUBQUERY(reports, $x, $x.age > 10).@count > 0",
    "SUBQUERY(skills, $s, $s.name BEGINSWITH 'S').@count == 2",
    "SUBQUERY(reports, $x, $x.age > 10 AND $x.boss.age == age).@count == 0",
    "SUBQUERY(reports, $x, ANY $x.skills.name == 'C').@count == 1",
    "age + 1 == 37", "age - score > 30", "age * 2 == 72", "age / 2 == 18", "age / 0 == 1",
    "score / 2 == 1.25",
    "wage + 1 > 100", "-5 == age", "abs(age) == 5", "age == score + 33.5",
    "entity.name == 'Manager'", "entity.name != 'Manager'", "entity.name IN {'Manager'}",
    "boss.entity.name == 'Manager'", "objectID != nil", "self != nil",
  ]

  @Test("A predicate finds the same objects as in a SQLite store", arguments: formats)
  func samePredicates(format: String) throws {
    let predicate = NSPredicate(format: format)
    var failures: [String] = []
    let found = try SameData.shared.get().results { context in
      do {
        return try Self.matches(context, predicate).sorted()
      } catch {
        failures.append(error.localizedDescription)
        return ["error"]
      }
    }
    #expect(found.postgres == found.sqlite, "\(format) \(failures)")
    #expect(failures.isEmpty)
  }

  @Test("Random combinations of the predicates find the same objects as in a SQLite store")
  func sameCombinations() throws {
    var generator = SeededGenerator(seed: 7)
    func combination(_ depth: Int) -> NSPredicate {
      let choice = depth == 0 ? 0 : Int.random(in: 0..<4, using: &generator)
      switch choice {
      case 1: return NSCompoundPredicate(notPredicateWithSubpredicate: combination(depth - 1))
      case 2, 3:
        let parts = (0..<Int.random(in: 2...3, using: &generator)).map { _ in
          combination(depth - 1)
        }
        return NSCompoundPredicate(type: choice == 2 ? .and : .or, subpredicates: parts)
      default:
        return NSPredicate(
          format: Self.formats[Int.random(in: Self.formats.indices, using: &generator)])
      }
    }
    let predicates = (0..<250).map { _ in combination(3) }
    let found = try SameData.shared.get().results { context in
      try predicates.map { try Self.matches(context, $0).sorted() }
    }
    for (index, predicate) in predicates.enumerated() {
      #expect(found.postgres[index] == found.sqlite[index], "\(predicate)")
    }
  }

  @Test("Objects, object IDs, lists of them, and entities are compared by key")
  func objectsAreCompared() throws {
    let found = try SameData.shared.get().results { context in
      let (ada, ben) = (try context.named("Ada"), try context.named("Ben"))
      let sales = try context.named("Sales", "Department")
      let skill = try context.named("SQL", "Skill")
      let new = context.insert("Person", ["name": "new"])
      let predicates = [
        NSPredicate(format: "self == %@", ada), NSPredicate(format: "self != %@", ada.objectID),
        NSPredicate(format: "SELF IN %@", [ada, ben]),
        NSPredicate(format: "NOT self IN %@", [ada.objectID, ben.objectID]),
        NSPredicate(format: "self IN %@", [NSManagedObject]()),
        NSPredicate(format: "boss == %@", ben), NSPredicate(format: "boss != %@", ben),
        NSPredicate(format: "boss IN %@", Set([ben])), NSPredicate(format: "boss == %@", ada),
        NSPredicate(format: "department == %@", ada), NSPredicate(format: "department != %@", ada),
        NSPredicate(format: "boss == %@", new), NSPredicate(format: "boss != %@", new),
        NSPredicate(format: "skills CONTAINS %@", skill),
        NSPredicate(format: "%@ IN skills", skill),
        NSPredicate(format: "ANY skills == %@", skill),
        NSPredicate(format: "ALL skills == %@", skill),
        NSPredicate(format: "ANY skills IN %@", [skill]),
        NSPredicate(format: "ANY department.people == %@", ben),
        NSPredicate(format: "department == %@ OR boss == %@", sales, ben),
        NSPredicate(format: "entity == %@", ben.entity),
        NSPredicate(format: "hired == %@", Date(timeIntervalSinceReferenceDate: 1000.5)),
        NSPredicate(format: "hired < %@", Date(timeIntervalSinceReferenceDate: 1000.5)),
        NSPredicate(format: "photo == %@", Data([1, 2, 3])),
        NSPredicate(
          format: "code == %@", UUID(uuidString: "00000000-0000-0000-0000-00000000000A")),
        NSPredicate(format: "site == %@", URL(string: "b:c")),
        NSPredicate(format: "name IN %@", (0..<5000).map { "x\($0)" } + ["Ada"]),
        NSPredicate(format: "wage == %@", NSDecimalNumber(string: "100.10")),
      ]
      return try predicates.map { predicate in
        try Self.matches(context, predicate) { $0.includesPendingChanges = false }.sorted()
      }
    }
    #expect(found.postgres == found.sqlite)
    #expect(found.postgres.contains { !$0.isEmpty })
  }

  @Test(
    "Sort descriptors, limits, and offsets give the same order",
    arguments: [
      ["age"], ["-age", "name"], ["name"], ["-name"], ["department.name", "name", "age"],
      ["-department.name", "-name"], ["boss.department.name", "-score", "name", "age"],
      ["active", "name", "age"], ["skills.@count", "name", "age"],
      ["-reports.@max.age", "name", "age"],
      ["code", "age", "name"], ["wage", "age", "name"], ["self"],
    ])
  func sameOrder(keys: [String]) throws {
    let pages = [(0, 0), (3, 0), (3, 2), (0, 4), (100, 100)]
    let found = try SameData.shared.get().results { context in
      try pages.map { limit, offset in
        try Self.matches(context, nil) { request in
          request.sortDescriptors = keys.map { key in
            key.hasPrefix("-")
              ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false)
              : NSSortDescriptor(key: key, ascending: true)
          }
          request.fetchLimit = limit
          request.fetchOffset = offset
        }
      }
    }
    // Objects have no common order of keys, so only their numbers are the same.
    if keys == ["self"] {
      #expect(found.postgres.map(\.count) == found.sqlite.map(\.count))
    } else {
      #expect(found.postgres == found.sqlite)
    }
  }

  @Test("Entities below others, and counts and object IDs of the same requests")
  func subentitiesAndOtherResults() throws {
    let found = try SameData.shared.get().results { context in
      var results: [[String]] = []
      for entity in ["Person", "Manager"] {
        for includes in [true, false] {
          for format in ["age > 36", "level > 2", "name != nil"]
          where
            entity == "Manager" || format != "level > 2"
          {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.includesSubentities = includes
            request.predicate = NSPredicate(format: format)
            request.fetchLimit = 4
            let count = try context.count(for: request)
            let objects = try context.fetch(request)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: entity)
            ids.resultType = .managedObjectIDResultType
            ids.includesSubentities = includes
            ids.predicate = request.predicate
            ids.fetchLimit = 4
            let identified = Set(try context.fetch(ids))
            #expect(identified == Set(objects.map(\.objectID)))
            results.append(["\(count)"] + objects.compactMap(\.name).sorted())
          }
        }
      }
      return results
    }
    #expect(found.postgres == found.sqlite)
  }

  @Test(
    "What SQL can't express is error 134060, which says what and why",
    arguments: [
      ("name ==[c] boss.name", "Unicode"), ("name MATCHES[c] 'a'", "Unicode"),
      ("ANY reports.name ==[c] name", "Unicode"), ("reports.@max.name ==[c] 'a'", "Unicode"),
      ("name MATCHES '\\\\d+'", "regular expressions"),
      ("name MATCHES ''", "regular expressions"), ("name MATCHES '(a'", "regular expressions"),
      ("name MATCHES '^a$'", "regular expressions"),
      ("name LIKE site", "pattern"), ("uppercase(name) == 'ADA'", "uppercase:"),
      ("name == age", "a string"), ("age == 'old'", "compared"),
      ("missing == 1", "no property missing"),
      ("department == 5", "object ID"), ("skills == 1", "ANY"), ("skills.name == 'C'", "ANY"),
      ("department.name.x == 1", "past it"), ("name isEqualToString: 'a'", "method"),
      ("$x == 1", "variable"), ("BLOCK", "memory"), ("DEEP", "nested"), ("DEEP SUM", "nested"),
    ])
  func refusedPredicates(format: String, reason: String) throws {
    let predicate: NSPredicate
    switch format {
    case "BLOCK": predicate = NSPredicate { _, _ in true }
    case "DEEP":
      predicate = (0..<400).reduce(NSPredicate(format: "age == 1")) { inner, _ in
        NSCompoundPredicate(notPredicateWithSubpredicate: inner)
      }
    case "DEEP SUM":
      let sum = (0..<400).reduce(NSExpression(forKeyPath: "age")) { inner, _ in
        NSExpression(forFunction: "add:to:", arguments: [inner, NSExpression(forConstantValue: 1)])
      }
      predicate = NSComparisonPredicate(
        leftExpression: sum, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct,
        type: .equalTo)
    default: predicate = NSPredicate(format: format)
    }
    let stack = try PostgresStack(SampleModels.company())
    let context = stack.context()
    context.performAndWait {
      let error = #expect(throws: NSError.self) { try Self.matches(context, predicate) }
      #expect(error?.code == NSCoreDataError)
      #expect(error?.localizedDescription.contains(reason) == true, "\(error as Any)")
    }
  }

  @Test("Strings from outside are values, whatever they contain")
  func hostileStringsAreValues() throws {
    let stack = try PostgresStack(SampleModels.company())
    let context = stack.context()
    let names = ["'; DROP TABLE \"Person\"; --", "\\'", "$1", "\"", "%", "_", "\u{FEFF}", "a\\"]
    try context.performAndWait {
      for name in names { context.insert("Person", ["name": name]) }
      try context.save()
      for name in names {
        for format in [
          "name == %@", "name BEGINSWITH %@", "name ENDSWITH %@", "name CONTAINS %@",
          "name IN {%@, 'x'}",
        ] {
          let found = try context.fetch(
            {
              let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
              request.predicate = NSPredicate(format: format, name)
              return request
            }())
          let isPart = { (whole: String) in
            switch format {
            case "name BEGINSWITH %@": whole.hasPrefix(name)
            case "name ENDSWITH %@": whole.hasSuffix(name)
            case "name CONTAINS %@": whole.contains(name)
            default: whole == name
            }
          }
          #expect(Set(found.compactMap(\.name)) == Set(names.filter(isPart)), "\(format) \(name)")
        }
      }
    }
    // The server refuses NUL, also in a parameter.
    context.performAndWait {
      let error = #expect(throws: NSError.self) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@", "a\u{0}b")
        return try context.fetch(request)
      }
      #expect(error?.userInfo[PostgresSQLStateErrorKey] as? String == "22021")
    }
  }
}
