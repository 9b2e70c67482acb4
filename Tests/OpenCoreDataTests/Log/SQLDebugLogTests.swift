import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("SQLDebug lines")
struct SQLDebugLogTests {
  @Test("S15-1 opening a store names its file, once")
  func openingAStoreLogsItsFileOnce() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(1, countries: 1)
    let lines = LineList()
    let context = try stack.coldContext(sinks: [SQLDebugLog(level: 1) { lines.add($0) }])
    try context.performAndWait { _ = try Mood.fetch(in: context) }
    let expected =
      "CoreData: annotation: Connecting to sqlite database file at \"\(stack.storeURL.path)\""
    #expect(lines.lines.first == expected)
    #expect(lines.lines.count { $0.contains("Connecting") } == 1)
  }

  @Test("S15-2 a batched fetch logs its object IDs, then its batch, each with two times")
  func batchedFetchLogsObjectIDsThenTheBatch() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(0, countries: 5, continents: 1)
    let lines = LineList()
    let context = try stack.coldContext()
    context.persistentStoreCoordinator?.eventHub.add(SQLDebugLog(level: 1) { lines.add($0) })
    try context.performAndWait {
      let request = NSFetchRequest<Region>(entityName: "Region")
      request.predicate = NSPredicate(format: "numberOfMoods == 0")
      request.sortDescriptors = [NSSortDescriptor(key: "updatedAt", ascending: false)]
      request.fetchBatchSize = 20
      _ = try context.fetchBatched(request)[0].objectID
    }
    let shapes = lines.lines.filter { $0.hasPrefix("CoreData: ") }
      .map(SQLDebugLogTests.withoutTimes)
    #expect(
      shapes == [
        "CoreData: sql: SELECT t0.Z_ENT, t0.Z_PK FROM ZREGION t0 WHERE  t0.ZNUMBEROFMOODS = ? "
          + "ORDER BY t0.ZUPDATEDAT DESC",
        "CoreData: annotation: sql connection fetch time: Ts",
        "CoreData: annotation: total fetch execution time: Ts for 6 rows.",
        "CoreData: annotation: Bound intarray _Z_intarray0",
        "CoreData: annotation: Bound intarray values.",
        "CoreData: sql: SELECT t0.Z_ENT, t0.Z_PK, t0.Z_OPT, t0.ZNUMBEROFMOODS, "
          + "t0.ZNUMERICISO3166CODE, t0.ZUPDATEDAT, t0.ZNUMBEROFCOUNTRIES, t0.ZCONTINENT "
          + "FROM ZREGION t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)   LIMIT 20",
        "CoreData: annotation: sql connection fetch time: Ts",
        "CoreData: annotation: total fetch execution time: Ts for 6 rows.",
      ])
  }

  @Test("S15-8 each fault that misses is a single-row SELECT and a line with its URI")
  func eachFaultMissLogsASelectAndItsURI() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(7, countries: 1)
    let lines = LineList()
    let context = try stack.coldContext(sinks: [SQLDebugLog(level: 1) { lines.add($0) }])
    let uris = try context.performAndWait {
      let moods = try Mood.fetch(in: context) { $0.includesPropertyValues = false }
      for mood in moods { _ = mood.date }
      return moods.map { $0.objectID.uriRepresentation().absoluteString }
    }
    let faults = lines.lines.filter { $0.contains("fault fulfilled from database for : 0x") }
    #expect(faults.count == 7)
    for (line, uri) in zip(faults, uris) { #expect(line.hasSuffix(" <\(uri)>")) }
    #expect(lines.lines.count { $0.hasSuffix("FROM ZMOOD t0 WHERE  t0.Z_PK = ?") } == 7)
  }

  @Test("Counts and prefetches have their own lines; bound values are logged from level 2")
  func logsCountsPrefetchesAndBoundValues() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(4, countries: 2)
    let lines = LineList()
    let context = try stack.coldContext(
      sinks: [SQLDebugLog(level: 2, showsBinds: true) { lines.add($0) }])
    try context.performAndWait {
      _ = try Country.count(in: context) {
        $0.predicate = NSPredicate(format: "numericISO3166Code == 1")
      }
      _ = try Mood.fetch(in: context) { $0.relationshipKeyPathsForPrefetching = ["country"] }
    }
    let shapes = Set(lines.lines.map(SQLDebugLogTests.withoutTimes))
    #expect(
      shapes.contains(
        "CoreData: annotation: total count request execution time: Ts for count of 1."))
    #expect(shapes.contains("CoreData: details: SQLite bind[0] = 1"))
    #expect(shapes.contains("CoreData: annotation: Prefetching with key 'country'.  Got 2 rows."))
    #expect(
      lines.lines.last.map(SQLDebugLogTests.withoutTimes)
        == "CoreData: annotation: total fetch execution time: Ts for 4 rows.")
  }

  @Test("The level is set by argument or environment")
  func levelComesFromArgumentOrEnvironment() {
    let flag = "-com.apple.CoreData.SQLDebug"
    #expect(SQLDebugLog.requestedLevel(["program", flag, "3"], nil) == 3)
    #expect(SQLDebugLog.requestedLevel(["program", flag, "0"], "2") == 0)
    #expect(SQLDebugLog.requestedLevel(["program", flag], "2") == 2)
    #expect(SQLDebugLog.requestedLevel(["program", "-com.apple.coredata.sqldebug", "3"], nil) == 0)
    #expect(SQLDebugLog.requestedLevel(["program", flag, "x"], nil) == 0)
    #expect(SQLDebugLog.requestedLevel([], "-1") == 0)
  }

  /// A line with its times replaced.
  static func withoutTimes(_ line: String) -> String {
    line.replacing(/\d+\.\d{4}s/, with: "Ts")
  }
}
