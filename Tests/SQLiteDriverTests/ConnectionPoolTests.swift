import Foundation
import SQLiteDriver
import Testing

struct ConnectionPoolTests {
  @Test func closedPoolThrows() throws {
    let folder = try TemporaryFolder()
    let pool = try ConnectionPool(path: folder.file("store"), access: .writing)
    pool.close()
    for use in [{ _ = try pool.lease() }, { try pool.withWriter { _ in } }] {
      let error = try #require(throws: SQLiteError.self) { try use() }
      #expect(error.code == .misuse)
    }
  }

  @Test func readersAndWriterRunConcurrently() async throws {
    let folder = try TemporaryFolder()
    let pool = try ConnectionPool(path: folder.file("store"), access: .writing) {
      connection throws(SQLiteError) in
      try connection.createFunction("twice", argumentCount: 1, deterministic: true) {
        if case .integer(let number) = $0[0] { .integer(2 * number) } else { .null }
      }
    }
    try pool.withWriter { try $0.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for number in 0..<40 {
            if worker % 2 == 0 {
              try pool.withWriter {
                _ = try $0.values("INSERT INTO t(v) VALUES(twice(?))", [.integer(Int64(number))])
              }
            } else {
              let reader = try pool.lease()
              defer { pool.returnToPool(reader) }
              let odd = try reader.values("SELECT count(*), sum(twice(v) % 4) FROM t WHERE v % 2")
              #expect(odd[0][0] == .integer(0))
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let reader = try pool.lease()
    #expect(try reader.values("SELECT count(*) FROM t") == [[.integer(160)]])
    pool.returnToPool(reader)
    pool.close()
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left == ["store"], "the last connection removes the WAL")
  }

  @Test func newStoreOpensConcurrently() async throws {
    for _ in 0..<20 {
      let folder = try TemporaryFolder()
      let path = folder.file("store")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<6 {
          group.addTask {
            let connection = try Connection(path: path, access: .writing)
            try connection.execute("CREATE TABLE IF NOT EXISTS t(v); INSERT INTO t VALUES(1)")
          }
        }
        try await group.waitForAll()
      }
      let connection = try Connection(path: path, access: .reading)
      #expect(try connection.values("SELECT count(*) FROM t") == [[.integer(6)]])
    }
  }

  @Test func returnedReaderHasNoSnapshot() throws {
    let folder = try TemporaryFolder()
    let pool = try ConnectionPool(path: folder.file("store"), access: .writing, maximumReaders: 1)
    defer { pool.close() }
    try pool.withWriter { try $0.execute("CREATE TABLE t(v); INSERT INTO t VALUES(1), (2)") }
    let reader = try pool.lease()
    try reader.execute("BEGIN")
    let half = try reader.statement("SELECT v FROM t")
    #expect(try half.step() && reader.isInTransaction)
    try pool.withWriter { try $0.execute("INSERT INTO t VALUES(3)") }
    #expect(try reader.values("SELECT count(*) FROM t") == [[.integer(2)]])
    pool.returnToPool(reader)
    let again = try pool.lease()
    #expect(again === reader && !again.isInTransaction)
    #expect(try again.values("SELECT count(*) FROM t") == [[.integer(3)]])
    let surplus = try pool.lease()
    #expect(surplus !== again)
    pool.returnToPool(again)
    pool.returnToPool(surplus)
    let kept = try pool.lease()
    #expect(kept === again)
    pool.returnToPool(kept)
  }

  @Test func readOnlyConnectionCannotWrite() throws {
    let folder = try TemporaryFolder()
    let pool = try ConnectionPool(path: folder.file("store"), access: .writing)
    defer { pool.close() }
    let reader = try pool.lease()
    defer { pool.returnToPool(reader) }
    let error = #expect(throws: SQLiteError.self) { try reader.execute("CREATE TABLE t(v)") }
    #expect(error?.code.primary == .readOnly)
  }

  @Test func readOnlyConnectionReopensAfterStoreChange() throws {
    let folder = try TemporaryFolder()
    let writer = try #require(try StoreState.liveWriter.make("store", in: folder))
    defer { writer.close() }
    let pool = try ConnectionPool(path: folder.file("store"), access: .inspecting)
    defer { pool.close() }
    #expect(try !pool.reopenIfChanged())
    let old = try pool.lease()
    try writer.execute("DELETE FROM t WHERE id = 1")
    #expect(try pool.reopenIfChanged())
    let new = try pool.lease()
    let count = "SELECT count(*) FROM t"
    #expect(try old.values(count) == [[.integer(1_000)]])
    #expect(try new.values(count) == [[.integer(999)]])
    pool.returnToPool(new)
    pool.returnToPool(old)
    let next = try pool.lease()
    #expect(next === new)
    pool.returnToPool(next)
  }

  @Test func interruptFromAnotherThreadEndsTheStatement() async throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    let started = DispatchSemaphore(value: 0)
    try connection.createFunction("started", argumentCount: 0, deterministic: true) { _ in
      started.signal()
      return .integer(1)
    }
    let interrupter = Thread {
      started.wait()
      connection.interrupt()
    }
    interrupter.start()
    let endless = "WITH RECURSIVE c(x) AS (SELECT started() UNION ALL SELECT x + 1 FROM c) "
    let error = #expect(throws: SQLiteError.self) {
      try connection.values(endless + "SELECT count(*) FROM c")
    }
    #expect(error?.code == .interrupt)
    #expect(try connection.values("SELECT 1") == [[.integer(1)]])
    connection.close()
    connection.interrupt()
  }

  @Test func lockedStoreIsBusyAfterTheTimeout() throws {
    let folder = try TemporaryFolder()
    let first = try Connection(path: folder.file("store"), access: .writing)
    try first.execute("CREATE TABLE t(v); BEGIN IMMEDIATE")
    let options = Connection.Options(busyTimeoutMilliseconds: 30)
    let second = try Connection(path: folder.file("store"), access: .writing, options: options)
    let error = #expect(throws: SQLiteError.self) { try second.execute("INSERT INTO t VALUES(1)") }
    #expect(error?.code.primary == .busy)
    try first.execute("COMMIT")
    try second.execute("INSERT INTO t VALUES(1)")
  }

  @Test func optionPragmasAreAppliedAndRejectFurtherStatements() throws {
    let folder = try TemporaryFolder()
    let options = Connection.Options(pragmas: [
      ("page_size", "8192"), ("auto_vacuum", "2"), ("journal_mode", "DELETE"),
    ])
    let pool = try ConnectionPool(path: folder.file("store"), access: .writing, options: options)
    defer { pool.close() }
    try pool.withWriter { writer in
      try writer.execute("CREATE TABLE t(v)")
      #expect(try writer.values("PRAGMA page_size") == [[.integer(8_192)]])
      #expect(try writer.values("PRAGMA auto_vacuum") == [[.integer(2)]])
      #expect(try writer.values("PRAGMA journal_mode") == [[.text("delete")]])
    }
    let reader = try pool.lease()
    #expect(try reader.values("SELECT count(*) FROM t") == [[.integer(0)]])
    pool.returnToPool(reader)
    let smuggled = Connection.Options(pragmas: [("cache_size", "10; DROP TABLE t")])
    let error = #expect(throws: SQLiteError.self) {
      try Connection(path: folder.file("store"), access: .writing, options: smuggled)
    }
    #expect(error?.code == .misuse)
  }

  @Test func misusedWriterIsAProgrammerError() async throws {
    func expectMessage(_ message: String, _ result: ExitTest.Result?) throws {
      let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      #expect(text.contains(message))
    }
    let nested = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let folder = try TemporaryFolder()
      let pool = try ConnectionPool(path: folder.file("store"), access: .writing)
      try pool.withWriter { _ in
        try? FileManager.default.removeItem(atPath: folder.path)
        try pool.withWriter { _ in }
      }
    }
    try expectMessage("withWriter was called inside withWriter", nested)
    let looking = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let folder = try TemporaryFolder()
      _ = try StoreState.closed.make("store", in: folder)
      let pool = try ConnectionPool(path: folder.file("store"), access: .inspecting)
      try FileManager.default.removeItem(atPath: folder.path)
      try pool.withWriter { _ in }
    }
    try expectMessage("it has no writer", looking)
  }
}
