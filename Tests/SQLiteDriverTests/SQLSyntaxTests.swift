import Testing

@testable import SQLiteDriver

@Suite("Names and literals in SQL")
struct SQLSyntaxTests {
  @Test("Marks are doubled, also before a combining mark", arguments: ["", "\u{301}"])
  func marksAreDoubled(following: String) throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    defer { connection.close() }
    let name = "a\"\(following) b\"\(following)"
    let text = "a'\(following)b'\(following)"
    try connection.execute("CREATE TABLE \(SQLSyntax.quoted(name)) (ZA)")
    try connection.execute(
      "INSERT INTO \(SQLSyntax.quoted(name)) VALUES (\(SQLSyntax.literal(text)))")
    let names = try connection.values("SELECT name FROM sqlite_master")
    #expect(names == [[.text(name)]])
    #expect(try connection.values("SELECT ZA FROM \(SQLSyntax.quoted(name))") == [[.text(text)]])
  }
}
