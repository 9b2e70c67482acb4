import CFloor
import Foundation
import OpenCoreData

/// Fetches of all rows on several threads at once: contexts of one coordinator, compared with as
/// many connections.
struct ThreadWorkloads {
  let bed: Bed

  static let counts = [1, 2, 4, 8]

  static func name(_ threads: Int) -> String {
    "fetch on \(threads) thread" + (threads == 1 ? "" : "s")
  }

  func fetch(threads: Int) throws -> Workload {
    let sql = try bed.trace { _ = try $0.fetch(Self.request()) }
      .statement("SELECT", containing: "ZMOOD")
    let connections = try (0..<threads).map { _ in try bed.anotherFloor() }
    return Workload(
      name: Self.name(threads), unit: "row", operations: bed.rows * threads, limit: nil,
      arms: [
        Arm(program: .floor) { [bed] in
          let arrays = OnePerThread<CArray>(threads)
          let (_, time) = timed {
            Self.onThreads(threads) { arrays[$0] = CArray(connections[$0].handle, sql) }
          }
          for (index, connection) in connections.enumerated() {
            try connection.check(arrays[index]?.count ?? -1, is: bed.rows, sql)
          }
          return time
        },
        Arm(program: .ours) { [bed] in try Self.time(bed, threads) },
      ],
      note: "Each thread fetches all rows as realized objects in a context of its own, from one "
        + "coordinator, whose row cache is cold. Each thread of the floor has a connection. The time "
        + "is that of all threads, divided by the rows that they all read.")
  }

  private static func request() -> NSFetchRequest<Mood> {
    let request = Bed.allMoods()
    request.returnsObjectsAsFaults = false
    return request
  }

  private static func time(_ bed: Bed, _ threads: Int) throws -> UInt64 {
    let contexts = (0..<threads).map { _ in bed.stack.context() }
    let fetched = OnePerThread<[Mood]>(threads)
    let (_, time) = timed {
      onThreads(threads) { index in
        contexts[index].performAndWait { fetched[index] = try? contexts[index].fetch(request()) }
      }
    }
    for (index, context) in contexts.enumerated() {
      try context.performAndWait {
        guard fetched[index]?.count == bed.rows else {
          throw BenchError("thread \(index) fetched \(fetched[index]?.count ?? 0) moods")
        }
        fetched[index] = nil
      }
    }
    return time
  }

  /// Calls a closure on several new threads with their numbers, and returns when all have ended.
  private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for index in 0..<count {
      group.enter()
      Thread.detachNewThread {
        body(index)
        group.leave()
      }
    }
    group.wait()
  }
}

/// The rows that a thread of the floor has read.
private final class CArray: Sendable {
  /// -1 after an error.
  let count: Int
  private let rows: UInt

  init(_ database: OpaquePointer, _ sql: String) {
    var rows: UnsafeMutablePointer<cfloor_mood>?
    count = cfloor_moods(database, sql, &rows)
    self.rows = UInt(bitPattern: rows)
  }

  deinit {
    cfloor_free_moods(UnsafeMutablePointer(bitPattern: rows), count)
  }
}

/// A value for each thread, which only that thread uses until it has ended.
private final class OnePerThread<Value>: @unchecked Sendable {
  private let values: UnsafeMutableBufferPointer<Value?>

  init(_ count: Int) {
    values = .allocate(capacity: count)
    values.initialize(repeating: nil)
  }

  deinit {
    values.deinitialize()
    values.deallocate()
  }

  subscript(thread: Int) -> Value? {
    get { values[thread] }
    set { values[thread] = newValue }
  }
}
