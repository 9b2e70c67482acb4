import Foundation
import SQLiteDriver
import Testing

@Suite("cdprof doctor")
struct DoctorCommandTests {
  @Test("Corruption is an error of the store, a missing model only one of a repair")
  func corruptionAndMissingModelsHaveTheirStatus() throws {
    let program = try BuiltProgram()
    #expect(try program.run(["new", "mine"]).status == 0)
    #expect(try program.run(["run", "mine.yml", "--quiet"]).status == 0)
    let url = program.folder.file("Reports/mine.sqlite")
    for (sql, status) in [
      ("UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'", Int32(3)), ("DELETE FROM Z_MODELCACHE", 0),
    ] {
      let connection = try Connection(path: url.path, access: .writing)
      try connection.execute(sql)
      connection.close()
      let outcome = try program.run(["doctor", "Reports/mine.sqlite"])
      #expect(outcome.status == status, "\(outcome)")
      #expect(outcome.output.contains("The store has no readable model."))
      let repair = try program.run(["doctor", "Reports/mine.sqlite", "--repair", "new.sqlite"])
      #expect(repair.status == 65 && repair.errors.contains("no readable model"), "\(repair)")
    }
    var bytes = try Data(contentsOf: url)
    bytes.replaceSubrange(4_096..<bytes.count, with: Data(count: bytes.count - 4_096))
    try bytes.write(to: url)
    let corrupt = try program.run(["doctor", "Reports/mine.sqlite"])
    #expect(corrupt.status == 3)
    #expect(corrupt.output.contains("  Next: recover the rows with `cdprof doctor FILE --repair"))
    let unread = try program.run(["rows", "Reports/mine.sqlite", "Book"])
    #expect(unread.status == 65)
    #expect(unread.errors.contains("\nrecover its rows with `cdprof doctor FILE --repair OUT`"))
  }

  @Test func onlyErrorsAndStrictChecksExitWithThree() throws {
    let program = try BuiltProgram()
    #expect(try program.run(["new", "mine"]).status == 0)
    #expect(try program.run(["run", "mine.yml", "--quiet"]).status == 0)
    let store = program.folder.file("Reports/mine.sqlite").path
    #expect(try program.run(["doctor", store, "--strict"]).status == 0)
    let connection = try Connection(path: store, access: .writing)
    let table = try #require(
      try connection.values(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z[A-Y]*'"
      ).first?.first)
    guard case .text(let name) = table else { return }
    try connection.execute("CREATE INDEX one ON \(name) (Z_PK); CREATE INDEX two ON \(name) (Z_PK)")
    connection.close()
    let noted = try program.run(["doctor", store])
    #expect(noted.status == 0)
    #expect(noted.output.contains("note: index-redundant"), "\(noted.output)")
    #expect(try program.run(["doctor", store, "--strict"]).status == 3)
    let markdown = try program.run(["doctor", store, "--report", "md", "--strict"])
    #expect(markdown.status == 3 && markdown.output.hasPrefix("### `mine.sqlite`: "))
    #expect(try program.run(["doctor", store, "--report", "md", "--json"]).status == 64)
    #expect(try program.run(["doctor", store, "--json"]).output.contains(#""severity" : "note""#))

    let writer = try Connection(path: store, access: .writing)
    try writer.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 0")
    writer.close()
    let failing = try program.run(["doctor", store])
    #expect(failing.status == 3 && failing.output.contains("error: primary-key-counter"))
  }
}
