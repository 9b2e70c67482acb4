import Foundation
import OpenCoreData
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import ScenarioFiles
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("The JSON Schema accepts valid scenarios only")
struct ScenarioSchemaTests {
  // A `Regex` isn't Sendable, but matching doesn't change it.
  nonisolated(unsafe) private static let validator = Result {
    try SchemaValidator(ScenarioSchema.document)
  }
  private let validator: SchemaValidator

  init() throws {
    validator = try Self.validator.get()
  }

  @Test func schemaFileIsGenerated() throws {
    let page = try GeneratedDocument.text(
      of: ScenarioSchema.fileName, generated: ScenarioSchema.document)
    #expect(page == ScenarioSchema.document, "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  @Test(arguments: PackagedScenarios.all)
  func everyScenarioMatchesTheSchema(file: URL) throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    for reading in YAMLReading.allCases {
      let problems = validator.problems(of: try reading.value(of: text))
      #expect(problems.isEmpty, "\(reading): \(problems)")
    }
  }

  @Test func starterScenariosMatchTheSchema() throws {
    let texts = [
      ScenarioStarter.text(name: "mine", file: "mine.yml"),
      ScenarioStarter.text(
        name: "mine", file: "mine.yml", store: "a b.sqlite", entity: "Mood", attribute: "date"),
    ]
    for text in texts {
      #expect(validator.problems(of: try YAMLReading.core.value(of: text)).isEmpty)
    }
  }

  /// Compares the keys, verbs, options, and metrics with those of the code.
  @Test func schemaContainsEveryWord() throws {
    let root = validator.root.object
    #expect(Set(root["properties"]?.object.keys.map(\.self) ?? []) == Set(Scenario.keys))
    let variant = root["properties"]?.object["variants"]?.object["items"]?.object["properties"]
    #expect(Set(variant?.object.keys.map(\.self) ?? []) == Set(VariantReader.keys))
    let definitions = try #require(root["$defs"]?.object)
    let expect = try #require(definitions["expect"]?.object["properties"]?.object)
    let metrics = Metric.allCases.filter(\.isExact).map(\.rawValue)
    #expect(Set(expect.keys) == Set(metrics + ["plan", "findings", "source"]))
    for verb in Verb.allCases {
      let step = try #require(definitions["\(verb.rawValue)-step"]?.object["properties"]?.object)
      for option in verb.allOptions { #expect(step[option.rawValue] != nil, "\(verb) \(option)") }
    }
  }

  /// The reader and the schema agree on which verb takes which option.
  @Test(arguments: Verb.allCases)
  func schemaAndReaderAgreeOnSteps(verb: Verb) throws {
    let values: [OptionWord: String] = [
      .predicate: "\"date > 0\"", .having: "\"n > 0\"", .sort: "date-", .keys: "[country, date-]",
      .prefetch: "[country]", .group: "country", .columns: "[count(date)]", .result: "ids",
      .queue: "main", .policy: "error", .staleness: "-1", .assignments: "{date: 2016-05-04}",
      .removals: "{moods: old}", .parent: "main", .coordinator: "second", .remove: "byDate",
      .to: "100", .context: "main",
    ]
    let subject =
      switch verb.subject {
      case .entity: "Mood"
      case .none: "null"
      case .text where verb == .pragma: "cache_size"
      default: "moods"
      }
    let needs = verb.needs.first ?? []
    for option in OptionWord.allCases.map(\.rawValue) + ["as", "fails", "read", "through", "nope"] {
      for others in Set([[], needs, needs + verb.clashes]) {
        let pairs = Set(others + [option]).sorted().map { word in
          let known = OptionWord(rawValue: word)
          let value =
            known.flatMap { values[$0] }
            ?? (isFlag(known) ? "yes" : ["as", "nope"].contains(word) ? "mine" : "20")
          return "\(word): \(["read", "through"].contains(word) ? "[date]" : value)"
        }
        let step = "{\(([verb.rawValue + ": " + subject] + pairs).joined(separator: ", "))}"
        try expectAgreement(on: step)
      }
    }
    try expectAgreement(on: "{\(verb.rawValue): \(subject)}")
    try expectAgreement(on: "{\(verb.rawValue): \(subject == "null" ? "Mood" : "null")}")
  }

  @Test(arguments: [
    "{repeat: 2, steps: [save, {repeat: 1000, steps: [{fetch: Mood}]}]}",
    "{repeat: 0, steps: [save]}",
    "{repeat: 1001, steps: [save]}", "{repeat: 2}", "{steps: [save]}",
    "{repeat: 2, steps: save}", "{repeat: 2, steps: [save], as: x}",
    "{repeat: often, steps: [save]}",
  ])
  func schemaAndReaderAgreeOnBlocks(block: String) throws {
    try expectAgreement(on: block)
  }

  private func isFlag(_ option: OptionWord?) -> Bool {
    if case .flag? = option?.kind { true } else { false }
  }

  private func expectAgreement(on step: String) throws {
    let yaml = "name: a\nmodel: Moody\nsteps: [\(step)]\n"
    let fits = validator.problems(of: try YAMLReading.core.value(of: yaml)).isEmpty
    let document = YAMLDocument(text: yaml, file: "a.yml")
    let root = try #require(document.root(of: yaml))
    let entries = try #require(document.entries(of: root, at: "", known: nil, what: "a scenario"))
    let names = ModelNames(NSManagedObjectModel())
    let scopes = ScopeResolver(names: names, rowNames: names, stepNames: [])
    let reader = StepReader(
      document: document,
      expects: ExpectReader(document: document, scopes: scopes, source: .ours))
    _ = reader.steps(of: try #require(entries.first { $0.key.text == "steps" }))
    let isRead = document.diagnostics.isEmpty
    #expect(fits == isRead, "\(step): \(document.diagnostics.map(\.description))")
  }

  /// A plain `no` is a string, which could name an entity, or a Boolean, which isn't a limit.
  @Test func limitIsNotABoolean() throws {
    let text = "name: S\nmodel: Moody\nsteps:\n  - {fetch: Mood, limit: no}\n"
    #expect(try YAMLReading.core.value(of: "no") == .text("no"))
    #expect(try YAMLReading.yaml11.value(of: "no") == .flag(false))
    #expect(validator.problems(of: try YAMLReading.core.value(of: text)).isEmpty)
    #expect(!validator.problems(of: try YAMLReading.yaml11.value(of: text)).isEmpty)
    #expect(throws: ScenarioDiagnostics.self) {
      try ScenarioReader.read(
        text: text, url: PackagedScenarios.folder.appendingPathComponent("limit.yml"),
        path: "limit.yml"
      )
    }
  }

  private static let valid = """
    name: Storm
    chapter: 15
    model: Moody
    data:
      seed: 7
      Country: {count: 60}
      Mood: {count: 50 * scale, country: cycle}
    steps:
      - {fetch: Mood, sort: date-, as: moods}
      - {touch: moods, read: [date]}
    variants:
      - name: plain
        set: {moods.values: no}
        expect: {selects: 1 + Country}

    """

  /// Odd but valid: numbers as strings, one value as a list, no value, blanks, and Booleans that
  /// are names.
  @Test(arguments: [
    ("chapter: 15", "chapter: \"15\""), ("chapter: 15", "chapter: \"+15\""),
    ("seed: 7", "seed: \"+7\""),
    ("chapter: 15", "predict: {question: q, least: selects, hints: null}"),
    ("{count: 60}", "{count: \"60 +\\t2\"}"), ("{count: 60}", "{count: 6_0}"),
    ("{count: 60}", "{count: 60, updatedAt: {random: null}}"),
    ("{count: 60}", "{count: 60, updatedAt: {every: [1, minute]}}"),
    ("{count: 60}", "{count: 60, updatedAt: {every 1: minute}}"),
    ("{count: 60}", "{count: 60, updatedAt: \" every +1, minute \"}"),
    ("{count: 60}", "{count: 60, updatedAt: {one of: [2016-05-04]}}"),
    ("country: cycle", "latitude: {one of: [null, 1.5]}"),
    ("country: cycle", "country: {cycle: }"), ("country: cycle", "latitude: {one of: 1.5}"),
    ("{touch: moods, read: [date]}", "{repeat: \"2\", steps: [save]}"),
    ("{touch: moods, read: [date]}", "\" save\""),
    ("{touch: moods, read: [date]}", "\"fetch\\tMood\""),
    ("{touch: moods, read: [date]}", "{fetch: Mood, as: true}"),
    ("{touch: moods, read: [date]}", "{fetch: Mood, as: [m], in: [main], fails: [1]}"),
    ("{touch: moods, read: [date]}", "{fetch: Mood, limit: [2], values: [no], result: [ids]}"),
    ("{touch: moods, read: [date]}", "{fetch: Mood, where: [\"date > 0\"], faults: yEs}"),
    ("{touch: moods, read: [date]}", "{fetch: Mood, sort: \"date, latitude-\"}"),
    ("{touch: moods, read: [date]}", "{context: true, staleness: \"1e3\"}"),
    ("{touch: moods, read: [date]}", "{context: c, staleness: [\"+5\"]}"),
    ("{touch: moods, read: [date]}", "{walk: moods, through: null}"),
    ("{touch: moods, read: [date]}", "{walk: moods, through: []}"),
    ("{touch: moods, read: [date]}", "{sql: 5}"),
    (
      "{touch: moods, read: [date]}",
      "{batch-update: Mood, with: {latitude: {expression: latitude + 1}, longitude: 2}}"
    ),
    ("{touch: moods, read: [date]}", "{batch-update: Mood, with: {latitude: {expression: 5}}}"),
    ("selects: 1 + Country", "selects: \"61\""), ("selects: 1 + Country", "selects: \" 2 .. 99 \""),
    ("selects: 1 + Country", "selects: \"1\\t+ Country\""),
  ])
  func schemaAcceptsUnusualScenarios(text: String, replacement: String) throws {
    #expect(Self.valid.contains(text))
    let unusual = Self.valid.replacingOccurrences(of: text, with: replacement)
    let problems = validator.problems(of: try YAMLReading.core.value(of: unusual))
    #expect(problems.isEmpty, "\(problems)")
    let url = PackagedScenarios.folder.appendingPathComponent("unusual.yml")
    #expect(throws: Never.self) {
      try ScenarioReader.read(text: unusual, url: url, path: "unusual.yml")
    }
  }

  /// Errors that don't depend on a model; the reader rejects them, too.
  @Test(arguments: [
    ("name: Storm", "nmae: Storm"), ("name: Storm", ""), ("model: Moody", ""),
    ("chapter: 15", "chapter: fifteen"), ("chapter: 15", "chapter: -1"),
    ("chapter: 15", "covers: S6.01"), ("chapter: 15", "covers: [6.01]"),
    ("chapter: 15", "covers: [{S6.01: boook}]"), ("chapter: 15", "source: boook"),
    ("chapter: 15", "silence: fault-storm"), ("chapter: 15", "silence: [fault-strom]"),
    ("chapter: 15", "expect: {selects: 1}"),
    ("seed: 7", "seed: x"), ("{count: 60}", "{continent: cycle}"), ("{count: 60}", "60"),
    ("{count: 60}", "{count: 60, continent: cycel}"),
    ("{count: 60}", "{count: 60, updatedAt: every 2 mintes}"),
    ("{count: 60}", "{count: \"60 % 2\"}"), ("{count: 60}", "{count: -6}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: Mood, soort: date-, as: moods}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: null, as: moods}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: Mood, limit: 2 of 3, as: moods}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: Mood, sort: [], as: moods}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: Mood, values: perhaps, as: moods}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: Mood, result: object, as: moods}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: Mood, as: 3 moods}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: Mood, as: limit}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: Mood, as: moods, fails: often}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fetch: Mood, delete: Mood, as: moods}"),
    ("{fetch: Mood, sort: date-, as: moods}", "{fecth: Mood, as: moods}"),
    ("{fetch: Mood, sort: date-, as: moods}", "fecth Mood as moods"),
    ("{touch: moods, read: [date]}", "{touch: moods}"),
    ("{touch: moods, read: [date]}", "{set: moods, with: {}}"),
    ("{touch: moods, read: [date]}", "{set: moods, with: {latitude: {expression: latitude}}}"),
    ("{touch: moods, read: [date]}", "{batch-update: Mood, with: {latitude: {formula: latitude}}}"),
    ("{touch: moods, read: [date]}", "{batch-update: Mood, with: {latitude: {expression: \" \"}}}"),
    ("{touch: moods, read: [date]}", "{batch-update: Mood, with: {latitude: {expression: null}}}"),
    ("{touch: moods, read: [date]}", "{batch-update: Mood, with: {latitude: {}}}"),
    ("{touch: moods, read: [date]}", "{batch-update: Mood, with: {latitude: [1]}}"),
    ("{touch: moods, read: [date]}", "{save: null, as: saved, limit: 1}"),
    ("{touch: moods, read: [date]}", "{index: Mood, keys: date}"),
    ("{touch: moods, read: [date]}", "{sql: \"  \"}"),
    ("- name: plain", "- nme: plain"), ("- name: plain", "- why: plain"),
    ("moods.values: no", "moods: no"), ("moods.values: no", "moods.vals: no"),
    ("selects: 1 + Country", "slects: 1"), ("selects: 1 + Country", "time: 1"),
    ("selects: 1 + Country", "selects: at least"), ("selects: 1 + Country", "selects: 1 ... 2"),
    ("selects: 1 + Country", "selects: {expected: 1, soruce: book}"),
    ("selects: 1 + Country", "selects: {source: book}"),
    ("selects: 1 + Country", "plan: avoids scans"), ("selects: 1 + Country", "findings: fault"),
    ("selects: 1 + Country", "findings: [fault-strom(Mood)]"),
    ("selects: 1 + Country", "selects: {expected: 1, law: 1}"),
    ("selects: 1 + Country", "selects: 1a"),
    ("name: Storm", "name: \" \""), ("name: plain", "name: \"\""),
    ("seed: 7", "include: moods.txt"),
    ("chapter: 15", "predict: {question: q, least: selects, most: rows}"),
    ("chapter: 15", "metric: filepages(Mood)"),
    ("{count: 60}", "{count: 60, updatedAt: every 0 minutes}"),
    ("{count: 60}", "{count: 60, updatedAt: {one of: [nil, \"\"]}}"),
    ("{touch: moods, read: [date]}", "fetch"),
    ("{touch: moods, read: [date]}", "{fetch: Mood, limit: 2000000000}"),
    ("{touch: moods, read: [date]}", "{fetch: Mood, where: \" \"}"),
    ("{touch: moods, read: [date]}", "{fetch: Mood, sort: \",\"}"),
    ("{touch: moods, read: [date]}", "{walk: moods, every: 0}"),
    ("{touch: moods, read: [date]}", "{context: c, staleness: 1.2.3}"),
    ("{touch: moods, read: [date]}", "{context: c, staleness: 20000000000}"),
    ("{touch: moods, read: [date]}", "{pragma: cache_size, to: \"\"}"),
  ])
  func schemaRejectsInvalidScenarios(text: String, replacement: String) throws {
    #expect(Self.valid.contains(text))
    #expect(validator.problems(of: try YAMLReading.core.value(of: Self.valid)).isEmpty)
    let invalid = Self.valid.replacingOccurrences(of: text, with: replacement)
    #expect(!validator.problems(of: try YAMLReading.core.value(of: invalid)).isEmpty)
    let url = PackagedScenarios.folder.appendingPathComponent("invalid.yml")
    #expect(throws: ScenarioDiagnostics.self) {
      try ScenarioReader.read(text: invalid, url: url, path: "invalid.yml")
    }
  }

  /// A keyword that the validator doesn't know would check nothing.
  @Test func unknownSchemaKeywordsAreErrors() {
    #expect(throws: SchemaValidator.Unknown.self) {
      try SchemaValidator(#"{"properties": {"a": {"maxLength": 3}}}"#)
    }
    #expect(throws: SchemaValidator.Unknown.self) {
      try SchemaValidator(##"{"$ref": "#/$defs/a"}"##)
    }
  }
}
