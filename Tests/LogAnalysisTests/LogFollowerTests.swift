import Foundation
import Testing
import WorkbenchFixtures

@testable import LogAnalysis
@testable import WorkbenchText

@Suite("Logs that are still being written")
struct LogFollowerTests {
  private let folder = try? TemporaryFolder()

  private func path() throws -> String { try #require(folder).file("app.log").path }

  private func append(_ text: String) throws {
    let path = try path()
    if !FileManager.default.fileExists(atPath: path) {
      try Data().write(to: URL(filePath: path))
    }
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  private func lines(_ follower: LogFollower) throws -> [String]? {
    try follower.lines(within: 0)?.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func linesArriveWhenTheyAreComplete() throws {
    try append("one\r\ntw")
    let follower = try LogFollower(path: try path())
    #expect(try lines(follower) == ["one"])
    #expect(try lines(follower) == [])
    try append("o\nthree\nfour")
    #expect(try lines(follower) == ["two", "three"])
    #expect(follower.rest().map { String(decoding: $0, as: UTF8.self) } == ["four"])
    #expect(follower.rest().isEmpty)
  }

  @Test func rotatedFilesAreReadToTheirEnd() throws {
    try append("one\n")
    let follower = try LogFollower(path: try path())
    #expect(try lines(follower) == ["one"])
    try append("two\nthr")
    try FileManager.default.moveItem(atPath: try path(), toPath: try path() + ".1")
    #expect(try lines(follower) == ["two"])
    // Nothing has replaced it yet.
    #expect(try lines(follower) == [])
    try append("new\n")
    #expect(try lines(follower) == ["thr", "new"])
    try append("next\n")
    #expect(try lines(follower) == ["next"])
  }

  @Test func truncatedFilesAreReadFromTheirBeginning() throws {
    try append("one\ntwo\n")
    let follower = try LogFollower(path: try path())
    #expect(try lines(follower) == ["one", "two"])
    truncate(try path(), 0)
    #expect(try lines(follower) == [])
    try append("new\n")
    #expect(try lines(follower) == ["new"])
  }

  @Test func beginningOfALongLineIsKept() throws {
    let head = String(repeating: "a", count: InputLimits.logLine - 10)
    try append("\u{FEFF}\(head)bcdefghijklmnop\(String(repeating: "z", count: 3 << 20))\nnext\n")
    let follower = try LogFollower(path: try path())
    var followed: [String] = []
    while followed.last != "next" { followed += try #require(try lines(follower)) }
    let log = try LogLines(path: try path())
    var read: [String] = []
    while let line = log.next() { read.append(String(decoding: line, as: UTF8.self)) }
    // The byte order mark is three of the bytes.
    #expect(read == ["\(head)bcdefgh", "next"])
    #expect(followed == read)
  }

  @Test func onlyTheFirstLineHasAByteOrderMark() throws {
    try append("\u{FEFF}one\n\u{FEFF}two\n")
    let follower = try LogFollower(path: try path())
    let log = try LogLines(path: try path())
    let read = [log.next(), log.next()].compactMap { $0?.count }
    #expect(read == [3, 6])
    #expect(try follower.lines(within: 0)?.map(\.count) == read)
  }

  @Test func compressedLogsCantBeFollowed() throws {
    try Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0]).write(to: URL(filePath: try path()))
    let follower = try LogFollower(path: try path())
    let error = #expect(throws: InvalidInputError.self) { try follower.lines(within: 0) }
    #expect(error?.description.contains("gunzip -c FILE | cdprof log -") == true)
  }

  @Test func logsInUTF16CantBeFollowed() throws {
    try Data([0xFF, 0xFE, 0x43, 0]).write(to: URL(filePath: try path()))
    let follower = try LogFollower(path: try path())
    let error = #expect(throws: InvalidInputError.self) { try follower.lines(within: 0) }
    #expect(error?.description.contains("iconv -f UTF-16 -t UTF-8 FILE | cdprof log -") == true)
  }

  /// Whatever was shown before, the report at the end is that of the whole file.
  @Test func stoppedLogHasTheReportOfTheFile() throws {
    let select = "CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.Z_PK = ? \n"
    try append(String(repeating: select, count: 3))
    var updates: [Int] = []
    var asked = 0
    let path = try path()
    let report = try LiveLog(path: path).read(every: 0) {
      asked += 1
      if asked == 2 { try? append(select + "the last line") }
      return asked == 4
    } update: {
      updates.append($0.lines)
    }
    let whole = try LogReader.read(path)
    #expect(updates == [3, 4, 4])
    #expect(report.lines == 5 && whole.lines == 5)
    #expect(report.statements.map(\.calls) == [4])
    #expect(LogText.lines(report) == LogText.lines(whole))
    #expect(LogLiveText.line(report).hasPrefix("5 lines: 4 SELECTs"))
    let table = LogLiveText.table(report, rows: 4, columns: 40)
    #expect(table.count <= 4 && table.allSatisfy { $0.count <= 40 })
    #expect(table[0].hasSuffix("…"))
  }

  @Test func logWithoutALineOfCoreDataIsAnError() throws {
    try append("hello\n")
    let log = try LiveLog(path: try path())
    #expect(throws: InvalidInputError.self) {
      try log.read(every: 1, isStopped: { true }, update: { _ in })
    }
  }
}
