import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// Predicates of one shape are translated once.
@Suite struct TranslationCacheTests {
  private struct Setup {
    let model: SQLModel
    let translator: SQLTranslator
    let item: SQLEntity

    init() throws {
      model = SQLModel(model: SchemaModels.library())
      translator = Self.translator(model)
      item = try #require(model.entity(named: "Item"))
    }

    static func translator(_ model: SQLModel) -> SQLTranslator {
      SQLTranslator(model: model) { value in
        (value as? PredicateSQLTests.Key).map {
          ObjectKey(primaryKey: $0.key, entityName: $0.entity)
        }
      }
    }
  }

  typealias Key = PredicateSQLTests.Key

  /// Two lists of arguments for one format, and whether the second fetch is translated again.
  struct Pair: CustomTestStringConvertible, Sendable {
    let format: String
    let first: [any Sendable]
    let second: [any Sendable]
    var isTranslatedAgain = false

    var testDescription: String { "\(format) \(first) \(second)" }
  }

  static let pairs: [Pair] = [
    Pair(format: "weight > %@ AND title == %@", first: [1.5, "a"], second: [2.5, "b"]),
    Pair(format: "weight > %@", first: [1], second: [2.5], isTranslatedAgain: true),
    Pair(format: "title == %@", first: ["a"], second: [NSNull()], isTranslatedAgain: true),
    Pair(format: "SELF IN %@", first: [[key(1), key(2)]], second: [[key(3)]]),
    Pair(format: "author.age IN %@", first: [[1, 2, 3]], second: [Array(1...50)]),
    Pair(
      format: "NOT author.age IN %@", first: [[1, 2]], second: [[Int]()], isTranslatedAgain: true),
    Pair(format: "title IN %@", first: [["a", "b"]], second: [["c", "d"]]),
    Pair(format: "title IN %@", first: [["a", "b"]], second: [["c"]], isTranslatedAgain: true),
    Pair(
      format: "title IN[c] %@", first: [[1, 2]], second: [[1, 2, 3]], isTranslatedAgain: true),
    Pair(
      format: "%@ CONTAINS[d] title", first: [[1, 2]], second: [Array(1...20)],
      isTranslatedAgain: true),
    Pair(format: "weight BETWEEN %@", first: [[1, 2]], second: [[3, 4]]),
    Pair(format: "title BEGINSWITH[n] %@", first: ["a"], second: ["zebra"]),
    Pair(format: "title BEGINSWITH[n] %@", first: ["a"], second: [""], isTranslatedAgain: true),
    Pair(format: "title LIKE %@", first: ["a*"], second: ["b*"]),
    Pair(format: "title LIKE %@", first: ["a*"], second: ["*b*"], isTranslatedAgain: true),
    Pair(format: "title MATCHES %@", first: ["a+"], second: ["b+"]),
    Pair(
      format: "SUBQUERY(tags, $t, $t.name == %@).@count > %@ AND author == %@",
      first: ["x", 1, Key(entity: "Author", key: 3)],
      second: ["y", 4, Key(entity: "Tag", key: 3)]),
    Pair(format: "entity.name == %@", first: ["Book"], second: ["Sheet"], isTranslatedAgain: true),
    Pair(format: "CAST(weight, 'NSString') == %@", first: ["1"], second: ["2"]),
    Pair(format: "%@ == 1 OR weight == 2", first: [1], second: [2], isTranslatedAgain: true),
  ]

  static func key(_ key: Int64) -> Key { Key(entity: "Item", key: key) }

  @Test(arguments: pairs)
  func constantsOfOneShapeShareATranslation(pair: Pair) throws {
    let setup = try Setup()
    let cache = setup.translator.cache
    for (arguments, translations) in [
      (pair.first, 1), (pair.second, pair.isTranslatedAgain ? 2 : 1),
    ] {
      let predicate = NSPredicate(format: pair.format, argumentArray: arguments)
      let query = try setup.translator.fetch(entity: setup.item, predicate: predicate)
      #expect(cache.translations == translations)
      let fresh = try Setup.translator(setup.model).fetch(entity: setup.item, predicate: predicate)
      #expect(query.sql == fresh.sql)
      #expect(query.binds == fresh.binds)
      #expect(query.intArrays == fresh.intArrays)
    }
  }

  @Test func entitySortLimitAndResultTypeHaveTheirOwnTranslations() throws {
    let setup = try Setup()
    let book = try #require(setup.model.entity(named: "Book"))
    let predicate = NSPredicate(format: "weight > 1")
    func fetch(
      _ entity: SQLEntity, _ sort: [NSSortDescriptor] = [], limit: Int = 0,
      result: SQLTranslator.Result = .rows
    ) throws -> String {
      try setup.translator.fetch(
        entity: entity, predicate: predicate, sort: sort, limit: limit, result: result
      ).sql
    }
    let descending = NSSortDescriptor(key: "title", ascending: false)
    let localized = NSSortDescriptor(key: "title", ascending: true, selector: .localizedCompare)
    let texts = try [
      fetch(setup.item), fetch(book), fetch(setup.item, limit: 2),
      fetch(setup.item, result: .count), fetch(setup.item, result: .identifiers),
      fetch(setup.item, [descending]), fetch(setup.item, [localized]),
      fetch(setup.item, [NSSortDescriptor(key: "title", ascending: true)]),
    ]
    #expect(Set(texts).count == texts.count)
    #expect(setup.translator.cache.translations == texts.count)
    _ = try fetch(setup.item, [localized])
    #expect(setup.translator.cache.translations == texts.count)
  }

  @Test func dictionariesOfOneShapeShareATranslation() throws {
    let setup = try Setup()
    func query(
      _ translator: SQLTranslator, _ bound: Double, times factor: Int = 2, distinct: Bool = false,
      counted: Bool = false
    ) throws -> DictionaryQuery {
      let request = NSFetchRequest<NSDictionary>(entityName: "Item")
      request.resultType = .dictionaryResultType
      let sum = NSExpressionDescription()
      sum.name = "sum"
      sum.expression = NSExpression(format: "sum:(weight)")
      let scaled = NSExpressionDescription()
      scaled.name = "scaled"
      scaled.expression = NSExpression(format: "author.age * %@", argumentArray: [factor])
      request.propertiesToFetch = ["author.name", sum, scaled]
      request.propertiesToGroupBy = ["author.name", scaled]
      request.havingPredicate = NSPredicate(format: "sum > %@", argumentArray: [bound])
      request.returnsDistinctResults = distinct
      return try translator.dictionaries(
        DictionaryPlan(request, entity: setup.item.description), entity: setup.item,
        predicate: NSPredicate(format: "weight < %@", argumentArray: [bound * 2]), sort: [],
        limit: 0, offset: 0, includesSubentities: true, isCounted: counted)
    }
    let first = try query(setup.translator, 1.5)
    for (bound, factor) in [(2.5, 2), (0.5, 7)] {
      let again = try query(setup.translator, bound, times: factor)
      let fresh = try query(Setup.translator(setup.model), bound, times: factor)
      #expect(again.query.sql == first.query.sql && again.query.binds == fresh.query.binds)
      #expect(again.query.binds != first.query.binds)
      #expect(again.columns.map(\.name) == ["author.name", "sum", "scaled"])
    }
    #expect(setup.translator.cache.translations == 1)
    _ = try query(setup.translator, 1.5, distinct: true)
    _ = try query(setup.translator, 1.5, counted: true)
    #expect(setup.translator.cache.translations == 3)
  }

  /// One expression used twice doesn't have the shape of two expressions.
  @Test func sharedExpressionsDoNotShareATranslationWithDistinctOnes() throws {
    let setup = try Setup()
    func predicate(_ first: NSExpression, _ second: NSExpression) -> NSPredicate {
      NSCompoundPredicate(
        andPredicateWithSubpredicates: [("weight", first), ("price", second)].map {
          NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: $0.0), rightExpression: $0.1,
            modifier: .direct, type: .equalTo)
        })
    }
    let five = NSExpression(forConstantValue: 5)
    _ = try setup.translator.fetch(entity: setup.item, predicate: predicate(five, five))
    let query = try setup.translator.fetch(
      entity: setup.item, predicate: predicate(five, NSExpression(forConstantValue: 7)))
    #expect(query.binds == [.real(5), .integer(7)])
  }

  /// A translator with thousands of cached predicates returns the same SQL as a new one.
  @Test func cachingDoesNotChangeResults() throws {
    let model = SQLModel(model: Warehouse.model())
    let item = try #require(model.entity(named: "Item"))
    let old = SQLTranslator(model: model)
    var grammar = FormulaGrammar(random: SeededRandom(seed: 5))
    let count = 2000
    for _ in 0..<count {
      let format = grammar.condition(0).format
      let predicate = try NSPredicate.parse(format, arguments: [])
      let query = try old.fetch(entity: item, predicate: predicate)
      let fresh = try SQLTranslator(model: model).fetch(entity: item, predicate: predicate)
      guard query.sql == fresh.sql, query.binds == fresh.binds, query.intArrays == fresh.intArrays
      else {
        Issue.record("\(format)\n\(query)\n\(fresh)")
        return
      }
    }
    #expect(old.cache.translations < count * 2 / 3)
  }
}
