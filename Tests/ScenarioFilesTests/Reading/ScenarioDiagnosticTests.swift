import Foundation
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Errors in scenarios")
struct ScenarioDiagnosticTests {
  /// A line of the scenario below, its replacement, and the expected diagnostic.
  struct Mistake: Sendable, CustomTestStringConvertible {
    var line: Int
    var text: String
    var column: Int
    var keyPath: String
    var message: String
    var suggestion: String?

    init(
      _ line: Int, _ text: String, _ column: Int, _ keyPath: String, _ message: String,
      _ suggestion: String? = nil
    ) {
      self.line = line
      self.text = text
      self.column = column
      self.keyPath = keyPath
      self.message = message
      self.suggestion = suggestion
    }

    var testDescription: String { text }
  }

  static let lines = [
    "name: Storm",
    "chapter: 15",
    "covers: [S6.01]",
    "model: Moody",
    "data:",
    "  seed: 7",
    "  Country: {count: 60}",
    "  Mood: {count: 50 * scale, country: cycle, date: every 1 minute}",
    "steps:",
    "  - {fetch: Mood, sort: date-, as: moods}",
    "  - {touch: moods, read: [date, country.numericISO3166Code]}",
    "variants:",
    "  - name: plain",
    "    set: {moods.values: no}",
    "    expect: {selects: 1 + Country, misses(Country): 60, findings: [fault-storm(Mood)]}",
    "    # end",
  ]

  static let mistakes = [
    Mistake(1, "nmae: Storm", 1, "nmae", "a scenario has no key `nmae`", "name"),
    Mistake(
      2, "chapter: fifteen", 10, "chapter",
      "`chapter` needs an integer from 0 to \(Int.max), not `fifteen`"),
    Mistake(
      2, "chapter: -1", 10, "chapter", "`chapter` needs an integer from 0 to \(Int.max), not `-1`"),
    Mistake(3, "covers: [S6.01, 6.3]", 17, "covers[1]", "expected a behavior ID"),
    Mistake(3, "covers: S6.01", 9, "covers", "`covers` must be a list of behavior IDs"),
    Mistake(3, "source: boook", 9, "source", "unknown source `boook`", "book"),
    Mistake(4, "model: Mody", 8, "model", "there's no model `Mody`", "Moody"),
    Mistake(6, "  sead: 7", 3, "data.sead", "the model has no entity `sead`", "seed"),
    Mistake(
      6, "  seed: x", 9, "data.seed", "`seed` needs an integer from 0 to \(Int.max), not `x`"),
    Mistake(
      7, "  Contry: {count: 60}", 3, "data.Contry", "the model has no entity `Contry`", "Country"),
    Mistake(
      7, "  Region: {count: 60}", 3, "data.Region",
      "`Region` is abstract and has no rows"),
    Mistake(
      7, "  Country: {contintent: cycle, count: 2}", 13, "data.Country.contintent",
      "Country has no property `contintent`", "continent"),
    Mistake(
      7, "  Country: {continent: cycel, count: 2}", 24, "data.Country.continent",
      "unknown generator `cycel`", "cycle"),
    Mistake(
      7, "  Country: {moods: cycle, count: 2}", 13, "data.Country.moods",
      "`moods` is a to-many relationship", "Mood.country"),
    Mistake(
      7, "  Country: {updatedAt: text 4, count: 2}", 24, "data.Country.updatedAt",
      "`text` generates strings, but `updatedAt` is a date"),
    Mistake(
      8, "  Mood: {count: 5, colors: text 4}", 28, "data.Mood.colors",
      "`text` generates strings, but `colors` is binary data"),
    Mistake(
      8, "  Mood: {count: 5, colors: bytes 0}", 34, "data.Mood.colors",
      "`bytes` needs a number of bytes from 1 to 1,000,000, not `0`"),
    Mistake(
      7, "  Country: {updatedAt: bytes 4, count: 2}", 24, "data.Country.updatedAt",
      "`bytes` generates binary data, but `updatedAt` is a date"),
    Mistake(
      8, "  Mood: {count: 5, country: cycle 3}", 29, "data.Mood.country",
      "`country` is a relationship"),
    Mistake(
      7, "  Country: {count: 2, updatedAt: 'one of [soon]'}", 43, "data.Country.updatedAt",
      "`soon` isn't a valid value for `updatedAt` (date)"),
    Mistake(
      7, "  Country: {updatedAt: every 2 mintes, count: 2}", 32, "data.Country.updatedAt",
      "unknown unit `mintes`", "minute"),
    Mistake(7, "  Country: {continent: cycle}", 3, "data.Country", "`Country` has no count"),
    Mistake(
      7, "  Country: 60", 12, "data.Country", "an entity's data must be a map of keys and values"),
    Mistake(
      8, "  Mood: {count: 50 * scal}", 22, "data.Mood.count",
      "`scal` isn't an entity, so it has no row count", "scale"),
    Mistake(
      7, "  Country: {count: Mood / 2}", 20, "data.Country.count",
      "the row count of `Mood` isn't defined yet"),
    Mistake(
      15, "    expect: {selects: Country / 7}", 23, "selects",
      "`Country / 7` has no value: the result 60/7 isn't an integer; wrap the division in ceil()"),
    Mistake(
      15, "    expect: {selects: Country - 61}", 23, "selects",
      "`Country - 61` has no value: a count can't be -1"),
    Mistake(
      15, "    expect: {selects: {expected: 2, law: 2}}", 37, "variants[0].expect.selects",
      "`expected` and `law` can't be combined"),
    Mistake(
      15, "    expect: {selects: {source: book}}", 14, "variants[0].expect.selects",
      "`selects` has no value"),
    Mistake(3, "metric: selcts", 9, "metric", "unknown metric `selcts`", "selects"),
    Mistake(
      3, "metric: misses(Contry)", 16, "metric",
      "`Contry` isn't an entity, a step, or a context", "Country"),
    Mistake(
      3, "headline: Only {plian.selects} SELECTs", 17, "headline", "there's no variant `plian`",
      "plain"),
    Mistake(
      3, "headline: Only {plain.selcts} SELECTs", 23, "headline", "unknown metric `selcts`",
      "selects"),
    Mistake(
      3, "headline: 'Only {plain.rows(mods)} rows'", 29, "headline",
      "`mods` isn't an entity, a step, or a context", "moods"),
    Mistake(
      3, "headline: Only {plain} rows", 17, "headline", "`plain` isn't a variant and a metric"),
    Mistake(
      3, "headline: Only {plain.rows rows", 16, "headline",
      "the braces of the headline don't match"),
    Mistake(
      3, "headline: Only plain.rows} rows", 26, "headline",
      "the braces of the headline don't match"),
    Mistake(
      11, "  - {fetch: Country, where: 'moods.@count > 1 AND SELF == $moods'}", 59, "steps[1]",
      "`$moods` contains Mood, but SELF is Country"),
    Mistake(
      10, #"  - {fetch: Mood, where: "remoteIdentifier == \"a\" AND zzz == 1", as: moods}"#, 57,
      "steps[0]", "Mood has no property `zzz`"),
    Mistake(
      10, "  - {fetch: Mood, where: 'remoteIdentifier == ''zzz'' AND zzz == 1', as: moods}", 59,
      "steps[0]", "Mood has no property `zzz`"),
    Mistake(
      11, "  - {count: Mood, where: 'SELF == $mods'}", 35, "steps[1]", "`$mods` has no value",
      "$moods"),
    Mistake(
      11, "  - {index: Mood, keys: date, where: 'SELF == $moods', as: some}", 47, "steps[1]",
      "`$moods` has no value"),
    Mistake(1, "name: ''", 7, "name", "the scenario's name is empty"),
    Mistake(1, "name: x\u{1}y", 8, "", "invalid YAML: control characters are not allowed"),
    Mistake(
      7, "  Country: {count: 0 - 6}", 20, "data",
      "`0 - 6` has no value: Country can't have -6 rows"),
    Mistake(
      8, "  Mood: {count: 50 / 0, country: cycle}", 17, "data",
      "`50 / 0` has no value: division by 0"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, sort: country}", 36, "steps[0]",
      "`country` refers to objects, which have no order"),
    Mistake(
      11, "  - {touch: moods, read: [date, '']}", 33, "steps[1].read", "the word is empty"),
    Mistake(
      11, "  - {touch: moods, raed: [date]}", 20, "steps[1].raed", "unknown option `raed`", "read"),
    Mistake(
      10, "  - {fecth: Mood, as: moods}", 6, "steps[0].fecth", "unknown verb `fecth`", "fetch"),
    Mistake(
      10, "  - {fetch: Moood, as: moods}", 13, "steps[0]", "the model has no entity `Moood`", "Mood"
    ),
    Mistake(
      10, "  - {fetch: Mood, as: moods, sort: dat-}", 36, "steps[0]", "Mood has no property `dat`",
      "date"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, prefetch: [country, date]}", 50, "steps[0]",
      "`date` is an attribute; attributes are loaded with their row"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, limt: 3}", 30, "steps[0].limt", "unknown option `limt`",
      "limit"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, limit: three}", 37, "steps[0]",
      "`three` isn't an entity, so it has no row count"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, limit: Mod / 10}", 37, "steps[0]",
      "`Mod` isn't an entity, so it has no row count", "Mood"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, limit: Mood / 20}", 37, "steps.limit",
      "`Mood / 20` has no value: the result 5/2 isn't an integer; wrap the division in ceil()"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, batch: Mood - Country}", 37, "steps.batch",
      "`Mood - Country` has no value: its value -10 is less than 0"),
    Mistake(
      11, "  - {walk: moods, every: 0}", 26, "steps[1].every",
      "`every` isn't valid: its value 0 is less than 1"),
    Mistake(
      11, "  - {walk: moods, every: Country - 60}", 26, "steps.every",
      "`Country - 60` has no value: its value 0 is less than 1"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, values: nope}", 38, "steps[0].values",
      "`values` needs yes or no, not `nope`"),
    Mistake(
      10, "  - fetch Mood sort dat- as moods", 21, "steps[0]", "Mood has no property `dat`", "date"),
    Mistake(
      11, "  - {touch: mods, read: [date]}", 13, "steps[1]", "there's no result `mods`", "moods"),
    Mistake(
      11, "  - {touch: moods, read: [country.iso3166Code]}", 35, "steps[1]",
      "Country has no property `iso3166Code`", "numericISO3166Code"),
    Mistake(
      11, "  - {touch: moods, read: [country.moods.count]}", 41, "steps[1]",
      "`count` isn't a property of Mood", "country.moods.@count"),
    Mistake(
      11, "  - {touch: moods, read: [date.year]}", 27, "steps[1]",
      "`date` is an attribute; a key path can't continue past it"),
    Mistake(
      11, "  - {touch: moods, save: moods, read: [date]}", 20, "steps[1].save",
      "a step can have only one verb, not `touch` and `save`"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, in: sync}", 34, "steps[0]", "there's no context `sync`"),
    Mistake(
      11, "  - {context: main, coordinator: x}", 34, "steps[1]",
      "the context `main` exists, and its coordinator can't be changed"),
    Mistake(
      11, "  - {context: edit, parent: mian}", 29, "steps[1]", "there's no context `mian`", "main"),
    Mistake(11, "  - {context: moods}", 15, "steps[1]", "`moods` is the name of a result"),
    Mistake(11, "  - {context: Mood}", 15, "steps[1]", "`Mood` is the name of an entity"),
    Mistake(
      11, "  - {context: none}", 15, "steps[1]",
      "`none` is a keyword of `pin` and can't be the name of a context"),
    Mistake(
      11, "  - {drop: main}", 12, "steps[1]", "the context `main` can't be dropped"),
    Mistake(
      11, "  - {merge: moods}", 13, "steps[1]",
      "`moods` contains objects, which can't be merged"),
    Mistake(11, "  - {undo: }", 6, "steps[1]", "`main` has no undo manager"),
    Mistake(
      11, "  - {pin: , to: curent}", 17, "steps[1]", "there's no generation or context `curent`",
      "current"),
    Mistake(
      11, "  - {pragma: cache_size, to: 10}", 6, "steps[1]",
      "the store can't be reopened while result `moods` exists"),
    Mistake(
      11, "  - {walk: moods, through: [country, date]}", 38, "steps[1]",
      "`date` is an attribute, so it can't be walked"),
    Mistake(
      11, "  - {relate: moods, with: {country: moods}}", 28, "steps[1]",
      "`country` isn't a to-many relationship"),
    Mistake(
      11, "  - {batch-update: Mood, with: {country: moods}}", 33, "steps[1]",
      "`country` is a relationship; a batch request can set only attributes"),
    Mistake(
      11, "  - {batch-insert: Region}", 20, "steps[1]",
      "`Region` is abstract and has no objects"),
    Mistake(
      11, "  - {index: Country, keys: [updatedAt, moods], as: byMoods}", 40, "steps[1]",
      "`moods` has no column in the table of `Country`"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, distinct: yes}", 40, "steps[0]",
      "`distinct` requires dictionaries, but the fetch returns objects"),
    Mistake(
      10, "  - {fetch: Country, as: moods, result: dictionaries, columns: [count(moods)]}", 71,
      "steps[0]", "`moods` has many values, but a dictionary can contain only one"),
    Mistake(
      10, "  - {fetch: Mood, as: moods, result: dictionaries, columns: [max(dat)]}", 66, "steps[0]",
      "Mood has no property `dat`", "date"),
    Mistake(
      15, "    expect: {plan(mods): avoids scan}", 19, "variants[0].expect.plan(mods)",
      "there's no step `mods`", "moods"),
    Mistake(
      15, "    expect: {plan(moods): avoids scans}", 27, "variants[0].expect.plan(moods)",
      "`avoids scans` isn't a plan requirement", "avoids scan"),
    Mistake(
      15, "    expect: {plan(moods): [uses]}", 28, "variants[0].expect.plan(moods)[0]",
      "`uses` isn't a plan requirement"),
    Mistake(
      15, "    expect: {plan(moods): [avoids scan, uses byDateIndx]}", 46, "plan(moods)",
      "there's no index `byDateIndx` in the model, the store, or the steps", "byDateIndex"),
    Mistake(
      11, "  - {fetch: Mood, as: all, expect: {plan: uses ZMOOD_ZCONTRY_INDEX}}", 48, "plan",
      "there's no index `ZMOOD_ZCONTRY_INDEX` in the model, the store, or the steps",
      "ZMOOD_ZCOUNTRY_INDEX"),
    Mistake(
      11, "  - {index: Mood, remove: byDateInde}", 27, "steps",
      "there's no index `byDateInde` in the model, the store, or the steps", "byDateIndex"),
    Mistake(13, "  - nam: plain", 5, "variants[0].nam", "a variant has no key `nam`", "name"),
    Mistake(
      14, "    set: {mood.values: no}", 11, "variants[0].set.mood.values",
      "there's no shared step `mood`", "moods"),
    Mistake(
      14, "    set: {moods.vaules: no}", 17, "variants[0].set.moods.vaules",
      "unknown option `vaules`", "values"),
    Mistake(
      14, "    set: {moods: no}", 11, "variants[0].set.moods",
      "`moods` isn't an option of a named step"),
    Mistake(
      15, "    expect: {slects: 1}", 14, "variants[0].expect.slects", "unknown metric `slects`",
      "selects"),
    Mistake(
      15, "    expect: {finding: []}", 14, "variants[0].expect.finding", "unknown metric `finding`",
      "findings"),
    Mistake(
      15, "    expect: {misses(Contry): 60}", 21, "variants[0].expect.misses(Contry)",
      "`Contry` isn't an entity, a step, or a context", "Country"),
    Mistake(
      15, "    expect: {faults(Country.mods): 60}", 29, "variants[0].expect.faults(Country.mods)",
      "Country has no property `mods`", "moods"),
    Mistake(
      15, "    expect: {peak(moods): 60}", 19, "variants[0].expect.peak(moods)",
      "`peak` isn't available for `moods`"),
    Mistake(
      15, "    expect: {selects: 1 + Contry}", 27, "variants[0].expect.selects",
      "`Contry` isn't an entity, so it has no row count", "Country"),
    Mistake(
      15, "    expect: {selects: 1 +}", 26, "variants[0].expect.selects",
      "expected a number or a name, found the end"),
    Mistake(
      15, "    expect: {selects: }", 14, "variants[0].expect.selects",
      "`selects` needs a formula, such as `1 + Mood`"),
    Mistake(
      15, "    expect: {findings: [fault-strom(Mood)]}", 25, "variants[0].expect.findings[0]",
      "unknown finding `fault-strom`", "fault-storm"),
    Mistake(
      15, "    expect: {findings: [fault-storm(Mood), fault-storm(Mood)]}", 44,
      "variants[0].expect.findings[1]", "the finding `fault-storm(Mood)` is listed twice"),
    Mistake(
      15, "    expect: {findings: fault-storm(Mood)}", 24, "variants[0].expect.findings",
      "`findings` must be a list of findings"),
    Mistake(
      15, "    expect: 3", 13, "variants[0].expect", "`expect` must be a map of keys and values"),
    Mistake(
      10, "  - {results: Mood, sort: date, sections: colors.red, as: moods}", 43, "steps[0]",
      "`colors` is an attribute; a key path can't continue past it"),
    Mistake(16, "    expect: {}", 5, "", "duplicate key `expect`"),
    Mistake(16, "silence: [[fault-storm(Mood)]]", 11, "silence[0]", "a finding must be a word"),
    Mistake(
      8, "  Mood: {count: 50, date: {every: 1 minute, random: }}", 27, "data.Mood.date",
      "`date` can have only one generator"),
    Mistake(
      16, "    why: \"no end", 10, "",
      "invalid YAML: while scanning a quoted scalar, found unexpected end of stream"),
  ]

  @Test(arguments: mistakes)
  func reportsPositionKeyPathAndMessage(mistake: Mistake) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try read(mistake.line, mistake.text)
    }
    let diagnostic = try #require(
      error.diagnostics.first { $0.problem.message == mistake.message }, "\(error)")
    #expect(diagnostic.file == "storm.yml")
    #expect(diagnostic.column == mistake.column, "\(error)")
    #expect(diagnostic.keyPath == mistake.keyPath)
    #expect(diagnostic.problem.suggestion == mistake.suggestion)
    #expect(!diagnostic.nextStep.isEmpty)
    if diagnostic.problem.message.hasPrefix("invalid YAML") == false, mistake.line < 16 {
      #expect(diagnostic.line == mistake.line)
    }
  }

  @Test(arguments: ["\n", "\r\n", "\r", "\u{2028}"])
  func linesEndWhereTheyEndInYAML(end: String) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      let lines = Self.lines[..<9] + ["  - {fetch: Mod, as: moods}"]
      _ = try ScenarioReader.read(
        text: lines.joined(separator: end),
        url: PackagedScenarios.folder.appendingPathComponent("storm.yml"), path: "storm.yml")
    }
    #expect(
      error.description.hasPrefix(
        """
        storm.yml:10:13: error: the model has no entity `Mod`; did you mean `Mood`?
            - {fetch: Mod, as: moods}
                      ^^^
        """), "\(error)")
  }

  @Test
  func showsTheLineWithCarets() throws {
    let error = try #require(throws: ScenarioDiagnostics.self) {
      try read(11, "  - {touch: moods, read: [country.iso3166Code]}")
    }
    #expect(error.diagnostics.count == 1)
    #expect(
      error.description.hasPrefix(
        """
        storm.yml:11:35: error: Country has no property `iso3166Code`; did you mean `numericISO3166Code`?
            - {touch: moods, read: [country.iso3166Code]}
                                            ^^^^^^^^^^^
        steps[1]: its properties are:
        """))
  }

  /// Errors that follow from another error aren't reported.
  @Test(arguments: [
    (10, "  - {fetch: Mood, batch: -5, as: moods}"), (10, "  - {fecth: Mood, as: moods}"),
    (7, "  Contry: {count: 60}"), (10, "  - {fetch: Mood, as: moods, in: sync}"),
    (10, "  - fetch Mood batch -5 as moods"), (10, "  - fecth Mood as moods"),
  ])
  func oneMistakeProducesOneDiagnostic(line: Int, text: String) throws {
    let error = try #require(throws: ScenarioDiagnostics.self) { try read(line, text) }
    #expect(error.diagnostics.map(\.line) == [line], "\(error)")
  }

  @Test("a count that uses the rows of an entity with an error isn't another error")
  func invalidCountIsOneDiagnostic() throws {
    var lines = Self.lines
    lines.replaceSubrange(6...7, with: ["  Country: 60", "  Mood: {count: 50 * Country}"])
    let error = try #require(throws: ScenarioDiagnostics.self) { try read(lines) }
    #expect(error.diagnostics.map(\.line) == [7], "\(error)")
  }

  @Test(
    arguments: [
      (["  Country: {count: 0}", "  Mood: {count: 5}"], 8, "`Mood.country` is required"),
      (["  Continent: {count: 3}", "  Mood: {count: 5}"], 8, "`Mood.country` is required"),
      (["  Country: {count: 0}", "  Mood: {count: 0}"], nil, ""),
    ] as [([String], Int?, String)])
  func requiredRelationshipsNeedTargets(data: [String], line: Int?, message: String) throws {
    var lines = Self.lines
    lines.replaceSubrange(6...7, with: data)
    lines[14] = "    expect: {selects: at least 1}"
    guard let line else {
      try read(lines)
      return
    }
    let error = try #require(throws: ScenarioDiagnostics.self) { try read(lines) }
    #expect(error.diagnostics.map(\.line) == [line])
    #expect(error.description.contains(message))
  }

  /// Photos and tags have a many-to-many relationship.
  @Test(
    arguments: [
      ("Photo: {count: 4, tags: cycle 2}", ""),
      ("Photo: {count: 4, tags: cycle}", "`tags` is a many-to-many relationship"),
      ("Photo: {count: 4, title: cycle 2}", "`cycle` is for relationships, but `title` is"),
      (
        "Photo: {count: 4, tags: cycle 2}\n  Tag: {count: 2, photos: cycle 1}",
        "`Tag.photos` and its inverse both have a generator"
      ),
    ])
  func manyToManyRelationshipsHaveOneGenerator(data: String, message: String) throws {
    let lines = ["name: Many", "model: Photos", "data:", "  \(data)", "steps: []"]
    guard !message.isEmpty else { return try read(lines) }
    let error = try #require(throws: ScenarioDiagnostics.self) { try read(lines) }
    #expect(error.description.contains(message), "\(error)")
  }

  @Test
  func longLinesAreTruncatedAroundTheCaret() throws {
    let text = "  - {touch: moods, read: [\(String(repeating: "date, ", count: 500))dat]}"
    let error = try #require(throws: ScenarioDiagnostics.self) { try read(11, text) }
    let excerpt = error.description.split(separator: "\n")[1...2].map(Array.init)
    #expect(excerpt[0].count < 200)
    let caret = try #require(excerpt[1].firstIndex(of: "^"))
    #expect(String(excerpt[0][caret...].prefix(3)) == "dat")
    #expect(excerpt[0].contains("…"))
  }

  @Test
  func reportsAllErrorsAtOnce() throws {
    var lines = Self.lines
    lines[1] = "chapter: x"
    lines[9] = "  - {fetch: Moood, as: moods}"
    lines[14] = "    expect: {slects: 1, hits: 1 +, source: nobody}"
    let error = try #require(throws: ScenarioDiagnostics.self) { try read(lines) }
    #expect(error.diagnostics.map(\.line) == [2, 10, 15, 15, 15])
    #expect(error.description.hasSuffix("5 errors; nothing was run or written."))
  }

  @Test(arguments: [
    "", "- a\n- b", "just words", "name: [", "\u{0}\u{1}", "name: x\n---\nname: y", "a: &a [*a]",
    String(repeating: "[", count: 50_000), String(repeating: "- ", count: 50_000),
    String(repeating: "{a: ", count: 50_000), "name: *nothing", "? [a, b]\n: c",
  ])
  func rejectsMalformedDocuments(text: String) {
    #expect(throws: ScenarioDiagnostics.self) { try read([text]) }
  }

  private func read(_ line: Int, _ text: String) throws {
    var lines = Self.lines
    lines[line - 1] = text
    try read(lines)
  }

  private func read(_ lines: [String]) throws {
    let url = PackagedScenarios.folder.appendingPathComponent("storm.yml")
    _ = try ScenarioReader.read(text: lines.joined(separator: "\n"), url: url, path: "storm.yml")
  }
}
