import Foundation
import SQLiteDriver
import Testing

@Suite("cdprof doctor")
struct DoctorCommandTests {
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
