import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Levels of the SQL log")
struct SQLDebugLevelTests {
  /// The lines logged at a level, with times replaced.
  private func lines(
    _ level: Int, of stack: TestStack, showsBinds: Bool = true,
    _ work: (NSManagedObjectContext) throws -> Void
  ) throws -> [String] {
    let list = LineList()
    let log = SQLDebugLog(level: level, showsBinds: showsBinds) { list.add($0) }
    let context = try stack.coldContext(sinks: [log])
    try context.performAndWait { try work(context) }
    return list.lines.map(SQLDebugLogTests.withoutTimes)
  }

  /// Fetches, a count, a prefetch, a batch, faults of both kinds, and one row-cache miss.
  private func everything(_ context: NSManagedObjectContext) throws {
    let moods = try Mood.fetch(in: context) {
      $0.predicate = NSPredicate(format: "date >= 0")
      $0.relationshipKeyPathsForPrefetching = ["country"]
    }
    _ = try Country.count(in: context) {
      $0.predicate = NSPredicate(format: "numericISO3166Code > 0")
    }
    let request = NSFetchRequest<Region>(entityName: "Region")
    request.fetchBatchSize = 2
    let regions = try context.fetchBatched(request)
    _ = regions[0].updatedAt
    for mood in moods { _ = mood.country?.continent?.numericISO3166Code }
    _ = moods.first?.country?.moods
    context.reset()
    _ = try Mood.fetch(in: context) {
      $0.includesPropertyValues = false
      $0.fetchLimit = 1
    }.map(\.date)
  }

  @Test("S-H11 levels are cumulative, level 0 is silent, and fulfilled faults differ from fetches")
  func eachLevelContainsTheLinesOfTheOneBelow() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(4, countries: 2)
    var below: [String] = []
    for level in 0...4 {
      let lines = try lines(level, of: stack, everything)
      if level == 0 { #expect(lines.isEmpty) }
      // A line of a higher level may continue one of a lower level.
      var rest = lines[...]
      for line in below {
        let index = rest.firstIndex { $0.hasPrefix(line) }
        #expect(index != nil, "level \(level) lacks: \(line)")
        rest = index.map { rest[($0 + 1)...] } ?? rest
      }
      if level > 0 { #expect(lines.count > below.count, "level \(level) adds nothing") }
      below = lines
    }
    let faults = below.filter { $0.contains("fault fulfilled from database for : 0x") }
    let fill = try #require(below.lastIndex { $0.hasSuffix("FROM ZMOOD t0 WHERE  t0.Z_PK = ?") })
    #expect(faults.count == 1 && below.firstIndex(of: faults[0]).map { $0 > fill } == true)
    #expect(below.count { $0.hasPrefix("cdprof: annotation: fault fulfilled from row cache") } > 1)
  }

  @Test("Level 4 logs SQL, bound values, times, result, and plan of a fetch, in this order")
  func logsOneFetchAtTheHighestLevel() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(2, countries: 1, continents: 0)
    let list = LineList()
    let context = try stack.coldContext()
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    context.persistentStoreCoordinator?.eventHub.add(
      SQLDebugLog(level: 4, showsBinds: true) { list.add($0) })
    try context.performAndWait {
      _ = try Mood.fetch(in: context) {
        $0.predicate = NSPredicate(format: "date < 60")
        $0.includesPropertyValues = false
      }
      _ = try Mood.count(in: context) { $0.predicate = NSPredicate(format: "date < 60") }
    }
    let sql = "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZDATE < ?"
    let count = "SELECT COUNT(*) FROM ZMOOD t0 WHERE  t0.ZDATE < ?"
    let plans = list.lines.filter { $0.hasPrefix("cdprof: plan: ") }
    #expect(plans.count == 2)
    let uri = "x-coredata://\(store.identifier)/Mood/p1"
    #expect(
      list.lines.map(SQLDebugLogTests.withoutTimes).filter { !$0.hasPrefix("cdprof: ") } == [
        "CoreData: sql: \(sql)", "CoreData: details: SQLite bind[0] = 60.0",
        "CoreData: annotation: sql connection fetch time: Ts",
        "CoreData: annotation: fetch using NSSQLiteStatement <0x1> on entity 'Mood' with sql text "
          + "'\(sql) ' returned 1 rows with values: (",
        "    \"<Mood: 0x1> (entity: Mood; id: 0x1 <\(uri)> ; data: <fault>)\"", ")",
        "CoreData: annotation: total fetch execution time: Ts for 1 rows.",
        "CoreData: details: SQLite: EXPLAIN QUERY PLAN \(sql)",
        "CoreData: sql: \(count)", "CoreData: details: SQLite bind[0] = 60.0",
        "CoreData: annotation: count request <NSFetchRequest: 0x3> (entity: Mood; predicate: "
          + "(date < 60); sortDescriptors: ((null)); type: NSCountResultType;) returned 1",
        "CoreData: annotation: total count request execution time: Ts for count of 1.",
        "CoreData: details: SQLite: EXPLAIN QUERY PLAN \(count)",
      ])
  }

  @Test("Both SELECTs of a many-to-many prefetch have a total time")
  func bothSelectsOfAManyToManyPrefetchAreTimed() throws {
    let stack = try TestStack(model: KinshipModel.make())
    let writer = try stack.coldContext()
    try writer.performAndWait {
      let people = (0..<3).map { _ in
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: writer)
      }
      people[0].setValue(Set(people[1...]), forKey: "reports")
      try writer.save()
    }
    let lines = try lines(1, of: stack) { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.relationshipKeyPathsForPrefetching = ["reports"]
      let people = try context.fetch(request)
      #expect(people.count == 3)
    }
    let shapes = lines.filter { !$0.contains("Connecting") }.compactMap { line in
      ["sql: SELECT", "connection", "total", "Prefetching"].first { line.contains($0) }
    }.drop { $0 != "connection" }
    #expect(
      Array(shapes) == [
        "connection", "sql: SELECT", "connection", "total", "sql: SELECT", "connection", "total",
        "Prefetching", "total",
      ])
  }

  @Test("A save's own SELECTs have no total time, even if there are several")
  func selectsOfASaveHaveNoTotalTime() throws {
    let stack = try TestStack(model: KinshipModel.make())
    let writer = try stack.coldContext()
    func make(_ entity: String) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: writer)
      object.setValue("a", forKey: "name")
      return object
    }
    try writer.performAndWait {
      for _ in 0..<3 {
        make("List").mutableOrderedSetValue(forKey: "tags").add(make("Tag"))
      }
      try writer.save()
    }
    let lines = try lines(1, of: stack) { context in
      let tag = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))[0]
      for list in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "List")) {
        list.mutableOrderedSetValue(forKey: "tags").add(tag)
      }
      try context.save()
    }
    // The save reads the order keys of each list that gets the tag.
    let begin = try #require(lines.firstIndex { $0.contains("BEGIN EXCLUSIVE") })
    let save = lines[begin...]
    #expect(save.count { $0.contains("sql: SELECT") } == 2)
    #expect(save.count { $0.contains("sql connection fetch time") } == 2)
    #expect(!save.contains { $0.contains("total fetch execution time") })
  }

  @Test("The SELECTs that read conflicting rows have no total time")
  func selectsOfConflictsHaveNoTotalTime() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(3, countries: 1)
    let lines = try lines(1, of: stack) { context in
      context.mergePolicy = NSMergePolicy.overwrite
      for mood in try Mood.fetch(in: context) { mood.setValue(2.0, forKey: "latitude") }
      let other = try stack.coldContext()
      try other.performAndWait {
        for mood in try Mood.fetch(in: other) { mood.setValue(1.0, forKey: "latitude") }
        try other.save()
      }
      try context.save()
    }
    let end = try #require(lines.firstIndex { $0.contains("sql: ROLLBACK") })
    #expect(lines[end...].count { $0.contains("sql: SELECT 0, ") } == 3)
    #expect(!lines[end...].contains { $0.contains("total fetch execution time") })
  }

  @Test("A bound string doesn't break its line, and values are private by default")
  func boundStringsAreEscapedAndPrivateByDefault() throws {
    let stack = try TestStack(model: KinshipModel.make())
    let evil = "a\"\nCoreData: sql: COMMIT\u{1B}[2J"
    func logged(_ shows: Bool, _ level: Int) throws -> [String] {
      try lines(level, of: stack, showsBinds: shows) { context in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@", evil)
        let count = try context.count(for: request)
        #expect(count == 0)
      }
    }
    let shown = try logged(true, 3)
    #expect(
      shown.contains(
        "CoreData: details: SQLite bind[0] = \"a\"\\nCoreData: sql: COMMIT\\u{1b}[2J\""))
    #expect(shown.allSatisfy { !$0.contains("\n") && !$0.contains("\u{1B}") })
    for level in 1...4 {
      let kept = try logged(false, level)
      #expect(kept.allSatisfy { !$0.contains("[2J") }, "level \(level)")
      let hides = kept.contains("CoreData: details: SQLite bind[0] = <private>")
      #expect(hides == (level > 1))
    }
  }

  @Test("S15-1 opening a store logs its pragmas and probes, and creating one logs its tables")
  func openingAndCreatingAStoreLogTheirStatements() throws {
    let stack = try TestStack.moody()
    let made = try lines(1, of: stack) { _ in }
    #expect(made[0].hasPrefix("CoreData: annotation: Connecting to sqlite database file at \"/"))
    #expect(made.contains("CoreData: sql: pragma auto_vacuum=2"))
    #expect(made.contains { $0.hasPrefix("CoreData: sql: CREATE TABLE ZMOOD ") })
    let opened = try lines(1, of: stack) { _ in }.filter { $0.hasPrefix("CoreData: ") }
    #expect(
      opened.dropFirst() == [
        "CoreData: sql: pragma journal_mode=wal",
        "CoreData: sql: SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = 'Z_METADATA'",
        "CoreData: sql: SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA",
      ])
  }

  @Test("S15-16 a save of six objects is one event with a time, which Core Data's log lacks")
  func saveIsOneTimedEvent() throws {
    let stack = try TestStack.moody()
    let events = EventList()
    let list = LineList()
    let context = try stack.coldContext()
    context.persistentStoreCoordinator?.eventHub.add(events)
    context.persistentStoreCoordinator?.eventHub.add(SQLDebugLog(level: 1) { list.add($0) })
    try context.performAndWait {
      for index in 0..<3 {
        let mood = Mood(context: context)
        mood.date = Date(timeIntervalSinceReferenceDate: 1)
        mood.colors = Data([1])
        mood.country = Country(context: context)
        mood.country?.numericISO3166Code = Int16(index + 1)
      }
      try context.save()
    }
    let saves = events.events.filter { $0.kind == .save }
    #expect(saves.count == 1 && saves[0].rows == 6 && saves[0].duration > 0)
    let (apple, own) = (
      list.lines.filter { $0.hasPrefix("CoreData: ") },
      list.lines.filter { $0.hasPrefix("cdprof: ") }
    )
    #expect(apple.allSatisfy { $0.hasPrefix("CoreData: sql: ") })
    #expect(
      own.last.map(SQLDebugLogTests.withoutTimes)
        == "cdprof: annotation: save execution time: Ts for 6 objects.")
  }
}
