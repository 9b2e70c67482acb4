import SQLiteDriver
import Testing

struct CallbackTests {
  private struct Refusal: Error, CustomStringConvertible {
    var description: String { "not today" }
  }

  private final class Token: Sendable {}

  @Test func functionAcceptsAndReturnsEveryValueType() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.createFunction("same", argumentCount: 1, deterministic: true) { $0[0] }
    try connection.createFunction("count_of", argumentCount: -1, deterministic: true) {
      .integer(Int64($0.count))
    }
    let values: [SQLiteValue] = [
      .null, .integer(.min), .real(1.5), .text("a\0ö"), .text(""), .blob([0, 1]), .blob([]),
    ]
    for value in values {
      #expect(try connection.values("SELECT same(?)", [value]) == [[value]])
    }
    #expect(
      try connection.values("SELECT count_of(), count_of(1, 2, 3)") == [[.integer(0), .integer(3)]])
  }

  @Test func functionErrorFailsTheStatement() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.createFunction("refuse", argumentCount: 0, deterministic: false) { _ in
      throw Refusal()
    }
    let error = #expect(throws: SQLiteError.self) { try connection.values("SELECT refuse()") }
    #expect(error?.message == "not today")
    #expect(error?.sql == "SELECT refuse()")
  }

  @Test func collationAppliesToSortingAndComparing() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.createCollation("BY_LENGTH") { left, right in
      Int32(left.count - right.count)
    }
    try connection.execute("CREATE TABLE t(v); INSERT INTO t VALUES('ccc'), (''), ('bb'), ('a')")
    let sorted = try connection.values("SELECT v FROM t ORDER BY v COLLATE BY_LENGTH")
    #expect(sorted == [[.text("")], [.text("a")], [.text("bb")], [.text("ccc")]])
    let found = try connection.values("SELECT v FROM t WHERE v = 'xx' COLLATE BY_LENGTH")
    #expect(found == [[.text("bb")]])
  }

  @Test func closuresAreReleasedWhenReplacedOrClosed() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    weak var first: Token?
    weak var second: Token?
    weak var third: Token?
    do {
      let one = Token()
      let two = Token()
      let three = Token()
      (first, second, third) = (one, two, three)
      try connection.createFunction("f", argumentCount: 0, deterministic: false) { _ in
        withExtendedLifetime(one) { .integer(1) }
      }
      try connection.createFunction("f", argumentCount: 0, deterministic: false) { _ in
        withExtendedLifetime(two) { .integer(2) }
      }
      try connection.createCollation("c") { _, _ in withExtendedLifetime(three) { 0 } }
    }
    #expect(first == nil)
    #expect(try connection.values("SELECT f()") == [[.integer(2)]])
    #expect(second != nil && third != nil)
    connection.close()
    #expect(second == nil && third == nil)
  }
}
