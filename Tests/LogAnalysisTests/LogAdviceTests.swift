import Foundation
import Profiling
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import LogAnalysis
@testable import StatementAnalysis

@Suite("Index advice from a log")
struct LogAdviceTests {
  private static let search =
    "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE ( t0.ZLATITUDE = ? AND  t0.ZLONGITUDE = ?)"

  /// A search with its bound values, without them, with redacted ones, and with too few.
  @Test(
    arguments: [
      (["3.0", "4.0"], true), ([], false), (["<private>", "<private>"], false), (["3.0"], false),
    ] as [([String], Bool)])
  func missingBoundValuesAreTakenFromTheStore(binds: [String], isComplete: Bool) throws {
    let store = try AdvisedStore()
    let details = binds.enumerated().map { "CoreData: details: SQLite bind[\($0)] = \($1)\n" }
    let report = SampleLogs.report("CoreData: sql: \(Self.search)\n" + details.joined())
    #expect(
      report.statements[0].boundValues == (isComplete ? [.real(3), .real(4)] : nil))
    let advice = try IndexAdvisor(storeURL: store.url).advice(on: report.advisedStatements)
    #expect(advice.proposals.map(\.title) == ["Mood (latitude, longitude)"])
    #expect(advice.unmeasured.isEmpty)
  }

  @Test(
    "The conditions of batch requests get indexes, also without values",
    arguments: [
      (
        "DELETE FROM ZMOOD WHERE Z_PK IN "
          + "(SELECT t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZREMOTEIDENTIFIER = ?)", 1
      ),
      ("UPDATE ZMOOD SET ZLATITUDE = ?, Z_OPT = (Z_OPT + 1) WHERE ZREMOTEIDENTIFIER = ?", 1),
      ("UPDATE ZMOOD SET ZREMOTEIDENTIFIER = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?", 0),
    ])
  func batchRequestsGetIndexes(sql: String, count: Int) throws {
    let store = try AdvisedStore()
    let report = SampleLogs.report("CoreData: sql: \(sql)\n")
    let advice = try IndexAdvisor(storeURL: store.url).advice(on: report.advisedStatements)
    #expect(advice.statements == count && advice.unmeasured.isEmpty)
    #expect(advice.proposals.map(\.title) == (count == 0 ? [] : ["Mood (remoteIdentifier)"]))
  }

  @Test func skipsStatementsThatNoIndexCanHelp() throws {
    let store = try AdvisedStore()
    let report = SampleLogs.report(
      [
        "SELECT 0, t0.Z_PK, t0.ZLATI<…>", "BEGIN EXCLUSIVE",
        "SELECT 0, t0.Z_PK FROM ZSOMETHINGELSE t0 WHERE  t0.ZNAME = ?",
        "INSERT INTO ZMOOD(Z_PK, Z_ENT, Z_OPT) VALUES(?, ?, ?)", "COMMIT",
        "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
      ].map { "CoreData: sql: \($0)\n" }.joined())
    #expect(report.advisedStatements.map(\.count) == [1, 1])
    let advice = try IndexAdvisor(storeURL: store.url).advice(on: report.advisedStatements)
    #expect(advice.proposals.isEmpty)
    #expect(advice.unmeasured.count == 1)
  }

  @Test func onlyTheMostExpensiveStatementsAreTested() {
    let many = (0..<300).map {
      SampleLogs.fetch(
        "SELECT 0, t0.Z_PK FROM ZMOOD t0 LIMIT \($0)", rows: 1, time: "0.0\(100 + $0)s")
    }
    let advised = SampleLogs.report(many.joined()).advisedStatements
    #expect(advised.count == LogReport.mostAdvised)
    #expect(advised.first?.sql.hasSuffix("LIMIT 299") == true)
  }

  @Test func reportsShowBoundValuesOnlyOnRequest() throws {
    let store = try AdvisedStore()
    let report = SampleLogs.report(
      "CoreData: sql: \(Self.search)\nCoreData: details: SQLite bind[0] = 3.5\n"
        + "CoreData: details: SQLite bind[1] = 4.5\n")
    let advice = try IndexAdvisor(storeURL: store.url).advice(on: report.advisedStatements)
    let hidden = String(decoding: try LogJSON.data(report, advice: advice), as: UTF8.self)
    #expect(hidden.contains("\"proposals\"") && hidden.contains("Mood (latitude") == false)
    #expect(!hidden.contains("3.5") && !hidden.contains("\"binds\""))
    let shown = String(decoding: try LogJSON.data(report, showsBinds: true), as: UTF8.self)
    #expect(shown.contains("3.5") && !shown.contains("\"proposals\""))
    #expect(LogText.lines(report, showsBinds: true).contains("  #1 bound: 3.5, 4.5"))
    #expect(!LogText.lines(report).joined().contains("3.5"))
  }
}
