import SQLiteDriver
import Testing

struct StatementTests {
  @Test func boundValuesComeBackUnchanged() throws {
    let values: [SQLiteValue] = [
      .null, .integer(.min), .integer(.max), .real(-0.5), .text(""), .text("a\0b 🙂"), .blob([]),
      .blob([0, 255, 7]),
    ]
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute("CREATE TABLE t(v)")
    for value in values {
      _ = try connection.values("INSERT INTO t VALUES(?)", [value])
    }
    let found = try connection.values("SELECT v FROM t ORDER BY rowid").map { $0[0] }
    #expect(found == values)
  }
}
