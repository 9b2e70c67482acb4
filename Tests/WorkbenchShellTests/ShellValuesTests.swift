import Foundation
import Testing
import WorkbenchFixtures

@testable import WorkbenchShell
@testable import WorkbenchText

@Suite("Values in the shell")
struct ShellValuesTests {
  private let folder: TemporaryFolder
  /// 40 moods in 20 countries.
  private let small: URL

  init() throws {
    folder = try TemporaryFolder()
    small = try ShellSession.smallScenario(in: folder)
  }

  @Test func showPrintsValuesWithoutFiringFaults() throws {
    let shell = try ShellSession(small)
    shell.type("fetch Mood sort date as moods")
    shell.type("touch moods date limit 1")
    let before = shell.type("stats").lines
    let lines = shell.type("show moods limit 2 columns date country.numericISO3166Code").lines
    #expect(lines.count == 5)
    #expect(
      lines[0].split(separator: " ").map(String.init)
        == ["#", "object", "fault", "date", "country.numericISO3166Code"])
    #expect(lines[2].contains("Mood/p") && lines[2].contains(" no "), "\(lines[2])")
    #expect(lines[3].contains(" yes "), "\(lines[3])")
    #expect(lines[2...3].allSatisfy { $0.contains(/\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z +\d+$/) })
    #expect(lines[4] == "  2 of 40; next: `show moods offset 2`")
    #expect(shell.type("stats").lines == before, "no fault, row, or registered object is added")
    #expect(shell.type("show moods").lines.count == 23)
    #expect(shell.type("po moods limit 1, columns date").lines.count == 4)
  }

  @Test func oneObjectShowsEachPropertyAndWhetherItIsAFault() throws {
    let shell = try ShellSession(small)
    shell.type("fetch Mood sort date as moods", "touch moods date limit 1")
    let realized = shell.type("show moods 1").lines
    #expect(realized.contains { $0.contains(/^  date +\d{4}-\d\d-\d\dT.*Z +no +no$/) })
    #expect(realized.contains { $0.contains(/^  country +Country\/p\d+ +yes +no$/) })
    #expect(realized.contains { $0.contains(/^  Mood\/p\d+: realized, no unsaved changes$/) })
    let fault = shell.type("show moods 2").lines
    #expect(fault.contains { $0.contains(/^  date +\d{4}-\d\d-\d\dT.*Z +yes +no$/) })
    #expect(fault.contains { $0.contains(/^  Mood\/p\d+: a fault, no unsaved changes$/) })
    shell.type("set moods with latitude 1.5 limit 1")
    #expect(shell.type("show moods 1").lines.contains { $0.contains(/^  latitude +1.5 +no +yes$/) })
    #expect(
      shell.type("show moods 1 raw").lines.contains { $0.contains(/^  latitude .* no +yes$/) })
    #expect(shell.type("show moods 1").lines.contains { $0.contains("with unsaved changes") })
  }

  @Test func inEachMode() throws {
    let shell = try ShellSession(small)
    shell.type("insert Mood with date 2015-06-01 as new", "fetch Mood sort date as moods")
    #expect(shell.type("show new").lines.contains { $0.contains(/^  latitude +NULL +no +no$/) })
    shell.type("mode json")
    let json = shell.type("show new columns date country latitude").lines
    let rows = try JSONSerialization.jsonObject(with: Data(json.joined().utf8)) as? [[String: Any]]
    let row = try #require(rows?.first)
    #expect((row["date"] as? String)?.contains(/T\d\d:\d\d:\d\d\.\d{3}Z$/) == true)
    #expect(row["country"] is NSNull)
    #expect((row["object"] as? String)?.hasPrefix("x-coredata://") == true)
    shell.type("mode csv")
    let csv = shell.type("show moods limit 1 offset 1 columns date raw").lines
    #expect(csv[0] == "#,object,fault,date")
    #expect(csv[1].contains(/,(yes|no),-?\d+(\.\d+)?$/), "\(csv[1])")
    #expect(shell.type("show new columns date raw").lines[1].hasSuffix(",no,"), "not stored yet")
    shell.type("mode line")
    let line = shell.type("show new columns country").lines
    #expect(line.last == "country = NULL")
  }

  @Test func dictionariesIDsBatchesAndUnsavedObjects() throws {
    let shell = try ShellSession(small)
    shell.type(
      "fetch Mood result dictionaries columns country, count(date) group country as groups")
    let groups = shell.type("show groups limit 2").lines
    #expect(groups[0].contains(/# +country +countDate/))
    #expect(groups[2].contains(/1  Country\/p\d+ +2$/), "\(groups[2])")
    #expect(shell.type("show groups 3").lines.count == 3)
    shell.type(
      "fetch Mood sort date batch 10 as pages", "results Mood sort date batch 10 as list")
    let before = shell.type("stats").lines
    #expect(shell.type("show pages offset 35 columns date").lines.count == 8)
    #expect(shell.type("show list offset 35 columns date").lines.count == 8)
    #expect(shell.type("stats").lines == before, "no batch is loaded")
    shell.type("fetch Mood result ids as ids")
    #expect(shell.type("show ids limit 3 columns date").lines.count == 6)
    #expect(shell.type("show ids limit 0 columns date").lines.count == 42, "0 shows all")
    #expect(shell.type("show ids limit 0 offset 39 columns date").lines.count == 4)
    shell.type("insert Country as new")
    #expect(shell.type("show new").lines.contains { $0.contains("realized, with unsaved changes") })
    #expect(
      shell.type("show").lines.contains { $0.contains(/^  groups +20  Mood +dictionaries +main$/) })
    shell.type("rollback", "fetch Country sort updatedAt limit 1 as c")
    #expect(
      shell.type("show c columns moods.@count moods").lines[2].contains(
        /\ 2  Mood\/p\d+, Mood\/p\d+$/))
  }

  @Test func childContextsShowTheirParentsChanges() throws {
    let shell = try ShellSession(small)
    shell.type(
      "fetch Mood sort date limit 1 as m", "set m with latitude 2.5",
      "context child parent main", "fetch Mood sort date limit 1 in child as c", "refresh c")
    #expect(shell.type("show c columns latitude").lines[2].contains(/\ yes +2.5$/))
  }

  @Test(
    arguments: [
      ("show mods", "mods", "did you mean `moods`"),
      ("show moods columns dat", "dat", "did you mean `date`"),
      ("show moods colums date", "colums", "did you mean `columns`"),
      ("show moods limit x", "x", "needs an integer"),
      ("show moods 41", "41", "range from 1 to 40"),
      ("show moods columns", "columns", "needs key paths"),
      ("show moods columns country.moods.date", "country.moods.date", "to-many"),
      ("show moods columns date.@count", "date.@count", "needs a to-many"),
    ])
  func mistakesAreMarked(line: String, marked: String, message: String) throws {
    let shell = try ShellSession(small)
    shell.type("fetch Mood as moods")
    let failure = try #require(shell.type(line).failure)
    #expect(failure.message.contains(message), "\(failure.message)")
    let excerpt = try #require(failure.excerpt).split(separator: "\n").map(Array.init)
    let carets = excerpt[1].indices.filter { excerpt[1][$0] == "^" }
    #expect(String(carets.map { excerpt[0][$0] }) == marked)
  }

  /// Strings are truncated first; then columns on the right are omitted and named.
  @Test(arguments: [40, 60, 80, 200])
  func tablesFitTheScreen(width: Int) throws {
    let shell = try ShellSession(small)
    shell.type("fetch Country as countries")
    shell.engine.width = width
    let lines = shell.type("show countries limit 3").lines
    let table = lines.prefix(5)
    #expect(table.allSatisfy { $0.count <= width }, "\(lines.joined(separator: "\n"))")
    let shown = lines[0].split(separator: " ").count
    let omitted = lines.first { $0.contains("more column") }
    #expect((omitted == nil) == (width == 200), "\(shown) columns")
    #expect(shell.type(".sqlite SELECT * FROM ZMOOD LIMIT 1").lines[0].count <= width)
  }

  @Test("columns with wide characters are aligned and fit the screen")
  func wideCharactersFitTheScreen() {
    let table = ShellTable(
      ["name", "n"], [[.text("日本語"), .number(1)], [.text("ab"), .number(22)]])
    #expect(
      table.lines(.table) == ["  name     n", "  ------  --", "  日本語   1", "  ab      22"])
    let long = ShellTable(["title"], [[.text(String(repeating: "日", count: 20))]])
    let lines = long.lines(.table, width: 20)
    #expect(lines.count == 3 && lines.allSatisfy { TextWidth.of($0) <= 20 })
    #expect(ScreenText.fitted("  日本語日本語日本語 日本語", to: 24).count == 2)
  }

  /// The natural widths, whether the columns are numbers, and the widths on a screen of 80.
  @Test(arguments: [
    ([5_000_000, 5_000_000, 3], [false, false, true], [35, 36, 3]),
    ([40, 20, 30], [false, false, false], [27, 20, 27]),
    ([200, 90], [true, false], [78]),
  ])
  func columnsFitTheScreen(natural: [Int], fixed: [Bool], widths: [Int]) {
    #expect(ColumnWidths(natural, fixed: fixed, in: 80).values == widths)
  }
}
