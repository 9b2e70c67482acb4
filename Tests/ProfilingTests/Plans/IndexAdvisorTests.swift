import Foundation
import OpenCoreData
import ProfileEvents
import Profiling
import SQLiteDriver
import ScenarioFiles
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import Profiling
@testable import StatementAnalysis

@Suite("Index advice")
struct IndexAdvisorTests {
  private static let point = "fetch Mood where \"latitude == 3 AND longitude == 3\""

  @Test(arguments: [
    // One index serves both: the shorter search uses its leftmost column.
    ([point, "fetch Mood where \"latitude == 4\""], ["Mood (latitude, longitude)"]),
    (
      ["fetch Mood where \"longitude == 3\" sort remoteIdentifier"],
      ["Mood (longitude, remoteIdentifier)"]
    ),
    (["fetch Mood sort latitude limit 10"], ["Mood (latitude)"]),
    (["fetch Mood where \"latitude == 3\" limit 1"], []),
    // `date` has an index, and fetching or counting all rows can't use another one.
    (["fetch Mood sort date", "fetch Mood", "count Mood"], []),
    ([], []),
  ])
  func proposesIndexesThatHelped(lines: [String], titles: [String]) throws {
    let advice = try AdvisedStore().advice(lines)
    #expect(advice.proposals.map(\.title) == titles)
    #expect(advice.unmeasured.isEmpty)
    #expect(advice.statements == lines.count)
  }

  @Test(
    "Steps run with the configuration of the store, also those that change a copy",
    arguments: [
      ["fetch City where \"name == 'Kyiv'\""],
      ["insert City with name Lviv", "save", "fetch City where \"name == 'Kyiv'\""],
    ])
  func stepsRunWithTheConfiguration(lines: [String]) throws {
    let store = try ConfigurationStore()
    let advice = try IndexAdviceSource.advice(forStore: store.url, lines: lines)
    #expect(advice.statements >= 1)
    let failure = #expect(throws: CommandFailure.self) {
      try IndexAdviceSource.advice(forStore: store.url, lines: ["fetch Country"])
    }
    #expect(failure?.message.contains("only the configuration Local") == true)
  }

  /// SQLite searches the indexes of all sides of an `OR`, or none of them.
  @Test(
    "Indexes for the sides of an OR are tested together",
    arguments: [
      ("latitude == 3 OR longitude == 4", ["latitude", "longitude"]),
      (
        "latitude == 3 OR (longitude == 4 AND remoteIdentifier == 'x')",
        ["latitude", "longitude"]
      ),
      (
        "latitude == 3 OR longitude > 2999 OR remoteIdentifier == 'x'",
        ["latitude", "longitude", "remoteIdentifier"]
      ),
      // `date` has an index.
      ("latitude == 3 OR date == CAST(0, 'NSDate')", ["latitude"]),
      ("latitude == 3 OR latitude == 4", ["latitude"]),
      // The other side can't be searched.
      ("latitude == 3 OR remoteIdentifier CONTAINS 'x'", []),
      ("latitude == 3 OR longitude != 4", []),
    ])
  func sidesOfAlternativesAreTestedTogether(condition: String, columns: [String]) throws {
    let store = try AdvisedStore()
    try store.execute("UPDATE ZMOOD SET ZLATITUDE = Z_PK, ZLONGITUDE = Z_PK")
    let advice = try store.advice(["fetch Mood where \"\(condition)\""])
    #expect(advice.proposals.map(\.title).sorted() == columns.map { "Mood (\($0))" })
    let names = Set(advice.proposals.map(\.name))
    let lines = AdviceText.lines(advice)
    for proposal in advice.proposals {
      #expect(Set(proposal.partners) == names.subtracting([proposal.name]))
      #expect(proposal.stepsAfter * 5 < proposal.stepsBefore)
      let partners = proposal.partners.joined(separator: ", ")
      let end = partners.isEmpty ? "verified" : "verified together with \(partners)"
      #expect(lines.contains { $0.contains("index \(proposal.title): ") && $0.hasSuffix(end) })
    }
    let json = String(decoding: try AdviceJSON.data(advice), as: UTF8.self)
    #expect(json.contains("\"together\"") == (columns.count > 1))
  }

  @Test func proposalStatesGainAndCost() throws {
    let advice = try AdvisedStore().advice([Self.point])
    let proposal = try #require(advice.proposals.first)
    let gain = try #require(proposal.gains.first)
    #expect(gain.before > 3_000 && gain.after * 5 < gain.before)
    #expect(gain.planBefore == ["`--SCAN t0"])
    #expect(
      gain.planAfter == [
        "`--SEARCH t0 USING INDEX cdprof_advice_0 (ZLATITUDE=? AND ZLONGITUDE=?)"
      ])
    let insert = try #require(proposal.insertSteps)
    #expect(insert.after > insert.before)
    #expect((proposal.size?.bytes ?? 0) > 10_000)
    #expect(
      proposal.modelElement == [
        "<fetchIndex name=\"byLatitudeAndLongitude\">",
        "    <fetchIndexElement property=\"latitude\" type=\"Binary\" order=\"ascending\"/>",
        "    <fetchIndexElement property=\"longitude\" type=\"Binary\" order=\"ascending\"/>",
        "</fetchIndex>",
      ])
    #expect(
      proposal.sql == "CREATE INDEX Z_Mood_byLatitudeAndLongitude ON ZMOOD "
        + "(ZLATITUDE COLLATE BINARY ASC, ZLONGITUDE COLLATE BINARY ASC)")
    let text = AdviceText.lines(advice).joined(separator: "\n")
    #expect(text.contains("VM steps per INSERT") && text.contains("pages"))
    let json = String(decoding: try AdviceJSON.data(advice), as: UTF8.self)
    #expect(json.contains("\"vmStepsBefore\""))
  }

  /// Each city has the number that the table's values suggest, and none has one of the run's.
  @Test("Indexes are tried with the numbers that the run searches for")
  func numbersOfListsAreThoseOfTheRun() throws {
    let scenario = try ScenarioReader.read(
      text: """
        name: Numbers
        model: Cities
        data: {City: {count: 3000, name: text 8, population: "one of [0]"}}
        steps:
          - {fetch: City, where: "population IN {1, 2, 3}", sort: name, limit: 20}
        """,
      url: PackagedScenarios.folder.appendingPathComponent("numbers.yml"), path: "numbers.yml")
    let advice = try IndexAdviceSource.advice(for: scenario)
    #expect(advice.proposals.map(\.title) == ["City (population)"])
  }

  /// P11: in a small table, an index doesn't reduce the work of a query.
  @Test("S8.23 a small table needs no index", arguments: [Self.point, "fetch Mood sort latitude"])
  func smallTablesNeedNoIndex(line: String) throws {
    #expect(try AdvisedStore(moods: 60).advice([line]).proposals.isEmpty)
  }

  /// `Z_OPT`, `Z_ENT`, and the entity ID columns don't belong to a property, so a model can't index
  /// them.
  @Test(arguments: [
    ("SELECT t0.Z_PK FROM ZMOOD t0 WHERE t0.Z_OPT = 12345", 0),
    ("SELECT t0.Z_OPT FROM ZMOOD t0 ORDER BY t0.Z_OPT", 0),
    ("SELECT t0.Z_ENT, t0.Z_OPT FROM ZMOOD t0 WHERE t0.ZLATITUDE = 3 AND t0.Z_OPT > 77", 1),
  ])
  func proposedIndexesUseOnlyPropertyColumns(sql: String, count: Int) throws {
    let store = try AdvisedStore()
    let advice = try store.advice([], sql: [sql])
    #expect(advice.proposals.count == count, "\(sql)")
    for proposal in advice.proposals {
      #expect(!proposal.modelElement.isEmpty, "\(proposal.sql)")
      #expect(!proposal.candidate.parts.contains { $0.column.hasPrefix("Z_") }, "\(proposal.sql)")
    }
  }

  @Test func indexNamesJoinKeyPathsInCamelCase() {
    #expect(
      IndexProposal.modelName(["country", "colors.body"], isPartial: true)
        == "byCountryAndColorsBodyNotNil")
  }

  /// The indexes of an entity need unique names.
  @Test func proposedIndexNamesAreUnique() throws {
    let store = try AdvisedStore()
    let connection = try StoreConnection.open(path: store.url.path, access: .inspecting)
    defer { connection.close() }
    let names = PropertyNames(connection)
    let taken = try #require(
      try NSManagedObjectModel.inStore(at: store.url).entities
        .first { !$0.indexes.isEmpty }.map { ($0.name ?? "", $0.indexes[0].name) })
    #expect(names.unusedIndexName(taken.1, in: taken.0) == "\(taken.1)2")
    #expect(names.unusedIndexName("byNothing", in: taken.0) == "byNothing")
  }

  /// The two orders differ only in the direction of the second column.
  @Test func namesOfProposalsDiffer() throws {
    let orders = ["t0.ZLATITUDE, t0.ZREMOTEIDENTIFIER", "t0.ZLATITUDE, t0.ZREMOTEIDENTIFIER DESC"]
    let advice = try AdvisedStore().advice(
      [], sql: orders.map { "SELECT t0.Z_OPT, t0.ZDATE FROM ZMOOD t0 ORDER BY \($0) LIMIT 5" })
    #expect(
      advice.proposals.map(\.name).sorted() == [
        "Z_Mood_byLatitudeAndRemoteIdentifier", "Z_Mood_byLatitudeAndRemoteIdentifier2",
      ])
    #expect(advice.proposals.allSatisfy { $0.sql.contains(" \($0.name) ") })
  }

  @Test(arguments: [
    ("t0.ZLATITUDE DESC, t0.Z_PK", "Mood (latitude descending)"),
    ("t0.ZLATITUDE DESC, t0.Z_PK DESC", "Mood (latitude)"),
    ("t0.ZLATITUDE, t0.Z_PK DESC", "Mood (latitude descending)"),
  ])
  func indexesSortByThePrimaryKeyAtTheEnd(order: String, title: String) throws {
    let advice = try AdvisedStore().advice(
      [], sql: ["SELECT t0.Z_OPT, t0.ZDATE, t0.ZLONGITUDE FROM ZMOOD t0 ORDER BY \(order) LIMIT 9"])
    #expect(advice.proposals.map(\.title) == [title])
  }

  @Test func tableWithTheGreatestPrimaryKeyHasNoCostOfInserting() throws {
    let store = try AdvisedStore()
    try store.execute("UPDATE ZMOOD SET Z_PK = 9223372036854775807 WHERE Z_PK = 1")
    let proposal = try #require(
      try store.advice(
        [], sql: ["SELECT t0.Z_PK FROM ZMOOD t0 WHERE t0.ZLATITUDE = 3 AND t0.ZLONGITUDE = 3"]
      ).proposals.first)
    #expect(proposal.insertSteps == nil)
  }

  /// The row that's inserted is a copy of another one, except for unique values.
  @Test func costOfInsertingIsMeasuredDespiteUniqueValues() throws {
    let store = try AdvisedStore()
    try store.execute(
      "UPDATE ZMOOD SET ZREMOTEIDENTIFIER = 'mood ' || Z_PK; "
        + "CREATE UNIQUE INDEX byID ON ZMOOD (ZREMOTEIDENTIFIER); "
        + "CREATE UNIQUE INDEX byDateAndID ON ZMOOD (ZDATE, ZREMOTEIDENTIFIER)")
    let proposal = try #require(try store.advice([Self.point]).proposals.first)
    let insert = try #require(proposal.insertSteps)
    #expect(insert.after > insert.before)
  }

  @Test func adviceDoesNotModifyTheStore() throws {
    let store = try AdvisedStore()
    let before = try FolderState(store.url.deletingLastPathComponent())
    _ = try store.advice([Self.point])
    let change = try store.advice(["batch-delete Mood where \"latitude == 3\"", Self.point])
    // The steps ran, so the search found nothing, but the index is tried with all rows.
    #expect(change.proposals.map(\.title) == ["Mood (latitude, longitude)"])
    #expect(try FolderState(store.url.deletingLastPathComponent()) == before)
  }

  @Test("A model that was read isn't read again for the steps")
  func modelIsReadOnce() throws {
    let store = try AdvisedStore()
    let model = try StoreModel.ofStore(at: store.url)
    try store.execute("DROP TABLE Z_MODELCACHE")
    let advice = try IndexAdviceSource.advice(
      forStore: store.url, lines: ["batch-delete Mood where \"latitude == 3\"", Self.point],
      model: model)
    #expect(!advice.proposals.isEmpty)
  }

  @Test("A store without a model gets advice for steps that read")
  func inferredModelServesStepsThatRead() throws {
    let store = try AdvisedStore()
    try store.execute("DROP TABLE Z_MODELCACHE")
    let advice = try store.advice([Self.point])
    #expect(advice.proposals.map(\.title) == ["ZMOOD (ZLATITUDE, ZLONGITUDE)"])
    let failure = #expect(throws: CommandFailure.self) {
      try store.advice([Self.point, "batch-delete Mood"])
    }
    #expect(failure?.message.hasPrefix("`batch-delete` changes data, which requires") == true)
    #expect(failure?.nextStep == "use only steps that read")
  }

  @Test func prefixIndexesAreRedundant() throws {
    let store = try AdvisedStore()
    try store.execute(
      "CREATE INDEX old ON ZMOOD(ZLATITUDE); CREATE INDEX idle ON ZMOOD(ZREMOTEIDENTIFIER)")
    let advice = try store.advice([Self.point, Self.point])
    #expect(advice.proposals.map(\.title) == ["Mood (latitude, longitude)"])
    #expect(advice.redundant.map(\.name) == ["old"])
    #expect(advice.redundant.first?.isServedByProposal == true)
    // A redundant index isn't reported as unused, and vice versa.
    #expect(Set(advice.unused.map(\.name)) == ["idle", "Z_Mood_byDateIndex"])
  }

  @Test("An index of an expression is listed with the expression")
  func expressionsOfIndexesAreListed() throws {
    let store = try AdvisedStore()
    try store.execute("CREATE INDEX odd ON ZMOOD(abs(ZLATITUDE) DESC, ZLONGITUDE)")
    let advice = try store.advice([Self.point])
    let odd = try #require(advice.unused.first { $0.name == "odd" })
    #expect(odd.columns == ["abs(ZLATITUDE)", "ZLONGITUDE"])
    #expect(
      AdviceText.lines(advice).contains {
        $0.hasPrefix("unused: odd (abs(ZLATITUDE), ZLONGITUDE, ")
      })
  }

  /// Removing both would leave no index for the condition.
  @Test func whatMakesAnIndexRedundantIsNotUnused() throws {
    let store = try AdvisedStore()
    try store.execute(
      "CREATE INDEX short ON ZMOOD(ZREMOTEIDENTIFIER); "
        + "CREATE INDEX long ON ZMOOD(ZREMOTEIDENTIFIER, ZLATITUDE)")
    let advice = try store.advice(
      [], sql: ["SELECT t0.Z_PK FROM ZMOOD t0 WHERE t0.ZREMOTEIDENTIFIER = 'x'"])
    #expect(advice.redundant.map(\.name) == ["short"])
    #expect(advice.redundant.first?.servedBy == "long")
    #expect(!advice.unused.map(\.name).contains("long"))
  }

  @Test func indexesThatFindRowsToChangeAreUsed() throws {
    let store = try AdvisedStore()
    try store.execute("CREATE INDEX busy ON ZMOOD(ZREMOTEIDENTIFIER)")
    let reading = AdvisedStatement(
      sql: "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZLATITUDE = 1", count: 1)
    let changing = AdvisedStatement(
      sql: "UPDATE ZMOOD SET ZLATITUDE = 1 WHERE ZREMOTEIDENTIFIER = 'x'", count: 1)
    func unused(_ statements: [AdvisedStatement]) throws -> [String] {
      try IndexAdvisor(storeURL: store.url).advice(on: statements).unused.map(\.name)
    }
    #expect(try unused([reading]).contains("busy"))
    #expect(try !unused([reading, changing]).contains("busy"))
    #expect(try unused([reading, changing]).contains("Z_Mood_byDateIndex"))
  }

  /// A batch request changes many rows with one statement.
  @Test func updatingAnIndexCostsEachRowThatIsWritten() throws {
    let store = try AdvisedStore()
    let reading = AdvisedStatement(
      sql: "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZLATITUDE = 3", count: 1)
    func proposals(rows: Int) throws -> Int {
      let writing = StatementShape(
        number: 1, kind: .update, sql: "UPDATE ZMOOD SET ZLONGITUDE = 1 WHERE Z_PK IN (?)",
        count: 1, rows: rows, nanoseconds: 0)
      let statements = [reading] + AdvisedStatement.all(in: [writing, writing])
      return try IndexAdvisor(storeURL: store.url).advice(on: statements).proposals.count
    }
    #expect(try proposals(rows: 1) == 1)
    #expect(try proposals(rows: 100_000) == 0)
  }

  @Test func indexesOfTablesOfUnmeasuredStatementsAreNotReported() throws {
    let store = try AdvisedStore()
    let unmeasured = "SELECT 0, t0.Z_PK, noSuchFunction(t0.ZDATE) FROM ZMOOD t0 WHERE  t0.ZDATE > ?"
    let advice = try store.advice(["fetch Mood where \"latitude == 1\""], sql: [unmeasured])
    #expect(advice.unmeasured == [unmeasured])
    #expect(advice.unused.isEmpty)
  }

  /// SQLite finds the rows that aren't NULL only in a partial index.
  @Test(arguments: ["remoteIdentifier == 'x'", "remoteIdentifier != nil"])
  func mostlyNullColumnsGetPartialIndexes(predicate: String) throws {
    let store = try AdvisedStore()
    try store.execute("UPDATE ZMOOD SET ZREMOTEIDENTIFIER = NULL WHERE Z_PK % 10 > 0")
    let advice = try store.advice(["fetch Mood where \"\(predicate)\""])
    #expect(
      advice.proposals.map(\.title) == ["Mood (remoteIdentifier) where remoteIdentifier != nil"])
    #expect(advice.proposals[0].modelElement[0].contains("partialIndexPredicate"))
    #expect(advice.proposals[0].sql.hasSuffix("WHERE ZREMOTEIDENTIFIER IS NOT NULL"))
  }

  /// Statements of a log without bound values, with functions and tables that only Core Data has.
  @Test(arguments: [
    (
      "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE  t0.ZLONGITUDE = ? ORDER BY t0.ZREMOTEIDENTIFIER",
      ["Mood (longitude, remoteIdentifier)"], 0
    ),
    (
      "SELECT 0, t0.Z_PK FROM ZMOOD t0 WHERE NSCoreDataStringSearch( t0.ZREMOTEIDENTIFIER, ?, 417, 1)",
      [], 0
    ),
    (
      "SELECT 0, t0.Z_PK, t0.ZDATE FROM ZMOOD t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)",
      [], 0
    ),
    ("SELECT 0, t0.Z_PK FROM ZELSEWHERE t0 WHERE  t0.ZX = ?", [], 1),
  ])
  func capturedStatementsAreIncluded(sql: String, titles: [String], unmeasured: Int) throws {
    let advice = try AdvisedStore().advice([], sql: [sql])
    #expect(advice.unmeasured.count == unmeasured)
    #expect(advice.proposals.map(\.title) == titles)
  }
}
