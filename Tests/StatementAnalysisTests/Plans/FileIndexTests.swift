import Foundation
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StatementAnalysis

@Suite("Indexes of a store file")
struct FileIndexTests {
  @Test(
    "Terms of an index",
    arguments: [
      ("CREATE INDEX i ON ZA (ZX)", ["ZX"]),
      (
        "CREATE INDEX \"x on (y\" ON \"ZA\" (\"ZX\" COLLATE BINARY ASC, lower(ZX, 'a,(') DESC)",
        ["\"ZX\"", "lower(ZX, 'a,(')"]
      ),
      (
        "CREATE UNIQUE INDEX i ON ZA(ZX + 1 COLLATE NOCASE,( ZY )) WHERE ZX > 1",
        ["ZX + 1", "( ZY )"]
      ),
      ("CREATE INDEX i ON ZA", []), ("", []), ("CREATE INDEX i ON ZA(", [""]),
      ("CREATE INDEX i ON ZA(COLLATE", ["COLLATE"]), ("CREATE INDEX i ON ZA(ASC,", ["", ""]),
    ])
  func termsAreSplit(sql: String, terms: [String]) {
    #expect(FileIndex.terms(of: sql) == terms)
  }

  @Test("Thousands of indexes of a table are read in linear time")
  func indexesAreReadInLinearTime() throws {
    let store = try OfficeStore()
    try store.addIndexes(8_000)
    let connection = try Connection(path: store.url.path, access: .reading)
    defer { connection.close() }
    // SQLite reads the schema.
    _ = try connection.values("SELECT * FROM many")
    let begin = threadTime()
    let indexes = try FileIndex.all(on: connection)
    #expect(threadTime() - begin < 20)
    #expect(indexes.count { $0.table == "MANY" } == 8_000)
    #expect(indexes.contains { $0.table == "ZNOTE" })
  }
}
