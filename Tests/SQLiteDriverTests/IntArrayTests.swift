import SQLiteDriver
import Testing

struct IntArrayTests {
  private static let sql = "SELECT id FROM t WHERE id IN (SELECT * FROM _Z_intarray0) ORDER BY id"

  @Test(arguments: [Connection.Access.inspecting, .reading, .writing], StoreState.allCases)
  func arraysCanBeBoundWithEveryAccess(_ access: Connection.Access, _ state: StoreState) throws {
    if access == .reading, state == .hotJournal { return }
    let folder = try TemporaryFolder()
    let writer = try state.make("store", in: folder)
    defer { writer?.close() }
    let connection = try Connection(path: folder.file("store"), access: access)
    #expect(try connection.values(IntArrayTests.sql).isEmpty)
    try connection.bindIntArray(0, [7, -1, 9, 7, .max])
    #expect(try connection.values(IntArrayTests.sql) == [[.integer(7)], [.integer(9)]])
    try connection.bindIntArray(0, [2])
    #expect(try connection.values(IntArrayTests.sql) == [[.integer(2)]])
    try connection.bindIntArray(0, [])
    #expect(try connection.values(IntArrayTests.sql).isEmpty)
    connection.close()
  }

  @Test func tablesAreDistinctAndHaveOneIntegerColumn() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.bindIntArray(0, [1, 2])
    try connection.bindIntArray(12, [.min, .max])
    let rows = try connection.values("SELECT a.value, b.value FROM _Z_intarray0 a, _Z_intarray12 b")
    #expect(
      rows == [
        [.integer(1), .integer(.min)], [.integer(1), .integer(.max)],
        [.integer(2), .integer(.min)], [.integer(2), .integer(.max)],
      ])
    let columns = try connection.values("SELECT name, type FROM pragma_table_info('_Z_intarray0')")
    #expect(columns == [[.text("value"), .text("INTEGER")]])
    let error = #expect(throws: SQLiteError.self) {
      try connection.statement("SELECT * FROM _Z_intarrayX")
    }
    #expect(error?.message == "no such table: _Z_intarrayX")
  }

  @Test func executionKeepsItsInitialValues() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.bindIntArray(0, [1, 2, 3])
    let scan = try connection.statement("SELECT value FROM _Z_intarray0")
    var seen: [Int64] = []
    while try scan.step() {
      seen.append(scan.int64(0))
      try connection.bindIntArray(0, [10, 20])
    }
    #expect(seen == [1, 2, 3])
    #expect(try connection.values("SELECT sum(value) FROM _Z_intarray0") == [[.integer(30)]])
  }

  @Test func rollbackRequiresNoReprepare() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES(4)")
    let other = try connection.statement("SELECT id FROM t")
    try connection.execute("BEGIN")
    try connection.bindIntArray(0, [4])
    #expect(try connection.values(IntArrayTests.sql) == [[.integer(4)]])
    try connection.execute("ROLLBACK")
    #expect(try connection.values(IntArrayTests.sql) == [[.integer(4)]])
    _ = try other.step()
    #expect(other.status(.reprepares, reset: false) == 0)
  }

  @Test(arguments: [(2, 1_000, ["a", "b"]), (1_000, 2, ["b", "a"])])
  func plannerReceivesTheValueCount(
    _ first: Int64, _ second: Int64, order: [String]
  ) throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.bindIntArray(0, ContiguousArray(0..<first))
    try connection.bindIntArray(1, ContiguousArray(0..<second))
    let sql = "SELECT count(*) FROM _Z_intarray0 a, _Z_intarray1 b WHERE a.value = b.value"
    let plan = try connection.explainQueryPlan(sql)
    #expect(plan.roots.map(\.table) == order)
    #expect(!plan.isFullScan)
  }
}
