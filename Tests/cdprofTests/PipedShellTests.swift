import Foundation
import Testing

@Suite("Shell with piped input")
struct PipedShellTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// Of a line that's too long, one byte more than the limit is kept, here a carriage return.
  @Test func lineBeyondTheLimitIsNotRunWithoutItsRest() throws {
    let line = "help" + String(repeating: " ", count: (1 << 20) - 4)
    let outcome = try program.run(["shell"], input: "\(line)\r rest\n")
    #expect(outcome.status == 65 && outcome.errors.contains("the line is too long"))
    #expect(try program.run(["shell"], input: "\(line)\r\n").status == 0)
  }

  @Test func byteOrderMarkIsNotPartOfALine() throws {
    let lines = "\u{FEFF}mode csv\r\nmode\r\n"
    let piped = try program.run(["shell"], input: lines)
    #expect(piped.status == 0 && piped.output.contains("mode: csv"), "\(piped.errors)")
    _ = try program.folder.write(lines, to: "lines.txt")
    let sourced = try program.run(["shell"], input: "source lines.txt\n")
    #expect(sourced.status == 0 && sourced.output.contains("mode: csv"), "\(sourced.errors)")
  }

  @Test func faultStormSessionHasTheExpectedCounts() throws {
    let outcome = try program.run(
      ["shell", PackageFiles.faults],
      input: """
        fetch Mood sort date- values no as moods
        touch moods date country.numericISO3166Code
        last
        explain 2
        reset
        fetch Mood sort date- prefetch country as moods
        touch moods date country.numericISO3166Code
        diff
        save scenario my-storm.yml
        quit
        count Mood
        """)
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    for part in [
      "Continent 6, Country 60, Mood 5,000",
      "moods: 5,000 Mood, all faults              1 SELECT    5,000 rows       0 faults",
      "5,060 SELECTs   5,060 rows   5,060 faults: 0 hits, 5,060 misses",
      "#2  5,000 x  fault Mood     miss", "#3     60 x  fault Country  miss",
      "SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)", "Started a cold run",
      "    2 SELECTs   5,060 rows       0 faults",
      "    0 SELECTs       0 rows   5,060 faults: 5,060 hits, 0 misses",
      "selects     5,061        2   - 5,059",
      "my-storm.yml: 2 variants, 8 expectations as measured",
    ] {
      #expect(outcome.output.contains(part))
    }
    #expect(!outcome.output.contains("  5,000 Mood  "), "no line is read after `quit`")
    #expect(!outcome.output.contains("cdprof>"))
    #expect(program.leftovers.isEmpty)
    #expect(try program.run(["run", "my-storm.yml"]).status == 0)
  }

  @Test func pipedShellContinuesAfterAnErrorAndExitsWithIt() throws {
    let outcome = try program.run(
      ["shell", program.smallFaults()], input: "count Mood\nfetch Moood\n\ncount Country")
    #expect(outcome.status == 65)
    #expect(outcome.output.contains("200 Mood"))
    #expect(outcome.output.contains("60 Country"))
    #expect(
      outcome.errors == """
        line 2: the model has no entity `Moood`; did you mean `Mood`?
          fetch Moood
                ^^^^^
        its entities are: Continent, Country, Mood, Region

        """)
  }

  @Test func writeUsesACopyUnlessInPlaceIsSpecified() throws {
    try FileManager.default.createDirectory(
      at: program.folder.file("out"), withIntermediateDirectories: true)
    #expect(try program.run(["run", program.smallFaults(), "--quiet", "--out", "out"]).status == 0)
    let lines = "fetch Mood limit 1 as m\ndelete m\nsave\ncount Mood"
    let store = program.folder.file("out/faults.sqlite")
    let before = try Data(contentsOf: store)
    let readOnly = try program.run(["shell", "out/faults.sqlite"], input: lines)
    #expect(readOnly.status == 65)
    #expect(readOnly.errors.contains("the store is open read-only"))
    let copied = try program.run(["shell", "out/faults.sqlite", "--write"], input: lines)
    #expect(copied.status == 0 && copied.output.contains("199 Mood"))
    #expect(try Data(contentsOf: store) == before)
    let changed = try program.run(
      ["shell", "out/faults.sqlite", "--write", "--in-place"], input: lines)
    #expect(changed.status == 0 && changed.output.contains("199 Mood"))
    #expect(try Data(contentsOf: store) != before)
    #expect(try program.run(["shell", "out/faults.sqlite", "--in-place"]).status == 64)
    #expect(program.leftovers.isEmpty)
  }

  @Test func sqlLogGoesToStandardError() throws {
    let outcome = try program.run(
      ["shell", program.smallFaults()], input: "sql 1\ncount Mood\nsql 0\ncount Mood\n")
    #expect(outcome.status == 0)
    let statements = outcome.errors.split(separator: "\n").filter { $0.contains("sql: SELECT") }
    #expect(statements == ["CoreData: sql: SELECT COUNT(*) FROM ZMOOD"])
    #expect(!outcome.output.contains("CoreData:"))
  }

  @Test(.enabled(if: PackageFiles.moody != nil))
  func appleStoresAreReadWithoutModification() throws {
    let store = program.folder.file("Moody.moody")
    try FileManager.default.copyItem(
      at: URL(fileURLWithPath: try #require(PackageFiles.moody)), to: store)
    let before = try Data(contentsOf: store)
    let outcome = try program.run(
      ["shell", "Moody.moody"],
      input: """
        fetch Mood where "country.numericISO3166Code == 710" sort date- batch 20 as m
        touch m country.updatedAt
        stats
        save
        """)
    #expect(outcome.status == 65)
    #expect(outcome.output.contains("m: 2 Mood, in batches of 20"))
    #expect(outcome.output.contains("selects             3\n"))
    #expect(
      outcome.errors.hasPrefix("line 4: `save` changes data, but the store is open read-only"))
    #expect(try Data(contentsOf: store) == before)
    let files = try FileManager.default.contentsOfDirectory(atPath: program.folder.url.path)
    #expect(Set(files) == ["Moody.moody", "tmp", "input", "output", "errors"])
  }
}
