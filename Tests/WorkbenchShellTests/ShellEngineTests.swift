import Foundation
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports
@testable import RunResults
@testable import ScenarioLanguage
@testable import WorkbenchShell
@testable import WorkbenchText

@Suite("Costs of shell lines")
struct ShellEngineTests {
  private let faults = PackagedScenarios.folder.appendingPathComponent("faults.yml")
  private let folder: TemporaryFolder
  /// 40 moods in 20 countries, no continent.
  private let small: URL

  init() throws {
    folder = try TemporaryFolder()
    small = folder.file("small.yml")
    try Data(
      """
      name: Small
      model: \(PackagedScenarios.folder.appendingPathComponent("Models/Moody.xcdatamodel").path)
      data:
        Country: {count: 20}
        Mood: {count: 40 * scale, country: cycle}
      steps: []
      """.utf8
    ).write(to: small)
  }

  /// Missing indexes are searched for at the end of a variant; the saved scenario must expect them.
  @Test func savedScenarioExpectsTheRunsFindings() throws {
    let shell = try ShellSession(faults)
    shell.type("fetch Mood where \"remoteIdentifier == 'x'\" limit Mood / 10 as some", "reset")
    shell.type("fetch Mood limit Mood / 10 as part", "touch part date")
    let file = folder.file("saved.yml")
    #expect(shell.type("save scenario \(file.path)").failure == nil)
    let scenario = try ScenarioReader.read(file)
    #expect(scenario.variants[0].expect.findings?.names.map(\.text) == ["missing-index(Mood)"])
    #expect(scenario.variants[1].expect.findings == nil)
    let result = try ScenarioRunner(scenario: scenario, outputDirectory: folder.url).run()
    #expect(result.passes)
  }

  @Test func expressionsOfBatchUpdatesAreRunAndSaved() throws {
    let shell = try ShellSession(small)
    shell.type("batch-update Mood with latitude 2", "sql 1")
    let line = "batch-update Mood with latitude = latitude + 1, remoteIdentifier latitude"
    #expect(shell.type(line).lines[0].contains("40 Mood updated"))
    let statements = shell.log.map { $0.replacing(" ", with: "") }
    #expect(statements.contains { $0.contains("ZLATITUDE=(ZMOOD.ZLATITUDE+?),") }, "\(shell.log)")
    let count = "count Mood where latitude == 3 AND remoteIdentifier == 'latitude'"
    #expect(shell.type("sql 0", count).lines[0].contains("40 Mood"))
    let file = folder.file("saved.yml")
    #expect(shell.type("save scenario \(file.path)").failure == nil)
    let scenario = try ScenarioReader.read(file)
    let steps = scenario.variants[0].steps(sharing: scenario.steps).map(\.text)
    #expect(
      steps.prefix(2) == [
        "batch-update Mood with latitude 2",
        "batch-update Mood with latitude = \"latitude + 1\", remoteIdentifier latitude",
      ])
    let result = try ScenarioRunner(scenario: scenario, outputDirectory: folder.url).run()
    #expect(result.passes)
    let failure = try #require(
      shell.type("batch-update Mood with latitude = latitud + 1").failure)
    #expect(failure.message.contains("did you mean `latitude`"), "\(failure)")
    let vocabulary = shell.engine.vocabulary
    for start in ["lat", "\"lat", "\"longitude * lat"] {
      let line = "batch-update Mood with latitude = \(start)"
      #expect(vocabulary.candidates(for: line) == .words(["latitude"]), "\(line)")
    }
  }

  /// Row counts are those of the opened store; rows that a step inserts don't change them.
  @Test
  func expressionsUseTheOpenStoresRows() throws {
    let shell = try ShellSession(small)
    #expect(shell.type("fetch Mood limit Mood / Country + 1 as some").lines[0].contains("3 Mood"))
    #expect(shell.type("insert Country times 2 * scale as new").failure == nil)
    #expect(shell.type("fetch Mood limit Mood / Country as some").lines[0].contains("2 Mood"))
    let misspelled = shell.type("fetch Mood limit Contry").failure
    #expect(misspelled?.message.contains("did you mean `Country`") == true, "\(misspelled as Any)")
    let fraction = shell.type("fetch Mood limit Mood / 3").failure
    #expect(fraction?.message.contains("wrap the division in ceil()") == true)
    #expect(
      shell.engine.vocabulary.candidates(for: "fetch Mood limit Cou") == .words(["Country"]))
  }

  @Test
  func faultStormSessionShowsCostsAndSavesAScenario() throws {
    let shell = try ShellSession(faults)
    #expect(
      shell.engine.banner()
        == "Fault storm (chapter 15) · Continent 6, Country 60, Mood 5,000 · "
        + "scratch store, nothing cached · `help` lists commands")
    #expect(
      shell.type("fetch Mood sort date- values no as moods").lines == [
        "  moods: 5,000 Mood, all faults              1 SELECT    5,000 rows       0 faults"
      ])
    #expect(
      shell.type("touch moods date country.numericISO3166Code").lines == [
        "  read 2 key paths of 5,000 objects      5,060 SELECTs   5,060 rows   "
          + "5,060 faults: 0 hits, 5,060 misses",
        "  ! fault-storm(Mood)           5,000 single-row SELECTs from this line   "
          + "fix: fetch Mood sort date- as moods",
        "  ! fault-storm(Mood.country)      60 single-row SELECTs from this line   "
          + "fix: fetch Mood sort date- prefetch country as moods",
      ])
    #expect(
      shell.type("last").lines == [
        "  #2  5,000 x  fault Mood     miss   SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, ... "
          + "FROM ZMOOD t0 WHERE  t0.Z_PK = ?",
        "  #3     60 x  fault Country  miss   SELECT t0.Z_ENT, t0.Z_PK, t0.Z_OPT, ... "
          + "FROM ZREGION t0 WHERE  t0.Z_PK = ?",
      ])
    #expect(
      shell.type("explain 2").lines == [
        "  SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)",
        "  The plan is optimal (primary-key lookup), and no index can help. "
          + "The cost is running it 5,000 times.",
        "  95,000 VM steps (19 per run)",
      ])
    #expect(
      shell.type("reset").lines == [
        "  Started a cold run: new coordinator, empty row cache. Run 1 is kept for `diff`."
      ])
    #expect(
      shell.type("fetch Mood sort date- prefetch country as moods").lines == [
        "  moods: 5,000 Mood, all faults              2 SELECTs   5,060 rows       0 faults"
      ])
    #expect(
      shell.type("touch moods date country.numericISO3166Code").lines == [
        "  read 2 key paths of 5,000 objects          0 SELECTs       0 rows   "
          + "5,060 faults: 5,060 hits, 0 misses"
      ])
    #expect(
      shell.type("diff").lines.dropLast() == [
        "              run 1    run 2",
        "  selects     5,061        2   - 5,059",
        "  rows       10,060    5,060   - 5,000",
        "  faults      5,060    5,060",
        "  misses      5,060        0   - 5,060      same faults, none of them reached the database",
      ])
    let file = folder.file("my-storm.yml")
    #expect(
      shell.type("save scenario \(file.path)").lines == [
        "  \(file.path): 2 variants, 8 expectations as measured. "
          + "Next: cdprof run \(file.path) --report html"
      ])
    #expect(shell.engine.answer(to: "quit").ends)
    let result = try ScenarioRunner(
      scenario: try ScenarioReader.read(file), outputDirectory: folder.url
    ).run()
    #expect(result.summary == "2 of 2 variants, 8 of 8 expectations")
    #expect(result.passes)
  }

  /// A line, the words above the carets, and parts of the message and of the next step.
  @Test(
    arguments: [
      ("fetsch Mood", "fetsch", "did you mean `fetch`", "`help`"),
      ("lsat", "lsat", "did you mean `last`", "`help`"),
      ("fetch Moood", "Moood", "did you mean `Mood`", "Continent, Country, Mood, Region"),
      (
        "fetch Mood where \"country.iso3166Code == 1\"", "iso3166Code", "numericISO3166Code",
        "properties are"
      ),
      ("fetch Mood where \"date >\"", "\"", "is incomplete", "a key path"),
      ("fetch Mood limt 3", "limt", "did you mean `limit`", "`fetch` takes"),
      ("count Mood where \"latitude > $x\"", "$x", "`$x` has no value", "write the value itself"),
      (
        "count Country where \"SUBQUERY(moods, $m, $m.latitude > $n).@count > 0\"", "$n",
        "`$n` has no value", "only SUBQUERY"
      ),
      ("count Mood where country == $n", "$n", "did you mean `$m`", "use a result: $m"),
      ("count Mood where country == $m", "$m", "contains Mood, but `country` is", "of Country"),
      ("count Mood where latitude > $m", "$m", "but `latitude` is an attribute", "SELF"),
      ("fetch Mood sort date- as m, n", ",", "expected an option", "`limit 20`"),
      ("touch m dat", "dat", "did you mean `date`", "properties are"),
      ("touch n date", "n", "there's no result `n`; did you mean `m`", "use one of: m"),
      ("walk m date", "date", "is an attribute", "walk relationships"),
      ("explain 9", "9", "there's only 1", "`last`"),
      ("explain x", "x", "isn't one of the numbers", "`last` shows"),
      ("sql 5", "5", "range from 0 to 4", "sql 1"),
      ("help fetsch", "fetsch", "did you mean `fetch`", "`help`"),
      ("entities Moods", "Moods", "did you mean `Mood`", "entities are"),
      ("reset now", "now", "takes no arguments", "write `reset`"),
      ("save scenario a.txt", "a.txt", "end in .yml", "a.txt.yml"),
      ("save scenario /no/such/folder/a.yml", nil, "no such file or directory", nil),
      ("diff", nil, "only one run", "`reset` starts the next"),
      ("open /no/such/store", "/no/such/store", "there's no file /no/such/store", "check"),
      ("source no.txt", "no.txt", "there's no file no.txt", "check the path"),
      ("save scenario", nil, "expected a file", "save scenario FILE.yml"),
    ] as [(String, String?, String, String?)])
  func invalidLinesHavePositionAndNextStep(
    line: String, marked: String?, message: String, nextStep: String?
  ) throws {
    let shell = try ShellSession(small)
    shell.type("fetch Mood limit 2 as m")
    let failure = try #require(shell.type(line).failure)
    #expect(failure.message.contains(message), "\(failure.message)")
    #expect((failure.nextStep == nil) == (nextStep == nil))
    if let nextStep { #expect(failure.nextStep?.contains(nextStep) == true) }
    #expect((failure.excerpt == nil) == (marked == nil))
    if let marked {
      let excerpt = try #require(failure.excerpt).split(separator: "\n").map(Array.init)
      let carets = excerpt[1].indices.filter { excerpt[1][$0] == "^" }
      #expect(String(carets.map { excerpt[0][$0] }) == marked)
    }
    #expect(shell.type("last").failure == nil, "the shell continues, and no step has run")
    #expect(shell.engine.current.steps.count == 1)
  }

  @Test func runsStartFromTheSameData() throws {
    let shell = try ShellSession(small)
    shell.type(
      "fetch Country limit 1 as c",
      "insert Mood times 3 with date 2016-01-01, colors ff8800, country c as new")
    let saved = shell.type("save")
    #expect(saved.lines.first?.contains("saved: 3 inserted, 1 updated") == true)
    #expect(shell.type("count Mood").lines.first?.hasPrefix("  43 Mood ") == true)
    #expect(shell.type("entities").lines.contains("  Mood         43"))
    #expect(shell.type("reset").lines.first?.hasSuffix("Its saves are undone.") == true)
    #expect(shell.type("count Mood").lines.first?.hasPrefix("  40 Mood ") == true)
    #expect(shell.type("reset", "reset").lines == ["  already cold: nothing has run in run 3"])
  }

  @Test func savedRunsMeetTheirExpectations() throws {
    let shell = try ShellSession(small)
    shell.type(
      "fetch Country limit 2 as c", "insert Mood as bare", "save", "rollback",
      "insert Mood times 2 with date 2016-01-01, colors ff8800, country c", "save", "reset",
      "fetch Mood where \"country.numericISO3166Code == 2\" sort date- batch 20 as m",
      "touch m country.updatedAt limit 30", "delete m limit 3", "save", "count Mood", "reset",
      "fetch Mood values no result ids as ids", "drop ids")
    let file = folder.file("mine.yml")
    #expect(shell.type("save scenario \(file.path)").failure == nil)
    let result = try ScenarioRunner(
      scenario: try ScenarioReader.read(file), outputDirectory: folder.url
    ).run()
    #expect(result.variants.map(\.name) == ["run 1", "run 2", "run 3"])
    #expect(RunText.unmet(result) == [])
    #expect(
      shell.type("save scenario \(file.path)").failure == nil, "the shell can replace its own file")
    let foreign = folder.file("other.yml")
    try Data().write(to: foreign)
    #expect(
      shell.type("save scenario \(foreign.path)").failure?.message.contains("already") == true)
    #expect(try Data(contentsOf: foreign).isEmpty)
  }

  @Test(arguments: ["touch m date", "walk m sort date-"])
  func stepsAreInterruptedBetweenObjects(step: String) throws {
    let shell = try ShellSession(small)
    shell.type("fetch Mood values no as m")
    let interrupter = InterruptingSink(shell.engine.interruption, afterFaults: 3)
    shell.engine.session?.add(interrupter)
    let failure = try #require(shell.type(step).failure)
    #expect(failure.message.hasPrefix("`\(step)` was interrupted"))
    shell.engine.session?.remove(interrupter)
    #expect(shell.type("stats").lines.contains("  misses              3"))
    #expect(shell.type(step).failure == nil, "an interruption affects only one step")
    let file = folder.file("interrupted.yml")
    #expect(
      shell.type("save scenario \(file.path)").failure?.message.contains("can be repeated") == true)
    shell.type("reset", "count Mood")
    #expect(shell.type("save scenario \(file.path)").lines.first?.contains("1 variant,") == true)
  }

  @Test(
    "A step is interrupted between the objects of a key path",
    arguments: ["touch c moods.date", "walk c moods.country"])
  func stepsAreInterruptedInKeyPaths(step: String) throws {
    let text = try String(contentsOf: small, encoding: .utf8)
    try Data(text.replacing("{count: 20}", with: "{count: 1}").utf8).write(to: small)
    let shell = try ShellSession(small)
    shell.type("fetch Country values no as c")
    let interrupter = InterruptingSink(shell.engine.interruption, afterFaults: 3)
    shell.engine.session?.add(interrupter)
    let failure = try #require(shell.type(step).failure)
    #expect(failure.message.hasPrefix("`\(step)` was interrupted"))
    shell.engine.session?.remove(interrupter)
    // The country, its moods as IDs, and two of the 40 moods.
    #expect(shell.type("stats").lines.contains("  misses              4"))
  }

  /// The statement runs directly on the connection and wouldn't end.
  @Test func sqlStatementsAreInterrupted() throws {
    let shell = try ShellSession(small)
    shell.type("count Mood")
    let interruption = shell.engine.interruption
    let interrupter = DispatchSource.makeTimerSource(queue: .global())
    interrupter.schedule(deadline: .now() + 0.2, repeating: 0.1)
    interrupter.setEventHandler { interruption.request() }
    interrupter.resume()
    let failure = shell.type(
      "sql \"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c\""
    ).failure
    interrupter.cancel()
    #expect(failure?.message.hasSuffix("was interrupted; its changes so far are kept") == true)
    #expect(shell.type("sql \"SELECT 1\"").failure == nil, "the connection is still usable")
  }

  @Test func sqlCommandSetsTheLogLevel() throws {
    let shell = try ShellSession(small)
    shell.type("sql 1", "count Mood where \"date > 0\"")
    #expect(
      shell.log.map(ShellSession.withoutTime).first { $0.hasPrefix("CoreData: ") }
        == "CoreData: sql: SELECT COUNT(*) FROM ZMOOD t0 WHERE  t0.ZDATE > ?")
    #expect(!shell.log.contains { $0.contains("bind") })
    let before = shell.log.count
    shell.type("sql 0", "count Mood")
    #expect(shell.log.count == before)
    shell.type("sql 2", "reset", "count Mood where \"date > 0\"")
    #expect(shell.log[before...].contains { $0.contains("Connecting to sqlite database file at") })
    #expect(
      shell.log.last { $0.contains("bind") } == "CoreData: details: SQLite bind[0] = <private>")
    #expect(
      shell.type("sql").lines == [
        "  SQL log: level 2, on standard error, bound values hidden (start with --show-binds)"
      ])
  }

  @Test func boundValuesAreLoggedOnRequest() throws {
    let shell = try ShellSession(on: ShellWorkspace(opening: small.path), showsBinds: true)
    shell.type("sql 2", "count Mood where \"date > 0\"")
    #expect(shell.log.last { $0.contains("bind") } == "CoreData: details: SQLite bind[0] = 0.0")
    #expect(shell.type("sql").lines == ["  SQL log: level 2, on standard error"])
  }

  @Test func statsCountMigrations() throws {
    let scenario = "14-migration/an-index-added-later.yml"
    let shell = try ShellSession(PackagedScenarios.folder.appendingPathComponent(scenario))
    #expect(shell.type("migrate \"Articles reindexed\"", "count Article").failure == nil)
    let stats = shell.type("stats").lines
    #expect(stats.contains("  migrations          1"))
    #expect(stats.contains("  createdindexes      1"))
    #expect(stats.contains("  ddl                 1"))
  }

  @Test func statsFindingsAndHelpDescribeTheRun() throws {
    let shell = try ShellSession(small)
    shell.type("fetch Mood values no as m", "touch m date limit 40", "touch m date limit 40")
    let last = shell.type("last")
    #expect(last.failure == nil && last.lines.first?.contains("in memory") == true, "\(last)")
    let stats = shell.type("stats").lines
    #expect(stats.first == "  run 1, 3 steps")
    #expect(stats.contains("  selects            41"))
    #expect(stats.contains("  misses             40"))
    #expect(
      shell.type("findings").lines == [
        "  ! fault-storm(Mood): 40 single-row SELECTs from line 2",
        "      now   request.includesPropertyValues = false",
        "      fix   delete request.includesPropertyValues = false",
        "      step  fetch Mood as m",
      ])
    #expect(shell.type("entities Mood").lines.contains("  country            to-one Country"))
    #expect(shell.type("", "# a comment").lines.isEmpty)
    let help = shell.type("help").lines
    for command in ShellCommand.allCases {
      #expect(
        help.contains { $0.hasPrefix("    \(command.rawValue) ") && $0.hasSuffix(command.summary) },
        "\(command)")
    }
    for verb in ShellEngine.verbs {
      let lines = shell.type("help \(verb.rawValue)").lines.prefix { !$0.isEmpty }
      let options = lines.dropFirst(2)
      #expect(options.count == verb.allOptions.count, "\(verb)")
      // The summary of each option follows its example.
      for (line, option) in zip(options, verb.allOptions) {
        #expect(line.contains(option.summary(of: verb)), "\(line)")
      }
    }
    #expect(
      shell.type("help fault-storm").lines.contains { $0.hasPrefix("    fires: 10 or more faults") }
    )
    for rule in RuleName.allCases {
      let lines = shell.type("help \(rule.rawValue)").lines
      #expect(lines.first?.contains(rule.rawValue) == true && lines.count == 5, "\(lines)")
    }
    #expect(shell.type("help relate").lines.contains { $0.hasPrefix("      with moods new  ") })
    #expect(shell.type("help pragma").lines.contains { $0.contains("to 100   the pragma's value") })
    #expect(shell.type("help sql").lines.contains("  sql \"STATEMENT\""))
    #expect(shell.type("help fetch").lines.contains { $0.contains("fetchBatchSize") })
  }

  @Test func emptyShellSuggestsWhatToOpen() throws {
    let shell = try ShellSession(nil as URL?)
    #expect(shell.engine.banner().hasPrefix("nothing is open"))
    for line in ["fetch Mood", "last", "reset", "entities", "stats"] {
      let failure = try #require(shell.type(line).failure)
      #expect(failure.message == "nothing is open")
    }
    #expect(shell.type("open \(LineWords.plain(small.path))").lines.first?.contains("Mood") == true)
    #expect(shell.type("count Mood").failure == nil)
  }

  @Test func longWordsAreTruncatedInErrors() throws {
    let shell = try ShellSession(small)
    let failure = try #require(shell.type(String(repeating: "x", count: 5_000)).failure)
    #expect(failure.text().count < 800 && failure.text().contains("there's no command or verb"))
  }

  /// A line before Tab, and the expected completions.
  @Test(arguments: [
    ("fe", ["fetch"]), ("sa", ["save", "save scenario", "save store"]),
    ("fetch Mo", ["Mood"]), ("fetch Mood s", ["sort", "subentities"]),
    ("fetch Mood values ", ["no", "yes"]), ("fetch Mood sort da", ["date", "date-"]),
    ("fetch Mood sort date, country.u", ["country.updatedAt", "country.updatedAt-"]),
    ("touch m", ["m"]),
    ("touch m country.numericI", ["country.numericISO3166Code"]), ("touch m date li", ["limit"]),
    ("entities C", ["Continent", "Country"]), ("help exp", ["explain"]),
    ("fetch Nothing so", ["sort"]),
    ("reset ", []),
    ("fetch Mood limit ", ["Continent", "Country", "Mood", "Region", "scale"]),
    ("mode ", ["csv", "json", "line", "table"]),
    ("use ", ["small"]), ("open a.sqlite w", ["write"]), ("record s", ["stacks"]),
    ("fetch Mood where \"date > 0 AND country.u", ["country.updatedAt"]),
    ("fetch Mood where lat", ["latitude"]),
    ("fetch Mood where date > 0 AND country.u", ["country.updatedAt"]),
    ("fetch Mood where date > 0 l", ["latitude", "limit", "longitude"]),
    ("fetch Mood prefetch ", ["country"]), ("walk m c", ["country"]),
    ("fetch Mood i", ["in"]), ("fetch Mood in ", ["main", "sync"]), ("context s", ["sync"]),
    ("drop ", ["m", "n", "sync"]), ("merge ", ["n"]), ("touch ", ["m"]),
    ("pin to ", ["current", "main", "none", "sync"]), ("insert Mood with country ", ["m"]),
    ("insert Mood with country m, lat", ["latitude"]), ("index Mood remove ", ["byDateIndex"]),
    ("set m with co", ["colors", "country"]), ("relate m with ", []), ("save as ", []),
    (
      "fetch Country sort ",
      [
        "continent", "numberOfMoods", "numericISO3166Code", "updatedAt",
      ]
    ),
  ])
  func completionOffersTheNextWord(line: String, words: [String]) throws {
    let shell = try ShellSession(small)
    shell.type("fetch Mood limit 1 as m", "context sync", "save as n")
    #expect(shell.engine.vocabulary.candidates(for: line) == .words(words))
    #expect(shell.engine.vocabulary.candidates(for: "save scenario my") == .files)
  }

  @Test func reportContainsTheListedFindings() throws {
    let folder = try TemporaryFolder()
    let shell = try ShellSession(PackagedScenarios.folder.appendingPathComponent("faults.yml"))
    shell.type("fetch Mood prefetch country as moods", "touch moods date", "drop moods")
    let shown = shell.type("findings").lines
    #expect(shown.contains { $0.contains("! unused-prefetch(Mood.country)") }, "\(shown)")
    let file = folder.file("shell.json")
    #expect(shell.type("report \(LineWords.plain(file.path))").failure == nil)
    let result = try ResultFile.read(at: file.path)
    #expect(result.variants[0].findings.map(\.name).contains("unused-prefetch(Mood.country)"))
  }
}
