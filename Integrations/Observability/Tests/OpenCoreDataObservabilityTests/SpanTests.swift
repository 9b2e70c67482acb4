import CoreDataCosts
import InMemoryLogging
import InMemoryTracing
import MetricsTestKit
import OpenCoreData
import OpenCoreDataObservability
import Testing
import Tracing

@Suite("Spans")
struct SpanTests {
  @Test func aFetchHasTheSpansOfItsStatements() throws {
    let store = try MoodStore(moods: 6, countries: 3)
    try store.perform { try store.readCountries($0, prefetching: true) }
    let trees = SpanTree.trees(of: store.tracer.popFinishedSpans())
    #expect(
      trees.map(\.outline) == ["fetch Mood [SELECT ZMOOD, prefetch Mood.country [SELECT ZCOUNTRY]]"]
    )
    let fetch = try #require(trees.first)
    #expect(fetch.span.kind == .internal && fetch.span.status == nil && fetch.span.errors.isEmpty)
    #expect(
      fetch.span.texts == [
        "coredata.operation": "fetch", "coredata.entity": "Mood", "coredata.count": "6",
      ])
    let select = try #require(fetch.children.first?.span)
    var texts = select.texts
    let removed = texts.removeValue(forKey: "db.query.text")
    let text = try #require(removed)
    #expect(text.hasPrefix("SELECT 0, t0.Z_PK, t0.Z_OPT") && text.contains("FROM ZMOOD t0"))
    #expect(
      texts == [
        "db.system.name": "sqlite", "db.operation.name": "SELECT", "db.collection.name": "Mood",
        "db.query.summary": "SELECT ZMOOD", "db.response.returned_rows": "6",
      ])
    #expect(select.kind == .client)
    let (begin, end) = (fetch.span.startInstant, fetch.span.endInstant)
    #expect(begin.nanosecondsSinceEpoch <= select.startInstant.nanosecondsSinceEpoch)
    #expect(select.endInstant.nanosecondsSinceEpoch <= end.nanosecondsSinceEpoch)
  }

  @Test("A fault storm has spans for each fault that the store fulfills", arguments: [false, true])
  func storm(isPrefetched: Bool) throws {
    let store = try MoodStore(moods: 40, countries: 40)
    try store.perform { try store.readCountries($0, prefetching: isPrefetched) }
    let outlines = SpanTree.trees(of: store.tracer.popFinishedSpans()).map(\.outline)
    #expect(
      outlines
        == (isPrefetched
          ? ["fetch Mood [SELECT ZMOOD, prefetch Mood.country [SELECT ZCOUNTRY]]"]
          : ["fetch Mood [SELECT ZMOOD]"]
            + Array(repeating: "fault Country [SELECT ZCOUNTRY]", count: 40)))
  }

  @Test func aSaveHasOneSpanForTheExecutionsOfAStatement() throws {
    let store = try MoodStore(moods: 0, countries: 1)
    try store.perform { context in
      for number in 0..<3 {
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        mood.setValue("melancholy \(number)", forKey: "text")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
      request.fetchLimit = 1
      for mood in try context.fetch(request) { context.delete(mood) }
      try context.save()
    }
    let spans = store.tracer.popFinishedSpans()
    #expect(
      SpanTree.trees(of: spans).map(\.outline) == [
        "save [transaction, transaction [BATCH INSERT ZMOOD]]", "fetch Mood [SELECT ZMOOD]",
        "save [transaction [DELETE ZMOOD]]",
      ])
    let insert = try #require(spans.first { $0.operationName == "BATCH INSERT ZMOOD" }).texts
    #expect(insert["db.operation.name"] == "BATCH INSERT")
    #expect(insert["db.operation.batch.size"] == "3" && insert["db.response.returned_rows"] == nil)
    #expect(insert["db.query.text"]?.hasPrefix("INSERT INTO ZMOOD(Z_PK, ") == true)
  }

  @Test func nothingPrivateIsExported() throws {
    let store = try MoodStore(moods: 3, countries: 3)
    #expect(throws: NSError.self) {
      try store.perform { context in
        let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: context)
        country.setValue("country 1", forKey: "name")
        try store.readCountries(context)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
        request.predicate = NSPredicate(format: "text = %@", "melancholy 2")
        _ = try context.fetch(request)
        try context.save()
      }
    }
    let spans = store.tracer.popFinishedSpans()
    let exported = spans.map { "\($0.operationName) \($0.texts) \($0.status as Any) \($0.errors)" }
    let lines = store.log.entries.map { "\($0.message) \($0.metadata)" }
    let metrics = store.metrics.counters.map { "\($0.label) \($0.dimensions)" }
    #expect(spans.count > 5 && lines.count > 3 && metrics.count > 3)
    for text in exported + lines + metrics {
      #expect(!store.secrets.contains { text.contains($0) }, "\(text)")
    }
  }

  @Test func aFailureHasAnErrorTypeAndTheStatusOfAnError() throws {
    let store = try MoodStore(moods: 0, countries: 2)
    #expect(throws: NSError.self) {
      try store.perform { context in
        let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: context)
        country.setValue("country 1", forKey: "name")
        try context.save()
      }
    }
    let spans = store.tracer.popFinishedSpans()
    #expect(
      SpanTree.trees(of: spans).map(\.outline) == [
        "save [transaction, transaction [INSERT ZCOUNTRY], SELECT ZCOUNTRY]"
      ])
    let save = try #require(spans.first { $0.operationName == "save" })
    #expect(save.texts["error.type"] == "NSCocoaErrorDomain.\(NSManagedObjectConstraintMergeError)")
    #expect(save.status?.code == .error && save.status?.message == nil)
    let insert = try #require(spans.first { $0.operationName == "INSERT ZCOUNTRY" })
    #expect(
      insert.texts["error.type"] == "2067" && insert.texts["db.response.status_code"] == "2067")
    #expect(insert.status?.code == .error)
    let select = try #require(spans.first { $0.operationName == "SELECT ZCOUNTRY" })
    #expect(select.status == nil && select.texts["error.type"] == nil)
  }

  @Test func theParentIsTheSpanOfTheCaller() async throws {
    let store = try MoodStore(moods: 2, countries: 1)
    let context = store.container.newBackgroundContext()
    let request = { @Sendable in NSFetchRequest<NSManagedObject>(entityName: "Mood") }
    try await store.tracer.withSpan("one") { _ in
      _ = try await context.perform { try context.count(for: request()) }
      try context.performAndWait { _ = try context.count(for: request()) }
    }
    try store.tracer.withSpan("two") { _ in
      try context.performAndWait { _ = try context.count(for: request()) }
    }
    try await withThrowingTaskGroup { group in
      for _ in 0..<50 {
        group.addTask {
          try await store.tracer.withSpan("task") { _ in
            _ = try await context.perform { try context.count(for: request()) }
          }
        }
      }
      try await group.waitForAll()
    }
    let count = "fetch Mood [SELECT ZMOOD]"
    let outlines = SpanTree.trees(of: store.tracer.popFinishedSpans()).map(\.outline)
    #expect(
      outlines.sorted()
        == (["one [\(count), \(count)]"] + Array(repeating: "task [\(count)]", count: 50)
          + ["two [\(count)]"]))
  }

  @Test func optionsLimitWhatSpansContain() throws {
    let operations = try MoodStore(moods: 3, countries: 3) { $0.spans = .operations }
    try operations.perform { try operations.readCountries($0) }
    #expect(
      operations.tracer.popFinishedSpans().map(\.operationName)
        == ["fetch Mood", "fault Country", "fault Country", "fault Country"])
    let none = try MoodStore(moods: 3, countries: 3) { $0.spans = .none }
    try none.perform { try none.readCountries($0) }
    #expect(none.tracer.popFinishedSpans().isEmpty)
    let silent = try MoodStore(moods: 3, countries: 3) {
      ($0.includesQueryText, $0.namespace, $0.system) = (false, "moods", "other_sql")
    }
    try silent.perform { try silent.readCountries($0) }
    let statements = silent.tracer.popFinishedSpans().filter { $0.kind == .client }
    #expect(statements.count == 4 && statements.allSatisfy { $0.texts["db.query.text"] == nil })
    #expect(statements.allSatisfy { $0.texts["db.namespace"] == "moods" })
    #expect(statements.allSatisfy { $0.texts["db.system.name"] == "other_sql" })
  }

  @Test func aTracerOfTheTaskIsUsed() throws {
    let store = try MoodStore(moods: 1, countries: 1) { $0.tracer = nil }
    let tracer = InMemoryTracer()
    try withTracer(tracer) { try store.perform { try store.readCountries($0) } }
    #expect(tracer.finishedSpans.count == 4 && store.tracer.finishedSpans.isEmpty)
  }
}
