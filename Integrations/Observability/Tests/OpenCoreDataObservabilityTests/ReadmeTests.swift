import InMemoryLogging
import InMemoryTracing
import MetricsTestKit
import OpenCoreData
import Testing
import Tracing

@testable import OpenCoreDataObservability

/// The tables of the README are those of the code; `CDPROF_UPDATE_DOCS=1` writes them.
@Suite("The README")
struct ReadmeTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../README.md")

  private static var attributes: String {
    let rows = AttributeName.allCases.map { name in
      let places = name.places.map(\.rawValue).joined(separator: ", ")
      return "| `\(name.rawValue)` | \(places) | \(name.meaning) |"
    }
    return (["| name | in | value |", "| --- | --- | --- |"] + rows).joined(separator: "\n")
  }

  private static var metrics: String {
    let rows = MetricName.allCases.map { name in
      let dimensions = name.dimensions.map { "`\($0.rawValue)`" }.joined(separator: ", ")
      let cell = dimensions.isEmpty ? "–" : dimensions
      return "| `\(name.rawValue)` | \(name.type) | \(cell) | \(name.meaning) |"
    }
    return (["| name | type | dimensions | measures |", "| --- | --- | --- | --- |"] + rows)
      .joined(separator: "\n")
  }

  @Test(arguments: [("attributes", ReadmeTests.attributes), ("metrics", ReadmeTests.metrics)])
  func tableIsCurrent(name: String, table: String) throws {
    let text = try String(contentsOf: Self.file, encoding: .utf8)
    let begin = try #require(text.range(of: "<!-- \(name) -->\n"))
    let end = try #require(
      text.range(of: "\n<!-- end -->", range: begin.upperBound..<text.endIndex))
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] == "1" {
      try text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: table)
        .write(to: Self.file, atomically: true, encoding: .utf8)
      return
    }
    #expect(
      text[begin.upperBound..<end.lowerBound] == table,
      "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  @Test("Spans, metrics, and lines have the names of the tables where the tables state it")
  func namesAreUsed() throws {
    var used: [AttributeName.Place: Set<String>] = [:]
    var labels: [String: Set<String>] = [:]
    for isPrefetched in [false, true] {
      let store = try MoodStore(moods: 3, countries: 3) {
        ($0.namespace, $0.slowDuration) = ("moods", .zero)
      }
      #expect(throws: NSError.self) { try store.perform { try use($0, of: store, isPrefetched) } }
      for span in store.tracer.finishedSpans {
        used[span.kind == .client ? .statement : .operation, default: []]
          .formUnion(span.texts.keys)
      }
      for entry in store.log.entries { used[.line, default: []].formUnion(entry.metadata.keys) }
      let metrics =
        store.metrics.counters.map { ($0.label, $0.dimensions) }
        + store.metrics.timers.map { ($0.label, $0.dimensions) }
        + store.metrics.recorders.map { ($0.label, $0.dimensions) }
      for (label, dimensions) in metrics {
        labels[label, default: []].formUnion(dimensions.map(\.0))
        used[.metric, default: []].formUnion(dimensions.map(\.0))
      }
    }
    for place in AttributeName.Place.allCases {
      let names = AttributeName.allCases.filter { $0.places.contains(place) }.map(\.rawValue)
      // The framework's own tests have too many operations for spans.
      let tested = Set(names).subtracting(["coredata.omitted"])
      #expect(used[place] == tested, "\(place)")
    }
    let names = MetricName.allCases.map { ($0.rawValue, Set($0.dimensions.map(\.rawValue))) }
    #expect(labels == Dictionary(uniqueKeysWithValues: names))
  }

  /// Does something of each kind that has a name of its own.
  private func use(
    _ context: NSManagedObjectContext, of store: MoodStore, _ isPrefetched: Bool
  ) throws {
    context.name = "list"
    try store.readCountries(context, prefetching: isPrefetched)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Country")
    for country in try context.fetch(request) {
      _ = (country.value(forKey: "moods") as? Set<NSManagedObject>)?.count
    }
    for number in 0..<2 {
      let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
      mood.setValue("\(number)", forKey: "text")
    }
    try context.save()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    request.predicate = NSPredicate { _, _ in true }
    #expect(throws: NSError.self) {
      try child.performAndWait { _ = try child.fetch(request) }
    }
    let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: context)
    country.setValue("country 1", forKey: "name")
    try context.save()
  }
}
