import CFloor
import OpenCoreData

/// What the workloads on one store share: its file, our stack on it, the floor's connection.
final class Bed {
  let rows: Int
  let url: URL
  let stack: Stack
  let floor: FloorDatabase
  let builder: StoreBuilder

  init(rows: Int, builder: StoreBuilder) throws {
    self.rows = rows
    self.builder = builder
    url = try builder.store(rows: rows)
    let url = url
    let trace = try StatementTrace { _ = try Stack(url: url, model: builder.model) }
    stack = try Stack(url: url, model: builder.model)
    floor = try FloorDatabase(url: url, pragmas: trace.pragmas)
  }

  /// The statements that SQLite runs for a block on a new context.
  func trace(_ block: (NSManagedObjectContext) throws -> Void) throws -> StatementTrace {
    try StatementTrace {
      let context = try Stack(url: url, model: builder.model).context()
      try context.performAndWait { try block(context) }
    }
  }

  /// Measures what a block returns, on a new context's queue.
  func measured(_ block: (NSManagedObjectContext) throws -> UInt64) rethrows -> UInt64 {
    let context = stack.context()
    return try context.performAndWait { try block(context) }
  }

  /// A request for all moods.
  static func allMoods() -> NSFetchRequest<Mood> {
    NSFetchRequest<Mood>(entityName: "Mood")
  }

  /// Keys in an order that repeats, spread over the whole table.
  func shuffledPositions(_ count: Int) -> [Int] {
    var numbers = SplitMix(seed: 42)
    return Array((0..<rows).shuffled(using: &numbers).prefix(count))
  }
}
