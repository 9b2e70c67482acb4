import CPostgresFloor
import Foundation
import PostgresFixtures

/// A store with moods, the statements that its workloads run, and the floor's connection to the
/// same server.
final class Bed {
  private let store: MoodStore
  private let traced: MoodStore
  private let floor: OpaquePointer
  private var log: ServerLog
  private let rows: Int

  private static let application = "postgres-bench"
  private static let schema = "bench"
  /// The types of parameters, as the protocol numbers them.
  private static let (integers, reals, texts): (UInt32, UInt32, UInt32) = (1016, 1022, 1009)
  private static let (integer, text): (UInt32, UInt32) = (20, 25)
  /// The columns that the floor inserts, in its order.
  private static let columns =
    "(z_pk, z_ent, z_opt, \"flags\", \"kind\", \"latitude\", \"longitude\", \"name\", \"note\", \"rank\", "
    + "\"stamp\", \"votes\", \"country\")"
  private static let batch = 1_000
  private static let keyBlock = 100

  /// Creates the store, with a number of moods.
  init(uri: String, log url: URL, rows: Int) throws {
    self.rows = rows
    // A log of each statement takes time, so another store runs the workloads that are measured.
    traced = try MoodStore(
      uri: ServerLog.uri(uri, application: Self.application), schema: Self.schema)
    store = try MoodStore(uri: uri, schema: Self.schema)
    try store.fill(rows)
    log = try ServerLog(url, application: Self.application)
    guard let floor = pgfloor_connect(uri) else {
      throw BenchError(description: "the floor can't connect to \(uri)")
    }
    self.floor = floor
  }

  deinit {
    pgfloor_close(floor)
    try? store.destroy()
  }

  /// Returns the workloads by name.
  ///
  /// - Parameter count: The number of faults, and of saved objects.
  func workloads(_ count: Int) -> [(name: String, make: () throws -> Workload)] {
    [
      ("fetch", fetch), ("faults", { [self] in try faults(count) }),
      ("insert", { [self] in try insertion(count) }), ("update", { [self] in try update(count) }),
    ]
  }

  // MARK: Workloads

  private func fetch() throws -> Workload {
    let statements = try trace { _ = try traced.fetch(measuring: $0) }
    let name = try prepare(statements, "SELECT t0.z_pk")
    return Workload(
      name: "fetch of \(rows) rows", statements: statements.count,
      floor: { [self] in
        var moods: UnsafeMutablePointer<pgfloor_mood>?
        var count = 0
        let time = measured { count = pgfloor_moods(floor, name, &moods) }
        pgfloor_free_moods(moods, count)
        try check(count, is: rows)
        return time
      },
      ours: { [self] in
        try timed { try check(try store.fetch(measuring: $0), is: rows) }
      })
  }

  private func faults(_ count: Int) throws -> Workload {
    let statements = try trace { _ = try traced.fireFaults(count, measuring: $0) }
    let name = try prepare(statements, "SELECT t0.z_pk", [Self.integers])
    let keys = (1...count).map { 2_000_000_000 + Int64($0) }
    return Workload(
      name: "\(count) faults", statements: statements.count,
      floor: { [self] in
        let moods = UnsafeMutablePointer<pgfloor_mood>.allocate(capacity: count)
        var found = 0
        let time = measured { found = pgfloor_faults(floor, name, keys, count, moods) }
        try check(found, is: count)
        for index in 0..<count {
          free(moods[index].name)
          free(moods[index].note)
        }
        moods.deallocate()
        return time
      },
      ours: { [self] in
        try timed { try check(try store.fireFaults(count, measuring: $0), is: count) }
      })
  }

  private func insertion(_ count: Int) throws -> Workload {
    let statements = try trace { try traced.insert(count, measuring: $0) }
    let keys = try prepare(statements, "SELECT nextval", [Self.text, Self.integer])
    let types = [
      Self.integers, Self.integers, Self.integers, Self.integers, Self.integers, Self.reals,
      Self.reals, Self.texts, Self.texts, Self.integers, Self.integers, Self.integers,
      Self.integers,
    ]
    let insert = try prepare(statements, "INSERT INTO \(store.table) \(Self.columns)", types)
    let transaction = try prepare(statements, "SELECT pg_current_xact")
    let batches = (count + Self.batch - 1) / Self.batch
    try check(statements.count, is: batches + 4)
    let blocks = (count + Self.keyBlock - 1) / Self.keyBlock
    let moods = try moods(count)
    let entity = moods[0].entity
    return Workload(
      name: "save of \(count) new", statements: statements.count,
      floor: { [self] in
        try store.clean()
        var isDone = true
        let time = measured {
          var starts = [Int64](repeating: 0, count: blocks)
          isDone =
            pgfloor_keys(floor, keys, "\"\(Self.schema)\".z_key", Int64(blocks), &starts) == blocks
          for index in 0..<count {
            moods[index].key = starts[index / Self.keyBlock] + Int64(index % Self.keyBlock)
            moods[index].entity = entity
            moods[index].version = 1
          }
          isDone =
            isDone
            && save(count, ending: transaction) {
              pgfloor_insert(floor, insert, moods + $0, $1) == $1
            }
        }
        guard isDone else { throw failure }
        return time
      },
      ours: { [self] in
        try store.clean()
        return try timed { try store.insert(count, measuring: $0) }
      })
  }

  private func update(_ count: Int) throws -> Workload {
    let statements = try trace { try traced.update(count, measuring: $0) }
    let update = try prepare(
      statements, "UPDATE \(store.table)", [Self.integers, Self.integers, Self.integers])
    let transaction = try prepare(statements, "SELECT pg_current_xact")
    try check(statements.count, is: (count + Self.batch - 1) / Self.batch + 3)
    return Workload(
      name: "save of \(count) changed", statements: statements.count,
      floor: { [self] in
        try store.clean()
        let moods = try moods(count)
        defer { pgfloor_free_moods(moods, count) }
        for index in 0..<count { moods[index].rank += 1 }
        var isDone = true
        let time = measured {
          isDone = save(count, ending: transaction) {
            pgfloor_update(floor, update, moods + $0, $1) == $1
          }
        }
        guard isDone else { throw failure }
        return time
      },
      ours: { [self] in
        try store.clean()
        return try timed { try store.update(count, measuring: $0) }
      })
  }

  /// Writes moods with the C program in one transaction, and returns whether that succeeded.
  ///
  /// - Parameters:
  ///   - transaction: The statement that precedes the COMMIT.
  ///   - write: Writes a batch: the position of its first mood, and its size.
  private func save(
    _ count: Int, ending transaction: String, _ write: (_ first: Int, _ size: Int) -> Bool
  ) -> Bool {
    guard pgfloor_run(floor, "BEGIN") == 0 else { return false }
    for first in stride(from: 0, to: count, by: Self.batch) {
      guard write(first, min(Self.batch, count - first)) else { return false }
    }
    return pgfloor_execute(floor, transaction) == 0 && pgfloor_run(floor, "COMMIT") == 0
  }

  /// Returns the first moods.
  private func moods(_ count: Int) throws -> UnsafeMutablePointer<pgfloor_mood> {
    let sql = "SELECT * FROM \(store.table) WHERE z_pk > 2000000000 ORDER BY z_pk LIMIT \(count)"
    _ = pgfloor_run(floor, "DEALLOCATE moods")
    guard pgfloor_prepare(floor, "moods", sql, nil, 0) == 0 else { throw failure }
    var moods: UnsafeMutablePointer<pgfloor_mood>?
    try check(pgfloor_moods(floor, "moods", &moods), is: count)
    guard let moods else { throw failure }
    return moods
  }

  // MARK: Statements

  /// Returns the statements of the measured part of a workload, with the text of each execution.
  private func trace(_ run: ((() throws -> Void) throws -> Void) throws -> Void) throws -> [String]
  {
    var statements: [String] = []
    try run { body in
      _ = try log.take()
      try body()
      statements = try log.take().compactMap(\.statement)
    }
    try traced.clean()
    return statements
  }

  private var preparedCount = 0

  /// Prepares the only statement with a beginning, and returns its name.
  private func prepare(
    _ statements: [String], _ beginning: String, _ types: [UInt32] = []
  ) throws -> String {
    let found = Set(statements.filter { $0.hasPrefix(beginning) })
    guard found.count == 1, let sql = found.first else {
      throw BenchError(
        description: "\(found.count) statements begin with '\(beginning)': \(Set(statements))")
    }
    preparedCount += 1
    let name = "floor\(preparedCount)"
    guard pgfloor_prepare(floor, name, sql, types, Int32(types.count)) == 0 else { throw failure }
    return name
  }

  private var failure: BenchError {
    BenchError(
      description: pgfloor_message(floor).map { String(cString: $0) } ?? "the floor has failed")
  }

  private func check(_ count: Int, is expected: Int) throws {
    guard count == expected else {
      throw BenchError(description: "\(count) instead of \(expected)")
    }
  }

  // MARK: Times

  private func measured(_ body: () -> Void) -> UInt64 {
    let start = pgfloor_now()
    body()
    return pgfloor_now() - start
  }

  /// Returns the time of the part that a workload measures.
  private func timed(
    _ run: ((() throws -> Void) throws -> Void) throws -> Void
  ) throws -> UInt64 {
    var time: UInt64 = 0
    try run { body in
      let start = pgfloor_now()
      try body()
      time = pgfloor_now() - start
    }
    return time
  }
}
