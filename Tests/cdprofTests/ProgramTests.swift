import Foundation
import OpenCoreData
import SQLiteDriver
import Testing

@Suite("Commands, options, and exit statuses")
struct ProgramTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// Arguments, the exit status, and a part of the error message.
  private static let invalidArguments: [([String], Int32, String)] = [
    (["rnu"], 64, "did you mean `run`?"),
    (["help", "shel"], 64, "did you mean `shell`?"),
    (["run"], 64, "Missing expected argument"),
    (["run", "a.yml", "--reprot", "html"], 64, "Did you mean '--report'?"),
    (["run", "a.yml", "--report", "htm"], 64, "did you mean `html`?"),
    (["run", "a.yml", "--scale", "0"], 64, "--scale must be at least 1"),
    (["run", "a.yml", "b/a.yml"], 64, "would both write a.html"),
    (["run", "no.yml"], 66, "there's no file no.yml"),
    (["run", "tmp"], 66, "there are no scenarios in the folder tmp"),
    (["run", "a.yml", "--scale", "1,x"], 64, "--scale"),
    (["run", "a.yml", "--repeat", "0"], 64, "--repeat must be at least 1"),
    (["run", "a.yml", "--fail-on", "fault-strom"], 64, "did you mean `fault-storm`?"),
    (["run", PackageFiles.faults, "--variant", "plian"], 64, "did you mean `plain`?"),
    (["run", PackageFiles.faults, "--only", "nothing"], 64, "no scenario matches `nothing`"),
    (["run", "a.yml", "--sql", "5"], 64, "--sql must be from 1 to 4, not 5."),
    (["run", "a.yml", "--sql", "1", "--show-binds"], 64, "requires --sql 2, 3, or 4"),
    (["run", "a.yml", "--sql", "1", "--jobs", "2"], 64, "because the logs would interleave"),
    (["run", "a.yml", "--jobs", "0"], 64, "--jobs must be at least 1"),
    (["report", "no.json"], 66, "there's no file no.json"),
    (["report", "input"], 65, "input:1:1: error: invalid JSON"),
    (["report", "a", "--report", "html,md"], 64, "add --out DIR"),
    (["compare", "a", "b", "--fail-on", "slects"], 64, "did you mean `selects`?"),
    (["compare", "a", "b", "--fail-on", "none,more"], 64, "`none` can't be combined"),
    (["compare", "no.json", "b"], 66, "there's no file no.json"),
    (["compare", "input", "input"], 65, "isn't a result or a log"),
    (["compare", "-", "input"], 65, "standard input isn't a result or a log"),
    (["shell", "no.yml"], 66, "there's no file no.yml"),
    (["shell", "no.sqlite"], 66, "there's no file no.sqlite"),
    (["inspect", "no.sqlite"], 66, "there's no file no.sqlite"),
    (["inspect", "input"], 65, "input is empty"),
    (["predicate", "a == 1", "--sql"], 64, "add --entity"),
    (["predicate", "a == 1", "--entity", "Mood"], 64, "add --model"),
    (["predicate", "a == 1 adn b == 2"], 65, "  a == 1 adn b == 2\n         ^"),
    (["predicate", "a == 1", "--entity", "Mood", "--plan", "no.sqlite"], 66, "no.sqlite"),
    (["predicate", "a == 1", "--entity", "Mood", "--model", "no.mom"], 66, "no.mom"),
    (["shell", "input"], 65, "input is empty"),
    (["model", "no.momd"], 66, "there's no file or folder no.momd"),
    (["model", "tmp"], 65, "The folder contains no model."),
    (["model", "input"], 65, "input is empty"),
    (["model", "a", "--json", "--ddl"], 64, "--json and --ddl can't be combined; choose one."),
    (["model", "a", "--check", "--xml"], 64, "--check can't be combined with --xml"),
    (["diff", "a"], 64, "Missing expected argument"),
    (["diff", "a", "b"], 66, "there's no file or folder a"),
    (["migrate", "a"], 64, "Missing expected argument '--to"),
    (["migrate", "a", "--to", "no.momd"], 66, "there's no file or folder no.momd"),
    (["migrate", "a", "--to", "b", "--in-place", "--out", "c"], 64, "can't be combined"),
    (["migrate", "a", "--to", "b", "--no-backup"], 64, "--no-backup requires --in-place"),
    (["migrate", "a", "--to", "b", "--out", "input"], 65, "input already exists"),
    (["migrate", "a", "--to", "b", "--out", "none/c"], 66, "there's no folder none"),
    (["doctor", "input", "--repair", "none/c"], 66, "there's no folder none"),
    (["migrate", "a", "--to", "b", "--report-dir", "c"], 64, "--report-dir requires --report"),
    (["advise", "a", "fetch Mood", "--scale", "1"], 64, "--scale requires a scenario"),
    (["export", "--migrations", "a", "--to", "b", "--swift", "--scale", "1"], 64, "a scenario"),
    (["compare", "-", "-"], 64, "Only one input can be standard input"),
    (["log", "-", "--expect", "-"], 64, "Only one input can be standard input"),
    (["log"], 64, "Missing expected argument"),
    (["log", "input", "--scale", "2"], 64, "--scale requires --expect"),
    (["log", "input", "--expect", "a", "--scale", "0"], 64, "--scale must be at least 1"),
    (["export", "a.yml", "--swift", "--scale", "0"], 64, "--scale must be at least 1"),
    (
      ["run", PackageFiles.faults, "--only", "faults", "--out", "/proc/none"], 1, "can't be created"
    ),
    (["log", "no.log"], 66, "there's no file no.log"),
    (["log", "input", "--store", "no.sqlite"], 66, "there's no file no.sqlite"),
    (["log", "input", "--model", "no.mom"], 66, "no.mom"),
    (["generate", "no.xcdatamodel", "--out", "made"], 66, "there's no file or folder no.xcda"),
    (["generate", "input", "--out", "made"], 65, "input is empty"),
    (["generate", "input"], 64, "Missing expected argument '--out"),
    (["generate", "input", "--out", "made", "--style", "struct"], 64, "--style"),
  ]

  @Test(arguments: invalidArguments)
  func invalidArgumentsReportAnErrorAndTheStatus(
    arguments: [String], status: Int32, message: String
  ) throws {
    let outcome = try program.run(arguments)
    #expect(outcome.status == status)
    #expect(outcome.errors.contains(message))
    #expect(outcome.output.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("Reports").path))
  }

  @Test func generateNeverOverwritesForeignFiles() throws {
    let arguments = ["generate", PackageFiles.model, "--out", "made"]
    let first = try program.run(arguments)
    #expect(first.status == 0 && first.errors.isEmpty)
    #expect(first.output.contains("written: made/Mood+CoreDataClass.swift\n"))
    #expect(first.output.contains("written: made/MoodyModel.swift\n"))
    let second = try program.run(arguments)
    #expect(second.status == 0 && !second.output.contains("written: "))
    _ = try program.folder.write("final class Mood {}\n", to: "made/Mood+CoreDataClass.swift")
    let third = try program.run(arguments)
    #expect(third.status == 65 && third.output.isEmpty)
    #expect(third.errors.contains("made/Mood+CoreDataClass.swift exists and wasn't written by"))
    #expect(try program.run(arguments + ["--style", "extension"]).status == 0)
  }

  @Test("A store's model has the classes of its document")
  func generateReadsAStore() throws {
    let url = program.folder.file("Moody.sqlite")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try NSManagedObjectModel.read(
        contentsOf: URL(fileURLWithPath: PackageFiles.model)))
    try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: url))
    for (model, out) in [(PackageFiles.model, "document"), ("Moody.sqlite", "store")] {
      let outcome = try program.run(["generate", model, "--out", out])
      #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    }
    let (document, store) = (program.folder.file("document"), program.folder.file("store"))
    let names = try FileManager.default.contentsOfDirectory(atPath: document.path).sorted()
    #expect(names.contains("Mood+CoreDataProperties.swift"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.path).sorted() == names)
    let properties = try String(
      contentsOf: store.appendingPathComponent("Mood+CoreDataProperties.swift"), encoding: .utf8)
    #expect(properties.contains("from Moody.sqlite. Changes are lost."))
    #expect(properties.contains("public var country: Country? {"))
  }

  @Test func versionIncludesSQLiteAndSwift() throws {
    let outcome = try program.run(["--version"])
    #expect(outcome.status == 0)
    #expect(
      outcome.output.contains(/^cdprof \d+\.\d+\.\d+ \(SQLite 3\.\d+\.\d+, Swift 6\.\d.*\)\n$/))
  }

  @Test func successfulScenarioIsReported() throws {
    let outcome = try program.run(
      ["run", PackageFiles.faults, "--report", "html,json", "--out", "made/for/this"])
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    #expect(outcome.output.contains("✓ 6 of 6 variants, 23 of 23 expectations"))
    #expect(outcome.output.contains(/✓ prefetched +2 +5,060 +5,060 +0 +5,060\s/))
    let out = program.folder.file("made/for/this")
    let files = try FileManager.default.contentsOfDirectory(atPath: out.path)
    #expect(files.sorted() == ["faults.html", "faults.json", "faults.sqlite"])
    let json = try JSONSerialization.jsonObject(
      with: try Data(contentsOf: out.appendingPathComponent("faults.json")))
    let variants = (json as? [String: Any])?["variants"] as? [[String: Any]] ?? []
    let selects = variants.compactMap { ($0["metrics"] as? [String: Any])?["selects"] as? Int }
    #expect(selects == [5_061, 61, 61, 2, 2, 252])
    #expect(program.leftovers.isEmpty)
  }

  /// Writes a scenario with one variant and its expectations, and returns its path.
  private func scenario(_ steps: String, expecting expectations: String) throws -> String {
    try program.folder.write(
      """
      name: Small
      model: \(PackageFiles.model)
      data:
        Country: {count: 20}
        Mood: {count: 40 * scale, country: cycle}
      steps:
      \(steps)
      variants:
        - name: plain
          expect: {\(expectations)}
      """, to: "small.yml")
  }

  private static let touching = "  - fetch Mood as m\n  - touch m country.updatedAt"

  @Test(arguments: [
    (touching, "selects: 1 + Country, findings: [fault-storm(Mood.country)]", [], 0, "✓ 1 of 1"),
    (
      touching, "selects: 2, findings: [fault-storm(Mood.country)]", [], 2,
      "✗ plain · selects   expected 2, actual 21   small.yml:11"
    ),
    (touching, "selects: 21", ["--quiet"], 2, "✗ plain · findings   expected none"),
    ("  - count Mood", "selects: Mood / 40", ["--scale", "3"], 2, "actual 1"),
    ("  - insert Mood\n  - save", "saves: 0", [], 1, "colors is a required value"),
    ("  - fetch Moood", "selects: 1", [], 65, "did you mean `Mood`?"),
    ("  - fetch Mood", "selcts: 1", [], 65, "did you mean `selects`?"),
    ("  - fetch Mood", "selects: 1 /", [], 65, "small.yml:10:"),
  ])
  func exitStatusReflectsTheRun(
    steps: String, expectations: String, options: [String], status: Int32, message: String
  ) throws {
    let outcome = try program.run(["run", try scenario(steps, expecting: expectations)] + options)
    #expect(outcome.status == status)
    #expect((outcome.output + outcome.errors).contains(message))
    let reports = program.folder.file("Reports").path
    #expect(FileManager.default.fileExists(atPath: reports) == (status < 64))
    #expect(!options.contains("--quiet") || outcome.output.hasPrefix("✗ plain"))
    #expect(program.leftovers.isEmpty)
  }

  @Test func newScenarioRuns() throws {
    let made = try program.run(["new", "mine", "--out", "here"])
    #expect(made.status == 0)
    #expect(
      made.output.contains("written: here/mine.yml, here/Models/Library.xcdatamodel/contents"))
    let run = try program.run(["run", "here/mine.yml"])
    #expect(run.status == 0 && run.output.contains("✓ 2 of 2 variants"), "\(run.errors)")
    #expect(try program.run(["new", "mine", "--out", "here"]).status == 65)
    #expect(try program.run(["new", "a/b"]).status == 64)
    #expect(try program.run(["new", "a\nb"]).status == 64)
    #expect(try program.run(["new", "theirs", "--store", "no.sqlite"]).status == 66)
  }

  /// Runs a folder of two scenarios at two scales with two jobs.
  @Test func foldersRunAtSeveralScales() throws {
    let file = try scenario(
      ProgramTests.touching, expecting: "selects: 21, findings: [fault-storm(Mood.country)]")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    for copy in ["all/06/one.yml", "all/two.yml", "all/.hidden/no.yml"] {
      _ = try program.folder.write(text, to: copy)
    }
    let outcome = try program.run(
      ["run", "all", "--scale", "1,2", "--jobs", "2", "--repeat", "2", "--report", "json"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.hasSuffix("2 of 2 scenarios passed\n"))
    #expect(outcome.output.ranges(of: " · up to 2 scenarios ran concurrently; ").count == 2)
    #expect(outcome.output.contains(/scale 1 +scale 2\n +plain +21 +21/))
    let made = program.folder.file("Reports/06/one.json")
    let json = try JSONSerialization.jsonObject(with: try Data(contentsOf: made))
    let variants = (json as? [String: Any])?["variants"] as? [[String: Any]] ?? []
    #expect((variants.first?["repeats"] as? [Any])?.count == 2)
    let environment = (json as? [String: Any])?["environment"] as? [String: Any]
    #expect(environment?["jobs"] as? Int == 2)
    let scales = (json as? [String: Any])?["scales"] as? [Any] ?? []
    #expect(scales.count == 1)
    let command = (json as? [String: Any])?["command"] as? String
    #expect(command?.contains(" --scale 1,2 --seed ") == true, "\(command ?? "")")
    let stores = try FileManager.default.contentsOfDirectory(
      atPath: program.folder.file("Reports/06").path)
    #expect(stores.sorted() == ["one-scale2.sqlite", "one.json", "one.sqlite"])
    #expect(try program.run(["run", "all", "--only", "two", "--fail-on", "any"]).status == 3)
    #expect(program.leftovers.isEmpty)
  }

  /// The options of a run of two scenarios, and the number of those that run concurrently; `nil`
  /// for the number of cores.
  @Test(
    "Scenarios run on all cores, unless their times or logs matter",
    arguments: [
      ([], nil), (["--jobs", "1"], 1), (["--repeat", "2"], 1), (["--sql", "1"], 1),
      (["--sql", "1", "--jobs", "1"], 1), (["--repeat", "2", "--jobs", "2"], 2),
      (["--jobs", "9"], 2), (["--only", "one", "--jobs", "9"], 1),
    ] as [([String], Int?)])
  func scenariosRunOnAllCores(options: [String], jobs: Int?) throws {
    let file = try scenario("  - count Mood", expecting: "selects: 1")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    for copy in ["all/one.yml", "all/two.yml"] { _ = try program.folder.write(text, to: copy) }
    let outcome = try program.run(
      ["run", "all", "--report", "json,text", "--out", "made"] + options)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let expected = jobs ?? min(2, ProcessInfo.processInfo.activeProcessorCount)
    let json = try JSONSerialization.jsonObject(
      with: try Data(contentsOf: program.folder.file("made/one.json")))
    let environment = try #require((json as? [String: Any])?["environment"] as? [String: Any])
    #expect(environment["jobs"] as? Int == (expected == 1 ? nil : expected))
    // A report that is rendered again has the note, too.
    let rendered = try program.run(["report", "made/one.json"])
    let report = try String(contentsOf: program.folder.file("made/one.txt"), encoding: .utf8)
    #expect(rendered.output == report)
    #expect(report.contains("scenarios ran concurrently") == (expected > 1))
    #expect(program.leftovers.isEmpty)
  }

  @Test("A scenario that copies the store of another one runs after it")
  func copiedStoreIsThatOfTheSameRun() throws {
    func write(_ name: String, data: String) throws {
      _ = try program.folder.write(
        """
        name: \(name)
        model: \(PackageFiles.model)
        data: {\(data)}
        steps: [count Continent]
        """, to: "all/\(name).yml")
    }
    try write("a", data: "Continent: {count: 3}")
    #expect(try program.run(["run", "all", "--out", "made"]).status == 0)
    try write("a", data: "Continent: {count: 5}")
    try write("b", data: "store: ../made/a.sqlite")
    try write("c", data: "Continent: {count: 5}")
    let outcome = try program.run(["run", "all", "--out", "made"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.ranges(of: "Continent 5").count == 3, "\(outcome.output)")
    #expect(!outcome.output.contains("ran concurrently"))
  }

  @Test func unmetExpectationNamesItsEvents() throws {
    let file = try scenario(ProgramTests.touching, expecting: "misses: 0")
    let outcome = try program.run(["run", file, "--quiet"])
    #expect(outcome.status == 2)
    #expect(
      outcome.output.contains(/20 misses: 20 x fault Country \(miss\) from small.yml:\d+ touch/))
  }

  @Test func allFilesAreReadBeforeTheFirstRun() throws {
    let outcome = try program.run(["run", PackageFiles.faults, "no.yml"])
    #expect(outcome.status == 66)
    #expect(outcome.output.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("Reports").path))
  }

  @Test func modelsArePrintedCheckedAndCompared() throws {
    let text = try program.run(["model", PackageFiles.model])
    #expect(text.status == 0 && text.output.contains("to one, Country, delete Nullify"))
    let ddl = try program.run(["model", PackageFiles.model, "--ddl"])
    let lines = ddl.output.split(separator: "\n")
    #expect(ddl.status == 0 && lines.count > 5)
    #expect(lines.allSatisfy { $0.hasPrefix("CREATE ") && $0.hasSuffix(";") })
    let company = PackageFiles.model.replacingOccurrences(of: "Moody.", with: "Company.")
    #expect(try program.run(["model", company, "--check"]).status == 0)
    let xml = try program.run(["model", PackageFiles.model, "--xml"])
    let invalid = xml.output.replacingOccurrences(
      of: #"inverseName="moods" inverseEntity="Country""#, with: "")
    let copy = try program.folder.write(invalid, to: "contents")
    let check = try program.run(["model", copy, "--check", "--json"])
    #expect(check.status == 3 && check.output.contains(#""rule" : "ignored-element""#))
    let shown = try program.run(["model", copy])
    #expect(shown.status == 0 && !shown.output.isEmpty)
    #expect(shown.errors.hasPrefix("\(copy):") && shown.errors.contains(": warning: "))
    #expect(shown.errors.contains("as its own inverse"))
    try FileManager.default.createDirectory(
      at: program.folder.file("old"), withIntermediateDirectories: true)
    let old = try program.folder.write(
      xml.output.replacingOccurrences(of: #"name="remoteIdentifier""#, with: #"name="serverID""#),
      to: "old/contents")
    let diff = try program.run(["diff", old, PackageFiles.model])
    #expect(
      diff.status == 0 && diff.output.hasPrefix("A store of the first model needs a lightweight"))
    #expect(
      try program.run(["diff", old, PackageFiles.model, "--json"]).output.contains("lightweight"))
  }

  @Test func predicatesAreExplained() throws {
    let text = try program.run(["predicate", "hidden and not a == 'x'"])
    #expect(text.status == 0)
    #expect(text.output.hasPrefix("format  hidden == 1 AND NOT a == \"x\"\ntree    AND\n"))
    let sql = try program.run([
      "predicate", "date > CAST(2, 'NSDate')", "--model", PackageFiles.model, "--entity", "Mood",
      "--sql",
    ])
    #expect(sql.output.contains("FROM ZMOOD t0 WHERE  t0.ZDATE > ?\nbinds   [0] 2.0\n"))
    #expect(!sql.output.contains("tree"))
  }

  @Test("A store without the table of the entity has no query plan")
  func predicatePlanRequiresTheTable() throws {
    let store = program.folder.file("s.sqlite")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try NSManagedObjectModel.read(
        contentsOf: URL(fileURLWithPath: PackageFiles.model)))
    try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: store))
    let outcome = try program.run([
      "predicate", "title != nil", "--entity", "Article", "--model", PackageFiles.articles,
      "--plan", "s.sqlite",
    ])
    #expect(outcome.status == 65 && outcome.output.isEmpty)
    #expect(
      outcome.errors.hasPrefix("s.sqlite isn't a store of this model: no such table: ZARTICLE\n"))
    #expect(outcome.errors.contains("check the store with `cdprof doctor`"))
  }

  /// An older version of the model may have had other entities.
  @Test("A predicate for a store is translated with the store's entity IDs")
  func predicatePlanUsesEntityIDsOfTheStore() throws {
    let (animal, dog) = (NSEntityDescription(), NSEntityDescription())
    (animal.name, dog.name) = ("Animal", "Dog")
    let name = NSAttributeDescription()
    (name.name, name.attributeType) = ("name", .stringAttributeType)
    animal.properties = [name]
    animal.subentities = [dog]
    let model = NSManagedObjectModel()
    model.entities = [animal, dog]
    let store = program.folder.file("s.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: store))
    let connection = try Connection(path: store.path, access: .writing)
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 100")
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_SUPER = 101 WHERE Z_SUPER = 1")
    connection.close()
    let arguments = ["predicate", "name == 'a'", "--entity", "Dog"]
    let planned = try program.run(arguments + ["--plan", "s.sqlite"])
    #expect(planned.status == 0 && planned.output.contains("        [1] 102\n"), "\(planned)")
    let other = try program.run(arguments + ["--model", "s.sqlite"])
    #expect(other.status == 0 && other.output.contains("        [1] 2\n"), "\(other)")
  }

  @Test(.enabled(if: PackageFiles.moody != nil))
  func predicatePlanUsesAStore() throws {
    let store = try #require(PackageFiles.moody)
    let outcome = try program.run(["predicate", "SELF == nil", "--entity", "Mood", "--plan", store])
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("plan    "))
  }

  @Test(.enabled(if: PackageFiles.moody != nil))
  func inspectPrintsTextAndJSON() throws {
    let store = try #require(PackageFiles.moody)
    let text = try program.run(["inspect", store])
    #expect(text.status == 0)
    #expect(text.output.contains(/GeographicRegion +5 +0 +ZGEOGRAPHICREGION +abstract/))
    let json = try program.run(["inspect", store, "--json"])
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    let entities = object?["entities"] as? [[String: Any]] ?? []
    #expect(entities.compactMap { $0["count"] as? Int } == [5, 2, 3, 4])
    #expect(entities.compactMap { $0["ownCount"] as? Int } == [0, 2, 3, 4])
  }

  @Test func adviceOnAStoreRequiresAStep() throws {
    let outcome = try program.run(["advise", "App.sqlite"])
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("expected a step to find indexes for"))
    #expect(outcome.errors.contains("cdprof advise App.sqlite \"fetch ENTITY sort KEY\""))
  }
}
