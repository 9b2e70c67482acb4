import OpenCoreData
import Testing

@testable import Profiling
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Generated data")
struct DataPlanTests {
  private func attribute(
    _ type: NSAttributeType, minimum: String? = nil, maximum: String? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = "value"
    attribute.attributeType = type
    attribute.valueRule = ValueRule(minimum: minimum, maximum: maximum)
    return attribute
  }

  private func values(
    _ attribute: NSAttributeDescription, _ generator: String? = nil, rows: Int,
    isUnique: Bool = false, seed: UInt64 = 7
  ) throws -> [String] {
    var words = [Word]()
    for token in try LineWords.tokens(
      of: generator ?? "", startingAt: SourceRange(line: 1, column: 1))
    {
      if case .word(let word) = token { words.append(word) }
    }
    let generator = try generator.map { _ in
      try Generator(words, at: SourceRange(line: 1, column: 1))
    }
    let filled = EntityPlan.FilledAttribute(
      attribute: attribute,
      recipe: ValueRecipe(attribute, generator: generator, isUnique: isUnique))
    var source = AttributeSource(filled, seed: seed, stream: "Mood.value")
    return (0..<rows).map { row in
      let value = source.value(row: row)
      return (value as? Data)?.base64EncodedString() ?? value.map { "\($0)" } ?? "nil"
    }
  }

  @Test
  func valuesDependOnTheSeed() throws {
    for type in NSAttributeType.allCases where type != .URIAttributeType {
      let first = try values(attribute(type), "random", rows: 40)
      #expect(try first == values(attribute(type), "random", rows: 40), "\(type)")
      guard first[0] != "nil" else { continue }
      #expect(try first != values(attribute(type), "random", rows: 40, seed: 8), "\(type)")
    }
  }

  @Test
  func generatorProducesSplitMix64Numbers() {
    var generator = SeededGenerator(seed: 7, stream: "Mood.date")
    let first = (0..<3).map { _ in generator.next() }
    #expect(
      first == [
        5_763_090_696_513_744_584, 13_355_269_542_961_167_885, 5_111_274_177_929_667_234,
      ])
    var bounded = SeededGenerator(seed: 1, stream: "")
    #expect((0..<1000).allSatisfy { _ in (0..<6).contains(bounded.below(6)) })
  }

  @Test(arguments: [
    ("every 1 minute", ["2016-01-01 00:00:00 +0000", "2016-01-01 00:01:00 +0000"]),
    ("every 2 days", ["2016-01-01 00:00:00 +0000", "2016-01-03 00:00:00 +0000"]),
    (
      "one of [2016-05-04, nil]", ["2016-05-04 00:00:00 +0000", "nil", "2016-05-04 00:00:00 +0000"]
    ),
  ])
  func datesFollowTheGenerator(generator: String, dates: [String]) throws {
    #expect(try values(attribute(.dateAttributeType), generator, rows: dates.count) == dates)
  }

  @Test func quotedNilIsText() throws {
    let words = try LineWords.tokens(
      of: "one of [nil, 'nil', null, \"null\"]", startingAt: SourceRange(line: 1, column: 1)
    ).compactMap { token -> Word? in if case .word(let word) = token { word } else { nil } }
    let filled = EntityPlan.FilledAttribute(
      attribute: attribute(.stringAttributeType),
      recipe: ValueRecipe(
        attribute(.stringAttributeType),
        generator: try Generator(words, at: SourceRange(line: 1, column: 1)), isUnique: false))
    var source = AttributeSource(filled, seed: 7, stream: "Mood.value")
    #expect((0..<4).map { source.value(row: $0) as? String } == [nil, "nil", nil, "null"])
  }

  @Test
  func defaultValuesRespectTypeLimitsAndUniqueness() throws {
    #expect(try values(attribute(.integer16AttributeType), rows: 3) == ["1", "2", "3"])
    #expect(
      try values(attribute(.integer32AttributeType, minimum: "5", maximum: "6"), rows: 3)
        == ["5", "6", "5"])
    #expect(try values(attribute(.integer16AttributeType), rows: 33_000).last == "233")
    let texts = try values(attribute(.stringAttributeType), rows: 500, isUnique: true)
    #expect(Set(texts).count == 500)
    #expect(texts.allSatisfy { $0.count == 12 })
    let short = try values(attribute(.stringAttributeType, maximum: "4"), rows: 50)
    #expect(short.allSatisfy { $0.count == 4 })
    let fractions = try values(
      attribute(.doubleAttributeType, minimum: "-90", maximum: "90"), "random", rows: 200)
    #expect(fractions.allSatisfy { (-90.0...90.0).contains(Double($0) ?? .nan) })
    #expect(
      try values(attribute(.stringAttributeType), "text 5", rows: 9).allSatisfy { $0.count == 5 })
  }

  @Test(
    arguments: [
      (.integer16AttributeType, nil, "-5", nil), (.integer16AttributeType, nil, "-5", "random"),
      (.integer64AttributeType, nil, "-5000000000", "random"),
      (.integer32AttributeType, nil, "0", nil), (.doubleAttributeType, nil, "-5", nil),
      (.decimalAttributeType, "10", "100", nil), (.decimalAttributeType, nil, "-2", nil),
    ] as [(NSAttributeType, String?, String?, String?)])
  func numbersAreWithinTheModelsBounds(
    type: NSAttributeType, minimum: String?, maximum: String?, generator: String?
  ) throws {
    let limited = attribute(type, minimum: minimum, maximum: maximum)
    let found = try values(limited, generator, rows: 300).compactMap(Double.init)
    #expect(found.count == 300)
    let least = minimum.flatMap(Double.init) ?? -.infinity
    let greatest = maximum.flatMap(Double.init) ?? .infinity
    #expect(found.allSatisfy { (least...greatest).contains($0) })
  }

  @Test(
    arguments: [("20", nil, 20), (nil, "-5", 0), ("3", "200", 12), ("1e12", nil, 100_000)]
      as [(String?, String?, Int)])
  func textsHaveTheModelsLength(minimum: String?, maximum: String?, length: Int) throws {
    let limited = attribute(.stringAttributeType, minimum: minimum, maximum: maximum)
    #expect(try values(limited, rows: 2).map(\.count) == [length, length])
  }

  /// The bounds of dates are seconds since 2001.
  @Test(
    arguments: [("600000000", "600000009"), (nil, "0"), ("600000000", nil), ("-1e300", "9e18")]
      as [(String?, String?)])
  func datesAreWithinTheModelsBounds(minimum: String?, maximum: String?) throws {
    let limited = attribute(.dateAttributeType, minimum: minimum, maximum: maximum)
    for isUnique in [false, true] {
      let filled = EntityPlan.FilledAttribute(
        attribute: limited,
        recipe: ValueRecipe(limited, generator: nil, isUnique: isUnique))
      var source = AttributeSource(filled, seed: 7, stream: "Mood.date")
      for row in 0..<10 {
        let date = try #require(source.value(row: row) as? Date).timeIntervalSinceReferenceDate
        #expect(minimum.flatMap(Double.init).map { date >= $0 } ?? true)
        #expect(maximum.flatMap(Double.init).map { date <= $0 } ?? true)
      }
    }
  }

  @Test(arguments: [1, 8, 20_001])
  func bytesHaveTheirLengthAndDiffer(length: Int) throws {
    let found = try values(attribute(.binaryDataAttributeType), "bytes \(length)", rows: 2)
      .map { try #require(Data(base64Encoded: $0)) }
    #expect(found.map(\.count) == [length, length] && found[0] != found[1])
    #expect(length < 100 || Set(found[0]).count == 256)
  }

  @Test
  func countsCanUseEarlierEntities() throws {
    func plan(_ entity: String, _ count: String) throws -> EntityPlan {
      let word = Word(count, at: SourceRange(line: 1, column: 1))
      return EntityPlan(entity: entity, count: try CountExpression(word))
    }
    let data = DataPlan(
      source: .generated([try plan("Country", "6 * scale"), try plan("Mood", "Country * 10")]))
    #expect(try data.counts(scale: 2).map(\.count) == [12, 120])
    let negative = DataPlan(source: .generated([try plan("Mood", "1 - scale")]))
    #expect(try negative.counts(scale: 1).map(\.count) == [0])
    #expect(throws: CountExpressionError.self) { try negative.counts(scale: 2) }
  }

  @Test(arguments: [("5_000_000", 1, nil), ("5_000_000", 2, "15000000 rows exceed the limit")])
  func rowsOfJoinTablesCount(count: String, destinations: Int, message: String?) throws {
    let digits = Word(count.replacing("_", with: ""), at: SourceRange(line: 1, column: 1))
    let tags = EntityPlan.Property(name: "tags", generator: .several(destinations))
    let data = DataPlan(
      source: .generated([
        EntityPlan(entity: "Photo", count: try CountExpression(digits), properties: [tags])
      ]))
    if let message {
      let error = #expect(throws: CountExpressionError.self) { try data.counts(scale: 1) }
      #expect(error?.message.hasPrefix(message) == true)
    } else {
      #expect(try data.counts(scale: 1).map(\.count) == [5_000_000])
    }
  }

  @Test func hugeNegativeCountIsAnError() throws {
    let word = Word("0 - 1000000000000000", at: SourceRange(line: 1, column: 1))
    let tags = (0..<10).map { EntityPlan.Property(name: "t\($0)", generator: .several(1_000)) }
    let data = DataPlan(
      source: .generated([
        EntityPlan(entity: "Photo", count: try CountExpression(word), properties: tags)
      ]))
    let error = #expect(throws: CountExpressionError.self) { try data.counts(scale: 1) }
    #expect(error?.message.hasPrefix("Photo can't have -1000000000000000 rows") == true)
  }

  @Test(
    arguments: [
      (NSAttributeType.integer16AttributeType, "40000", nil), (.integer16AttributeType, "-7", "-7"),
      (.booleanAttributeType, "yes", "true"), (.doubleAttributeType, "1.5", "1.5"),
      (.doubleAttributeType, "nan", nil), (.binaryDataAttributeType, "ff0", nil),
      (.binaryDataAttributeType, "ff00", "2 bytes"), (.stringAttributeType, "nil", "nil"),
      (.dateAttributeType, "2016-05-04T12:30:00Z", "2016-05-04 12:30:00 +0000"),
      (.dateAttributeType, "yesterday", nil), (.dateAttributeType, "2016-02-30", nil),
      (.dateAttributeType, "2016-02-29", "2016-02-29 00:00:00 +0000"),
      (.dateAttributeType, "2016-05-04T12:30:00", nil),
      (.dateAttributeType, "2016-05-04 12:30:00", nil),
      (.dateAttributeType, "2016-05-04T24:30:00Z", nil),
      (.dateAttributeType, "2016-05-04T12:30:00.999Z", "2016-05-04 12:30:00 +0000"),
      (.dateAttributeType, "2016-05-04T12:30:00+02:00", "2016-05-04 10:30:00 +0000"),
      (.decimalAttributeType, "-12.50e1", "-125"), (.decimalAttributeType, "1,5", nil),
      (.decimalAttributeType, "12 apples", nil), (.decimalAttributeType, "-", nil),
      (.decimalAttributeType, "", nil), (.binaryDataAttributeType, "-0", nil),
    ] as [(NSAttributeType, String, String?)])
  func literalsAreParsedByAttributeType(type: NSAttributeType, text: String, value: String?) {
    #expect(AttributeLiteral(type).value(of: text).map { "\($0)" } == value)
  }

  @Test func fractionsOfSecondsAreKept() {
    let literal = AttributeLiteral(.dateAttributeType)
    let dates = ["2016-05-04T12:30:00Z", "2016-05-04T12:30:00.250Z"].map { text in
      (literal.value(of: text) as? Date)?.timeIntervalSinceReferenceDate ?? 0
    }
    #expect(dates[0] > 0 && dates[1] == dates[0] + 0.25)
  }

  @Test(
    arguments: [
      (.dateAttributeType, "date", "a date"),
      (.binaryDataAttributeType, "hexadecimal data", "binary data"),
      (.transformableAttributeType, "hexadecimal data", "a transformable attribute"),
      (.undefinedAttributeType, "only nil", "of a type without literals"),
      (.compositeAttributeType, "only nil", "of a type without literals"),
    ] as [(NSAttributeType, String, String)])
  func typesAreNamedInErrors(type: NSAttributeType, name: String, phrase: String) {
    let literal = AttributeLiteral(type)
    #expect(literal.typeName == name)
    #expect(literal.typePhrase == phrase)
    #expect(literal.accepts(Word(literal.example, at: SourceRange(line: 1, column: 1))))
  }
}
