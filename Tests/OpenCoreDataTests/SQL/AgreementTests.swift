import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// SQLite and in-memory evaluation select the same items.
@Suite struct AgreementTests {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func randomPredicatesFindTheSameRows(seed: UInt64) throws {
    let library = try LibraryRows(seed: seed, count: 60)
    let item = try #require(library.model.entity(named: "Item"))
    var grammar = PredicateGrammar(random: SeededRandom(seed: seed))
    for _ in 0..<300 {
      let (format, negated) = grammar.predicate()
      let predicate = try NSPredicate.parse(format, arguments: [])
      let query = try library.translator.fetch(
        entity: item, predicate: predicate, result: .identifiers)
      let found = try library.keys(query)
      #expect(found.count == Set(found).count, "\(format)\n\(query.sql)")
      // A negation matches nil in memory but not NULL in SQL: such rows are left out.
      let comparable = library.items.filter { item in
        !negated.contains { Self.value($0, of: item) == nil }
      }
      let expected = try comparable.filter { try predicate.evaluation(of: $0) }
        .compactMap { $0["objectID"] as? Int64 }
      let comparableKeys = Set(comparable.compactMap { $0["objectID"] as? Int64 })
      #expect(
        Set(found).intersection(comparableKeys) == Set(expected),
        "seed \(seed): \(format)\n\(query.sql)")
      let count = try library.translator.fetch(entity: item, predicate: predicate, result: .count)
      for (index, values) in count.intArrays.enumerated() {
        try library.connection.bindIntArray(index, values)
      }
      #expect(
        try library.connection.values(count.sql, count.binds) == [[.integer(Int64(found.count))]])
    }
  }

  @Test(arguments: [
    ["title"], ["-weight", "title"], ["author.name", "-weight"], ["author.mentor.age", "isLent"],
    ["~title"], ["-~author.name"], ["tags.@count", "-title"],
  ])
  func rowsAreSortedAsInMemory(keys: [String]) throws {
    let library = try LibraryRows(seed: 9, count: 60)
    let item = try #require(library.model.entity(named: "Item"))
    var sort = keys.map { key in
      NSSortDescriptor(
        key: key.trimmingCharacters(in: CharacterSet(charactersIn: "-~")),
        ascending: !key.hasPrefix("-"),
        selector: key.contains("~") ? .localizedStandardCompare : .binary)
    }
    sort.append(NSSortDescriptor(key: "objectID", ascending: true))
    let query = try library.translator.fetch(
      entity: item, predicate: NSPredicate(format: "ANY tags.name != 'x' OR weight > 0"),
      sort: sort, result: .identifiers)
    let found = try library.keys(query)
    let expected = library.items.filter { found.contains($0["objectID"] as? Int64 ?? 0) }
      .sorted(using: sort).compactMap { $0["objectID"] as? Int64 }
    #expect(found == expected)
    #expect(found.count > 30)
    let page = try library.translator.fetch(
      entity: item, predicate: NSPredicate(format: "ANY tags.name != 'x' OR weight > 0"),
      sort: sort, limit: 7, offset: 5, result: .identifiers)
    #expect(try library.keys(page) == Array(expected[5..<12]))
  }

  /// Returns the value of a key path in dictionaries.
  private static func value(_ path: String, of item: [String: Any]) -> Any? {
    path.split(separator: ".").reduce(item) { value, key in
      (value as? [String: Any])?[String(key)]
    }
  }
}
