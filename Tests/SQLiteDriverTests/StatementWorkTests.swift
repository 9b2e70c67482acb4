import Foundation
import ProfileEvents
import SQLiteDriver
import Testing

@Suite struct StatementWorkTests {
  /// A table of 100 rows with an index on one column.
  private func connection() throws -> Connection {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute(
      """
      CREATE TABLE t(k INTEGER PRIMARY KEY, a INTEGER, b TEXT); CREATE INDEX ta ON t(a);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO t SELECT i, i % 10, 'b' || i FROM n
      """)
    try connection.createFunction("same", argumentCount: 1, deterministic: true) { $0[0] }
    try connection.createCollation("BY_LENGTH") { left, right in
      Int32(left.count - right.count)
    }
    return connection
  }

  private func work(of sql: String, on connection: Connection) throws -> StatementWork {
    let statement = try connection.statement(sql)
    let before = statement.work
    while try statement.step() {}
    statement.reset()
    return statement.work - before
  }

  @Test(arguments: [
    ("SELECT * FROM t WHERE k = 7", 0, 0, 0), ("SELECT * FROM t WHERE a = 7", 0, 0, 0),
    ("SELECT * FROM t WHERE b = 'x'", 99, 0, 0), ("SELECT * FROM t ORDER BY b", 99, 1, 0),
    ("SELECT a FROM t ORDER BY a", 99, 0, 0),
    ("SELECT * FROM t WHERE same(b) = 'b5'", 99, 0, 100),
  ])
  func scansSortsAndCallsAreCounted(sql: String, scanned: Int, sorts: Int, calls: Int) throws {
    let work = try work(of: sql, on: connection())
    #expect(work.fullScanSteps == scanned)
    #expect(work.sorts == sorts)
    #expect(work.functionCalls == calls)
    #expect(work.autoIndexRows == 0 && work.collationCalls == 0 && work.vmSteps > 0)
  }

  @Test func executionCountersAreRepeatable() throws {
    let connection = try connection()
    let sql = "SELECT * FROM t ORDER BY b COLLATE BY_LENGTH"
    let first = try work(of: sql, on: connection)
    #expect(first.collationCalls > 99)
    #expect(try work(of: sql, on: connection) == first)
    #expect(try work(of: "SELECT * FROM t WHERE k = 1", on: connection).collationCalls == 0)
  }

  /// Pages are read once if the cache is large enough, otherwise by each execution.
  @Test func pagesReadAndWrittenAreCounted() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "pages.sqlite").path
    let writer = try Connection(path: path, access: .writing)
    try writer.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, b BLOB)")
    let written = try work(
      of: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
        + " INSERT INTO t SELECT i, zeroblob(3000) FROM n", on: writer)
    #expect(written.pagesWritten >= 100)
    writer.close()
    let connection = try Connection(path: path, access: .writing)
    let sql = "SELECT sum(length(b)) FROM t"
    #expect(try work(of: sql, on: connection).pagesRead >= 100)
    let again = try work(of: sql, on: connection)
    #expect(again.pagesRead == 0 && again.pagesWritten == 0)
    try connection.execute("PRAGMA cache_size = 10")
    #expect(try work(of: sql, on: connection).pagesRead >= 90)
    connection.close()
  }

  @Test func automaticIndexRowsAreCounted() throws {
    let work = try work(
      of: "SELECT * FROM t one JOIN t other ON one.b = other.b", on: connection())
    // SQLite counts steps between rows, as for scans.
    #expect(work.autoIndexRows == 99)
    #expect((work + work).vmSteps == 2 * work.vmSteps)
  }
}
