import ProfileEvents
import Testing

@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Shell lines")
struct ShellLineTests {
  /// Lines as typed, and in their canonical form.
  static let lines: [(typed: String, text: String)] = [
    ("fetch Mood", "fetch Mood"),
    ("  fetch   Mood sort date- values no as moods ", "fetch Mood sort date- values no as moods"),
    (
      "fetch Mood where \"country.numericISO3166Code == 710\" sort date- batch 20 as m",
      "fetch Mood where \"country.numericISO3166Code == 710\" sort date- batch 20 as m"
    ),
    (
      "fetch Mood as m batch 20 where 'name == \"x\"'",
      "fetch Mood where \"name == \\\"x\\\"\" batch 20 as m"
    ),
    (
      "fetch Mood sort date-,country.name+ prefetch [country, country.continent] faults FALSE",
      "fetch Mood sort date-, country.name prefetch country, country.continent faults no"
    ),
    (
      "fetch Region result ids subentities off pending on limit 3 offset 1 in main",
      "fetch Region limit 3 offset 1 pending yes subentities no result ids in main"
    ),
    (
      "fetch Track sort localized(title)-,localized(title)+",
      "fetch Track sort localized(title)-, localized(title)"
    ),
    ("count Mood where TRUEPREDICATE", "count Mood where \"TRUEPREDICATE\""),
    ("count Mood where latitude > 5", "count Mood where \"latitude > 5\""),
    (
      "fetch Mood where country.name == 'New, York' AND latitude<5 sort date- limit 3",
      "fetch Mood where \"country.name == 'New, York' AND latitude<5\" sort date- limit 3"
    ),
    (
      "fetch Mood where values > limit or name in {1, 2} in main",
      "fetch Mood where \"values > limit or name in {1, 2}\" in main"
    ),
    ("fetch Mood sort date desc limit 3", "fetch Mood sort date- limit 3"),
    ("fetch Mood sort name ASC, date descending", "fetch Mood sort name, date-"),
    ("fetch Mood sort [date desc, name]", "fetch Mood sort date-, name"),
    ("touch m country.updatedAt", "touch m country.updatedAt"),
    ("touch m read date, country.name limit 1", "touch m date country.name limit 1"),
    ("touch m read", "touch m read read"),
    ("touch m read, name", "touch m read read name"),
    ("walk countries through moods", "walk countries moods"),
    (
      "touch moods date, country.name \"limit\" limit 1",
      "touch moods date country.name \"limit\" limit 1"
    ),
    (
      "insert Mood times 3 with latitude 1.5, note \"a, b\" as new",
      "insert Mood times 3 with latitude 1.5, note \"a, b\" as new"
    ),
    (
      "insert Mood with a nil, b 'nil', c null, d 'null', e 'nils'",
      "insert Mood with a nil, b \"nil\", c null, d \"null\", e nils"
    ),
    ("set moods with country countries limit 2", "set moods limit 2 with country countries"),
    ("delete moods offset 1", "delete moods offset 1"),
    (
      "fetch Mood limit ceil( Mood / 20 )*2 batch 5 * scale as m",
      "fetch Mood limit ceil( Mood / 20 )*2 batch 5 * scale as m"
    ),
    ("fetch Mood limit Mood/2 batch \"2   * scale\"", "fetch Mood limit Mood/2 batch 2 * scale"),
    (
      "insert Mood times (1 + 2) * 3 with latitude 1",
      "insert Mood times (1 + 2) * 3 with latitude 1"
    ),
    ("walk moods every \"values / 2\"", "walk moods every \"values / 2\""),
    ("refresh moods keep no", "refresh moods keep no"),
    ("save fails 1570", "save fails 1570"),
    ("drop moods # and what follows is a comment", "drop moods"),
    ("reset", "reset"),
    ("rollback", "rollback"),
    (
      "fetch Mood result dictionaries group country columns country, count(date) having '$countDate > 2' as n",
      "fetch Mood result dictionaries columns country, count(date) group country having \"$countDate > 2\" as n"
    ),
    (
      "fetch Mood distinct yes columns latitude result dictionaries",
      "fetch Mood result dictionaries columns latitude distinct yes"
    ),
    ("fetch Mood limit Infinity", "fetch Mood limit Infinity"),
    ("walk countries moods, moods.country limit 3", "walk countries moods moods.country limit 3"),
    ("walk moods array yes every 20", "walk moods every 20 array yes"),
    (
      "relate countries without moods old with moods fresh",
      "relate countries with moods fresh without moods old"
    ),
    ("undo redo yes times 2 in edit", "undo times 2 redo yes in edit"),
    (
      "context sync policy store merges yes queue background staleness -1 undoable yes",
      "context sync queue background policy store merges yes staleness -1 undoable yes"
    ),
    ("context edit parent sync retains yes", "context edit parent sync retains yes"),
    ("context p coordinator second staleness 0.5", "context p coordinator second staleness 0.5"),
    ("save in sync as saved", "save in sync as saved"),
    ("merge saved remote yes in main", "merge saved remote yes in main"),
    ("pin", "pin"),
    ("pin to sync in main", "pin to sync in main"),
    (
      "batch-insert Mood times 5 with date 2016-05-04 as fresh",
      "batch-insert Mood times 5 with date 2016-05-04 as fresh"
    ),
    (
      "batch-update Mood where 'latitude > 1' with latitude nil",
      "batch-update Mood where \"latitude > 1\" with latitude nil"
    ),
    (
      "batch-update Mood with a = a + 1, b \"=x\", c = 'd', d d where e > 5 as f",
      "batch-update Mood where \"e > 5\" with a = \"a + 1\", b \"=x\", c = \"d\", d d as f"
    ),
    (
      "batch-update Mood with a = TERNARY(b > 5, {1}, [c, 'd, e']), g = nil, h nil in main",
      "batch-update Mood with a = \"TERNARY(b > 5, {1}, [c, 'd, e'])\", g = \"nil\", h nil in main"
    ),
    (
      "batch-update Mood with a = \"b + \\\"=\\\"\", c = b + limit subentities no",
      "batch-update Mood subentities no with a = \"b + \\\"=\\\"\", c = \"b + limit\""
    ),
    ("batch-delete Mood sort date limit 5 as gone", "batch-delete Mood sort date limit 5 as gone"),
    ("index Mood keys country, date- as byCountry", "index Mood keys country, date- as byCountry"),
    ("index Mood remove byDateIndex", "index Mood remove byDateIndex"),
    ("sql 'SELECT 1'", "sql \"SELECT 1\""),
    ("pragma cache_size to 10", "pragma cache_size to 10"),
    ("analyze", "analyze"),
    ("history purge", "history purge"),
    ("fetch Mood refreshes yes", "fetch Mood refreshes yes"),
    (
      "results Mood sections country cache list sort country, date delegate no as moods",
      "results Mood sort country, date sections country cache list delegate no as moods"
    ),
    ("migrate 'Orders 4' way staged", "migrate \"Orders 4\" way staged"),
    ("migrate V2 way deferred", "migrate V2 way deferred"),
    ("finish-migration", "finish-migration"),
    ("finish-migration times 2", "finish-migration times 2"),
    ("migrate V2 mapping A.cdm fails 134110", "migrate V2 mapping A.cdm fails 134110"),
  ]

  @Test(arguments: lines)
  func canonicalFormRoundTrips(line: (typed: String, text: String)) throws {
    let step = try ShellLine.parse(line.typed, number: 4)
    #expect(step.text == line.text)
    #expect(step.location.description == "shell:4")
    #expect(try ShellLine.parse(step.text, number: 9) == step)
  }

  /// Invalid lines, with the column, message, and suggestion of the error.
  static let invalidLines: [(typed: String, column: Int, message: String, suggestion: String?)] = [
    ("", 1, "expected a step", nil),
    ("fecth Mood", 1, "unknown verb `fecth`", "fetch"),
    ("history prge", 9, "`history` has no action `prge`", "purge"),
    ("history", 1, "`history` needs `track` or `purge`", nil),
    ("results Mood as moods", 1, "`results` needs `sort` and the keys of its order", nil),
    (
      "relate countries", 1, "`relate` needs `with` or `without`, a relationship, and a result", nil
    ),
    (
      "index Mood", 1, "`index` needs `keys` and `as` to create an index, or `remove` to drop one",
      nil
    ),
    ("index Mood keys date", 1, "`index` needs `as` and a name for the index", nil),
    ("pragma cache_size", 1, "`pragma` needs `to` and a value", nil),
    ("pragma \"cache size\" to 1", 8, "`cache size` isn't the name of a pragma", nil),
    ("sql SELECT 1", 12, "unknown option `1`", nil),
    ("sql", 1, "`sql` needs a statement in quotes", nil),
    ("context 3x", 9, "`3x` isn't a name", nil),
    ("context sync policy ovrwrite", 21, "`policy` can't be `ovrwrite`", "overwrite"),
    (
      "context sync staleness soon", 24,
      "`staleness` needs a number of seconds, at most 1,000,000,000, not `soon`", nil
    ),
    ("context sync mergs yes", 14, "unknown option `mergs`", "merges"),
    ("context sync in main", 14, "`context` doesn't take `in`", nil),
    ("batch-update Mood", 1, "`batch-update` needs `with` and the values to set", nil),
    ("btach-delete Mood", 1, "unknown verb `btach-delete`", "batch-delete"),
    ("undo moods", 6, "unknown option `moods`", nil),
    ("fetch", 1, "`fetch` needs the name of an entity", nil),
    ("fetch sort date-", 1, "`fetch` needs the name of an entity", nil),
    ("touch moods", 1, "`touch` needs the key paths to read", nil),
    ("set moods", 1, "`set` needs `with` and the values to set", nil),
    ("save moods", 6, "unknown option `moods`", nil),
    ("fetch Mood wher \"x\"", 12, "unknown option `wher`", "where"),
    ("fetch Mood where", 12, "`where` needs a predicate", nil),
    ("fetch Mood where \"date > 0", 18, "unterminated string", nil),
    ("fetch Mood limit 1.5", 18, "`limit` needs an integer, not `1.5`", nil),
    ("fetch Mood limit 1e3", 18, "`limit` needs an integer, not `1e3`", nil),
    ("fetch Mood limit Mood /", 24, "expected a number or a name, found the end", nil),
    ("fetch Mood limit ceil(Mood / 20 batch 5", 32, "expected `)`, found the end", nil),
    ("fetch Mood limit celi(Mood)", 18, "unknown function `celi`", "ceil"),
    (
      "fetch Mood limit 2 - 3", 18, "`limit` isn't valid: its value -1 is less than 0", nil
    ),
    ("walk moods every 0", 18, "`every` isn't valid: its value 0 is less than 1", nil),
    ("walk moods every 2 - 2", 18, "`every` isn't valid: its value 0 is less than 1", nil),
    ("fetch Mood limit 20 bacth 10", 21, "unknown option `bacth`", "batch"),
    ("fetch Mood limit -1", 18, "`limit` needs an integer, not `-1`", nil),
    ("fetch Mood limit batch 20", 12, "`limit` needs a number", nil),
    ("fetch Mood values yess", 19, "`values` needs yes or no, not `yess`", "yes"),
    ("fetch Mood result idss", 19, "`result` can't be `idss`", "ids"),
    ("fetch Mood columns sume(latitude)", 20, "unknown function `sume`", "sum"),
    ("fetch Mood columns max(latitude", 20, "`max` needs a key path in parentheses", nil),
    ("fetch Mood limit 1 limit 2", 20, "duplicate `limit`", nil),
    ("fetch Mood as 3m", 15, "`3m` isn't a name", nil),
    ("fetch Mood as batch", 12, "`as` needs a name", nil),
    ("fetch Mood sort [date-, name", 17, "unterminated list", nil),
    ("count Mood as n", 12, "`count` has no result to name", nil),
    ("touch moods date sort date", 18, "`touch` doesn't take `sort`", nil),
    ("insert Mood with latitude", 18, "`latitude` needs a value", nil),
    ("batch-update Mood with latitude =", 33, "`latitude` needs an expression", nil),
    ("batch-update Mood with latitude = where 'a > 1'", 33, "`latitude` needs an expression", nil),
    ("batch-update Mood with latitude = ' '", 35, "`latitude` needs an expression", nil),
    ("batch-update Mood with latitude=latitude+1", 32, "`=` must be a word of its own", nil),
    ("batch-update Mood with latitude =latitude", 33, "`=` must be a word of its own", nil),
    ("batch-update Mood with latitude == 5", 33, "`=` must be a word of its own", nil),
    ("insert Mood with latitude = 2 * 3", 29, "`insert` doesn't evaluate expressions", nil),
    ("set moods with latitude = 'latitude'", 27, "`set` doesn't evaluate expressions", nil),
  ]

  /// An escape takes more characters in the line than in the word.
  @Test func positionsInAWordAreThoseOfTheLine() throws {
    let tokens = try LineWords.tokens(
      of: #"where "a == \"b\" AND c" x"#, startingAt: SourceRange(line: 1, column: 1))
    guard case .word(let word) = tokens[1] else { return #expect(Bool(false)) }
    #expect(word.text == #"a == "b" AND c"#)
    #expect(word.range(at: 13) == SourceRange(line: 1, column: 23))
    #expect(word.range(at: 5, length: 3) == SourceRange(line: 1, column: 13, length: 5))
    #expect(word.range(at: 99) == SourceRange(line: 1, column: 24))
  }

  @Test(arguments: invalidLines)
  func reportsThePositionOfErrors(
    line: (typed: String, column: Int, message: String, suggestion: String?)
  ) throws {
    let error = try #require(throws: LineError.self) {
      try ShellLine.parse(line.typed, number: 7)
    }
    #expect(error.problem.range.column == line.column)
    #expect(error.problem.range.line == 7)
    #expect(error.problem.message == line.message)
    #expect(error.problem.suggestion == line.suggestion)
    #expect(!error.problem.nextStep.isEmpty)
  }

  @Test
  func marksTheInvalidWordWithCarets() throws {
    let error = try #require(throws: LineError.self) {
      try ShellLine.parse("fetch Mood limt 3", number: 1)
    }
    #expect(
      error.description.hasPrefix(
        """
          fetch Mood limt 3
                     ^^^^
        unknown option `limt`; did you mean `limit`?
        `fetch` takes: where,
        """))
  }

  @Test
  func verbsAndOptionsAreDisjoint() {
    let verbs = Set(Verb.allCases.map(\.rawValue))
    #expect(verbs.isDisjoint(with: LineWords.keywords))
  }

  @Test(arguments: [
    ("country IN $a", true), ("country in\t $a", true), ("NOT (country IN $a)", true),
    ("country == $a", false), ("country.origin == $a", false), ("country.begIN == $a", false),
    ("begIN $a", false), ("$a", false),
  ])
  func referencesAfterINAreLists(predicate: String, isList: Bool) throws {
    let step = try ShellLine.parse("fetch Mood where \"\(predicate)\"", number: 1)
    #expect(step.predicateReferences.map(\.name) == ["a"])
    #expect(step.predicateReferences.map(\.isList) == [isList])
  }
}
