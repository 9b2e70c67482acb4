import ProfileEvents
import RunResults
import ScenarioLanguage
import StatementAnalysis
import Testing
import WorkbenchFixtures
import WorkbenchText

@Suite("Text of costs, statements, and plans")
struct CostTextTests {
  @Test(arguments: [
    (
      "moods: 5,000 Mood, all faults", [1, 5_000, 0, 0], 8,
      "  moods: 5,000 Mood, all faults              1 SELECT    5,000 rows       0 faults"
        + "                          8 ms"
    ),
    (
      "read 2 key paths of 5,000 objects", [5_060, 5_060, 0, 5_060], 47,
      "  read 2 key paths of 5,000 objects      5,060 SELECTs   5,060 rows   5,060 faults: 0 hits,"
        + " 5,060 misses   47 ms"
    ),
    (
      "read 2 key paths of 5,000 objects", [0, 0, 5_060, 0], 3,
      "  read 2 key paths of 5,000 objects          0 SELECTs       0 rows   5,060 faults: 5,060"
        + " hits, 0 misses    3 ms"
    ),
  ])
  func everyLineHasItsCost(
    summary: String, counts: [Int], milliseconds: UInt64, expected: String
  ) {
    let costs = Self.costs(counts, milliseconds)
    #expect(costs.line(after: summary) == expected)
  }

  /// The total of `registered` is the sum over all contexts, `peak` that of a single one.
  @Test("a wrong number of registered objects is that of the end, and of all contexts")
  func registeredObjectsAreThoseOfTheEnd() {
    func lines(_ metric: Metric, _ found: Int) -> [String] {
      EventDifferences(recording: Recording(), metric: ScopedMetric(metric), found: found).lines
    }
    #expect(lines(.registered, 1) == ["there was 1 registered object when the steps ended"])
    #expect(lines(.registered, 200) == ["there were 200 registered objects when the steps ended"])
    #expect(lines(.peak, 200) == ["the context had 200 registered objects at once"])
  }

  @Test func lineContainsSavesInsertsAndTransactions() {
    var counters = Counters()
    counters.saves = 1
    counters.inserts = 2
    counters.transactions = 2
    let line = TimedCosts(counters: counters, nanoseconds: 1_000_000).line
    #expect(
      line == "    0 SELECTs       0 rows       0 faults                         1 save   "
        + "2 INSERTs   2 transactions    1 ms")
    #expect(
      TimedCosts(counters: Counters(), nanoseconds: 1_000_000).line
        == "    0 SELECTs       0 rows       0 faults                          1 ms")
  }

  @Test func twoRunsAreShownSideBySide() {
    let comparison = CostComparison(
      .init(name: "run 1", costs: Self.costs([5_061, 10_060, 0, 5_060], 55)),
      .init(name: "run 2", costs: Self.costs([2, 5_060, 5_060, 0], 18)))
    #expect(
      comparison.lines == [
        "              run 1    run 2",
        "  selects     5,061        2   - 5,059",
        "  rows       10,060    5,060   - 5,000",
        "  faults      5,060    5,060",
        "  misses      5,060        0   - 5,060      "
          + "same faults, none of them reached the database",
        "  time        55 ms    18 ms   (this machine; informational)",
      ])
  }

  @Test("columns of two runs are as wide as their longest name and numbers")
  func longNumbersOfTwoRunsAreApart() {
    var costs = Self.costs([1, 1_234_567, 0, 0], 1)
    costs.counters.transactions = 2
    let lines = CostComparison(
      .init(name: "run 1", costs: costs), .init(name: "run 2", costs: costs)
    ).lines
    #expect(lines[2] == "  rows         1,234,567 1,234,567")
    #expect(lines.contains("  transactions         2         2"))
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567"), (100_000, "100,000"),
  ])
  func numbersHaveGroupingSeparators(number: Int, text: String) {
    #expect(NumberText.grouped(number) == text)
  }

  @Test(
    arguments: [
      (0, "0 ms"), (1_000, "<0.1 ms"), (440_000, "0.4 ms"), (1_400_000, "1 ms"),
      (1_204_000_000, "1,204 ms"), (12_340_000_000, "12.3 s"),
    ] as [(UInt64, String)])
  func timesAreRounded(nanoseconds: UInt64, text: String) {
    #expect(NumberText.time(nanoseconds) == text)
  }

  @Test(arguments: [
    (
      FaultStormScenario.oneMood,
      "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, ... FROM ZMOOD t0 WHERE  t0.Z_PK = ?"
    ),
    (
      FaultStormScenario.oneCountry,
      "SELECT t0.Z_ENT, t0.Z_PK, t0.Z_OPT, ... FROM ZREGION t0 WHERE  t0.Z_PK = ?"
    ),
    ("SELECT COUNT(*) FROM ZITEM", "SELECT COUNT(*) FROM ZITEM"),
    ("SELECT 0, t0.Z_PK FROM ZMOOD t0", "SELECT 0, t0.Z_PK FROM ZMOOD t0"),
    ("BEGIN EXCLUSIVE", "BEGIN EXCLUSIVE"),
  ])
  func statementsAreShortened(sql: String, text: String) {
    #expect(SQLAbbreviation.short(sql) == text)
  }

  @Test(arguments: [
    ("", ["`--SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"], 1, PlanAssessment.Rating.keyLookup),
    ("", ["SCAN t0"], 1, .scan),
    ("", ["|--SCAN t0", "`--USE TEMP B-TREE FOR ORDER BY"], 1, .scanAndSort),
    ("SELECT a FROM t0 WHERE b = ?", ["`--SCAN t0"], 1, .filteringScan),
    ("SELECT a FROM t0 WHERE b = ?", ["`--SCAN t0 USING COVERING INDEX i"], 1, .filteringScan),
    ("", ["`--SEARCH t0 USING INDEX Z_ENT_INDEX (Z_ENT=?)"], 1, .indexSearch),
    ("", ["|--SCAN t0", "`--SEARCH t1 USING AUTOMATIC COVERING INDEX (a=?)"], 1, .automaticIndex),
    (
      " WHERE ",
      [
        "|--SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)", "`--LIST SUBQUERY 1",
        "   `--SCAN _Z_intarray0 VIRTUAL TABLE INDEX 0:",
      ], 1, .keyLookup
    ),
  ])
  func plansHaveAnAssessment(
    sql: String, lines: [String], count: Int, rating: PlanAssessment.Rating
  ) {
    #expect(PlanAssessment(sql: sql, lines: lines, count: count).rating == rating)
  }

  private static let byKey = ["`--SEARCH ZMOOD USING INTEGER PRIMARY KEY (rowid=?)"]

  /// A writing statement isn't described as a lookup, although it finds its rows like a reading
  /// one.
  @Test(arguments: [
    ("INSERT INTO ZMOOD(Z_PK) VALUES(?)", [], "Inserts without a search"),
    ("INSERT INTO ZMOOD(Z_PK) VALUES(?)", byKey, "Inserts; its triggers"),
    ("UPDATE ZMOOD SET ZDATE = ? WHERE Z_PK = ?", byKey, "Updates the row found by primary key"),
    ("DELETE FROM ZMOOD WHERE Z_PK = ?", byKey, "Deletes the row found by primary key"),
    ("DELETE FROM ZMOOD WHERE Z_PK IN (?, ?)", byKey, "Deletes the rows found by primary key"),
    ("UPDATE ZMOOD SET ZDATE = ? WHERE Z_PK IN (?, ?)", byKey, "Updates the rows found by primary"),
    (
      "UPDATE ZMOOD SET ZDATE = ? WHERE Z_PK IN (SELECT t0.Z_PK FROM ZMOOD t0)",
      [
        "|--SEARCH ZMOOD USING INTEGER PRIMARY KEY (rowid=?)",
        "`--USING ROWID SEARCH ON TABLE ZMOOD FOR IN-OPERATOR",
      ], "Updates every row, as requested: there's no filter."
    ),
    ("DELETE FROM ZMOOD", ["`--SCAN ZMOOD"], "Deletes every row, as requested"),
    ("DELETE FROM ZMOOD", [], "Deletes all rows in one step, as requested"),
    (
      "UPDATE ZMOOD SET ZDATE = ? WHERE ZLATITUDE = ?", ["`--SCAN ZMOOD"],
      "Full table scan to find the rows that it updates"
    ),
    ("SELECT 1", [], "No table is searched."),
  ])
  func writeStatementsAreDescribedAsWrites(sql: String, lines: [String], beginning: String) {
    for count in [1, 5_000] {
      let phrase = PlanAssessment(sql: sql, lines: lines, count: count).phrase
      #expect(!phrase.contains("optimal"), "\(phrase)")
      let sentence = PlanAssessment(sql: sql, lines: lines, count: count).text
      #expect(sentence.hasPrefix(beginning), "\(sentence)")
      #expect(!sentence.contains("plan is optimal"))
    }
  }

  @Test func optimalPlanReportsExecutionCount() {
    let lines = ["`--SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"]
    #expect(
      PlanAssessment(lines: lines, count: 5_000).text
        == "The plan is optimal (primary-key lookup), and no index can help. "
        + "The cost is running it 5,000 times.")
    #expect(!PlanAssessment(lines: lines, count: 1).text.contains("cost"))
  }

  private static func costs(_ counts: [Int], _ milliseconds: UInt64) -> TimedCosts {
    var counters = Counters()
    counters.selects = counts[0]
    counters.rows = counts[1]
    counters.objectFaultHits = counts[2]
    counters.objectFaultMisses = counts[3]
    return TimedCosts(counters: counters, nanoseconds: milliseconds * 1_000_000)
  }
}
