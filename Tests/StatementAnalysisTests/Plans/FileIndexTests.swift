import Testing

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
}
