import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import LogAnalysis

@Suite("Searches in the bytes of a log")
struct LogBytesTests {
  @Test("A search finds the first occurrence, in any part of a log")
  func findsTheFirstOccurrence() {
    let text = LogBytes(Array("xCoreDatCoreData: time: time: 1s".utf8)[1...])
    #expect(text.range(of: "CoreData") == 8..<16)
    #expect(text.range(of: "CoreData", from: 9) == nil)
    #expect(text.range(of: " time: ") == 17..<24)
    #expect(text.lastRange(of: "time: ") == 24..<30)
    #expect(text.range(of: "1s") == 30..<32)
    #expect(text.range(of: "1s for") == nil)
    #expect(LogBytes("").range(of: "x") == nil && !LogBytes("Cor").contains("CoreData"))
    #expect(text.index(of: 0x31) == 30 && text.index(of: 0) == nil)
  }

  @Test("Equal bytes have equal hashes, wherever they are in a buffer")
  func equalBytesAreEqual() {
    let (one, other) = (Array("--SELECT 12345 FROM Z".utf8), Array("SELECT 12345 FROM Z--".utf8))
    let texts: Set = [LogBytes(one[2...]), LogBytes(other[..<19]), LogBytes(other[..<18])]
    #expect(texts.count == 2)
  }

  @Test("Each byte determines the hash, in texts of any length")
  func eachByteDeterminesTheHash() {
    for count in 1...50 {
      let text = [UInt8](repeating: 0x41, count: count)
      let changed = text.indices.map { index in
        var other = text
        other[index] = 0x42
        return LogBytes(other[...])
      }
      let shorter = LogBytes(text.dropLast())
      let hashes = Set((changed + [LogBytes(text[...]), shorter]).map(\.keyedHash))
      #expect(hashes.count == count + 2, "\(count) bytes")
    }
  }

  @Test("Brackets in quotation marks aren't counted")
  func countsBrackets() {
    #expect(LogMessage.balance(LogBytes("values: ( \"(((\" {")) == 2)
    #expect(LogMessage.balance(LogBytes(")\"(")) == -1)
  }

  @Test("The objects of a level-3 fetch continue it, and the next message is counted")
  func readsListedObjects() {
    let object =
      "    \"<Mood: 0x1> (entity: Mood; id: 0x1 <x-coredata://S/Mood/p1> ; data: <fault>)\""
    let sql = "SELECT 0, t0.Z_PK FROM ZMOOD t0"
    let report = SampleLogs.report(
      "CoreData: sql: \(sql)\nCoreData: annotation: sql connection fetch time: 0.0001s\n"
        + "CoreData: annotation: fetch using NSSQLiteStatement <0x1> on entity 'Mood' with sql text "
        + "'\(sql) ' returned 3000 rows with values: (\n"
        + String(repeating: object + ",\n", count: 2_999) + object + "\n)\n"
        + "CoreData: annotation: total fetch execution time: 0.0002s for 3000 rows.\nmy output\n")
    #expect(report.kinds[.continuation] == 3_001 && report.kinds[.app] == 1)
    #expect(report.unrecognized == 0 && report.costs[.rows] == 3_000)
    #expect(report.statements.map(\.entity) == ["Mood"])
    #expect(report.slowest == [LogExecution(statement: 1, line: 1, microseconds: 200)])
  }

  @Test("The hundred slowest executions are kept, slowest first")
  func keepsTheSlowestExecutions() {
    var slowest = SlowestExecutions()
    for line in 1...300 {
      slowest.add(LogExecution(statement: 0, line: line, microseconds: line * 7 % 300))
    }
    #expect(slowest.sorted.map(\.microseconds) == (200...299).reversed())
  }
}
