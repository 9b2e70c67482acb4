import CoreDataCosts
import CoreMetrics
import MetricsTestKit
import OpenCoreData
import OpenCoreDataObservability
import Testing

@Suite("Metrics")
struct MetricTests {
  @Test func countersHaveTheCountsOfCosts() throws {
    let store = try MoodStore(moods: 12, countries: 3)
    let costs = try costs(of: store.container) {
      try store.perform { context in
        try store.readCountries(context)
        try store.readCountries(context, prefetching: true)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
        for mood in try context.fetch(request).prefix(4) { mood.setValue("x", forKey: "text") }
        try context.save()
      }
    }
    func total(_ label: String, _ dimensions: [(String, String)] = []) -> Int {
      let totals = store.metrics.counters(label: label, dimensions: dimensions).map(\.totalValue)
      return Int(totals.reduce(0, +))
    }
    #expect(total("coredata.fetches") == costs.fetches && costs.fetches == 3)
    #expect(total("coredata.saves") == 1 && total("coredata.transactions") == costs.transactions)
    #expect(total("coredata.rows") == costs.rows && costs.rows == 12 + 3 + 15 + 12)
    #expect(total("coredata.prefetches") == 1)
    #expect(total("coredata.faults", [("coredata.fault.source", "store")]) == costs.misses)
    #expect(total("coredata.faults", [("coredata.fault.source", "row_cache")]) == costs.hits)
    #expect(costs.misses == 3 && costs.hits == 12)
    #expect(total("coredata.statements", [("db.operation.name", "SELECT")]) == costs.selects)
    #expect(total("coredata.statements", [("db.operation.name", "UPDATE")]) == 4)
    #expect(store.metrics.counters(label: "coredata.failures").isEmpty)
  }

  @Test func durationsAreOfStatementsAndOfOperations() throws {
    let store = try MoodStore(moods: 6, countries: 3)
    try store.perform { try store.readCountries($0) }
    let statement = [("db.system.name", "sqlite"), ("db.operation.name", "SELECT")]
    func values(_ label: String, _ dimensions: [(String, String)]) throws -> [Int64] {
      try store.metrics.expectTimer(label, dimensions).values
    }
    let selects = try values(
      "db.client.operation.duration", statement + [("db.collection.name", "Mood")])
    let faults = try values(
      "db.client.operation.duration", statement + [("db.collection.name", "Country")])
    #expect(selects.count == 1 && faults.count == 3)
    let fetches = try values(
      "coredata.operation.duration",
      [("coredata.operation", "fetch"), ("coredata.entity", "Mood")])
    #expect(fetches.count == 1 && selects[0] > 0 && fetches[0] >= selects[0])
    // In nanoseconds: no fetch of six rows takes an hour.
    #expect(fetches[0] < 3_600_000_000_000)
    let timer = try store.metrics.expectTimer(
      "db.client.operation.duration", statement + [("db.collection.name", "Mood")])
    #expect(timer.displayUnit == .seconds)
    #expect(timer.valueInPreferredUnit(atIndex: 0) == Double(selects[0]) / 1e9)
    let rows = try store.metrics.expectRecorder(
      "db.client.response.returned_rows", statement + [("db.collection.name", "Mood")])
    #expect(rows.values == [6])
  }

  @Test func aFailureIsCountedByItsType() throws {
    let store = try MoodStore(moods: 0, countries: 1)
    #expect(throws: NSError.self) {
      try store.perform { context in
        _ = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        try context.save()
      }
    }
    let failures = store.metrics.counters(label: "coredata.failures")
    #expect(failures.map(\.totalValue) == [1])
    let dimensions = failures.first?.dimensions.map { "\($0)=\($1)" }
    #expect(
      dimensions == [
        "coredata.operation=save",
        "error.type=NSCocoaErrorDomain.\(NSValidationMissingMandatoryPropertyError)",
      ])
    #expect(store.metrics.counters(label: "coredata.saves").isEmpty)
  }
}
