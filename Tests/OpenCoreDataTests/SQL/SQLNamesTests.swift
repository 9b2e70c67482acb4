import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Names and literals in SQL")
struct SQLNamesTests {
  @Test("Marks are doubled, also before a combining mark", arguments: ["", "\u{301}"])
  func marksAreDoubled(following: String) throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    defer { connection.close() }
    let name = "a\"\(following) b\"\(following)"
    let text = "a'\(following)b'\(following)"
    try connection.execute("CREATE TABLE \(SQLNames.quoted(name)) (ZA)")
    try connection.execute(
      "INSERT INTO \(SQLNames.quoted(name)) VALUES (\(SQLNames.literal(text)))")
    let names = try connection.values("SELECT name FROM sqlite_master")
    #expect(names == [[.text(name)]])
    #expect(try connection.values("SELECT ZA FROM \(SQLNames.quoted(name))") == [[.text(text)]])
  }
}
