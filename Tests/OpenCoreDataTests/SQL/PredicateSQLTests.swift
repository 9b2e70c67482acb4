import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// The SQL conditions and bound values of predicates.
@Suite struct PredicateSQLTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let format: String
    let sql: String
    var binds: [SQLiteValue] = []
    var arrays: [ContiguousArray<Int64>] = []
    var arguments: [any Sendable] = []

    var testDescription: String { format }
  }

  /// An object ID, as the translator resolves it.
  struct Key: Sendable {
    let entity: String
    let key: Int64?
  }

  private func select(
    _ predicate: NSPredicate, of name: String = "Sheet"
  ) throws -> (query: SelectQuery, tail: String) {
    let model = SQLModel(model: SchemaModels.library())
    let sql = SQLTranslator(model: model) { value in
      (value as? Key).map { ObjectKey(primaryKey: $0.key, entityName: $0.entity) }
    }
    let entity = try #require(model.entity(named: name))
    let query = try sql.fetch(entity: entity, predicate: predicate, result: .identifiers)
    return (query, query.sql.components(separatedBy: "FROM ZITEM t0").last ?? "")
  }

  static let cases: [Case] = [
    Case(
      format: "pages == 3 AND title != 'a'",
      sql: " WHERE (( t0.ZPAGES1 = ? AND  t0.ZTITLE <> ?) AND  t0.Z_ENT = ?)",
      binds: [.integer(3), .text("a"), .integer(4)]),
    Case(
      format: "title == nil OR NOT (pages IN {1, 2})",
      sql: " WHERE (( t0.ZTITLE IS NULL OR NOT ( t0.ZPAGES1 IN (SELECT * FROM _Z_intarray0) ))"
        + " AND  t0.Z_ENT = ?)",
      binds: [.integer(4)], arrays: [[1, 2]]),
    Case(
      format: "pages BETWEEN {1, 9}",
      sql: " WHERE ( t0.ZPAGES1 BETWEEN ? AND ? AND  t0.Z_ENT = ?)",
      binds: [.integer(1), .integer(9), .integer(4)]),
    // Constants take the type of the column.
    Case(
      format: "added < %@ AND isLent == YES AND weight > 2 AND price == '1.5'",
      sql: " WHERE (( t0.ZADDED < ? AND  t0.ZISLENT = ? AND  t0.ZWEIGHT > ? AND  t0.ZPRICE = ?)"
        + " AND  t0.Z_ENT = ?)",
      binds: [.real(1000), .integer(1), .real(2), .text("1.5"), .integer(4)],
      arguments: [Date(timeIntervalSinceReferenceDate: 1000)]),
    Case(
      format: "key == '00000000-0000-0000-0000-00000000000A'",
      sql: " WHERE ( t0.ZKEY = ? AND  t0.Z_ENT = ?)",
      binds: [.blob(Array(repeating: 0, count: 15) + [10]), .integer(4)]),
    // To-one paths join; comparing with an object needs no join.
    Case(
      format: "author.name == 'x' AND author == %@",
      sql: " JOIN ZAUTHOR t1 ON t0.ZAUTHOR = t1.Z_PK"
        + " WHERE (( t1.ZNAME = ? AND  t0.ZAUTHOR = ?) AND  t0.Z_ENT = ?)",
      binds: [.text("x"), .integer(7), .integer(4)],
      arguments: [Key(entity: "Author", key: 7)]),
    Case(
      format: "author.name == nil OR author.mentor.name == 'x'",
      sql: " LEFT OUTER JOIN ZAUTHOR t1 ON t0.ZAUTHOR = t1.Z_PK"
        + " LEFT OUTER JOIN ZAUTHOR t2 ON t1.ZMENTOR = t2.Z_PK"
        + " WHERE (( t1.ZNAME IS NULL OR  t2.ZNAME = ?) AND  t0.Z_ENT = ?)",
      binds: [.text("x"), .integer(4)]),
    Case(
      format: "author != nil", sql: " WHERE ( t0.ZAUTHOR IS NOT NULL AND  t0.Z_ENT = ?)",
      binds: [.integer(4)]),
    Case(
      format: "self IN %@",
      sql: " WHERE ( t0.Z_PK IN (SELECT * FROM _Z_intarray0)  AND  t0.Z_ENT = ?)",
      binds: [.integer(4)], arrays: [[3, 5]],
      arguments: [[Key(entity: "Sheet", key: 3), Key(entity: "Sheet", key: 5)]]),
    // An unsaved object and an object of another table match no row.
    Case(
      format: "SELF == %@ OR author == %@",
      sql: " WHERE (( t0.Z_PK = ? OR  t0.ZAUTHOR = ?) AND  t0.Z_ENT = ?)",
      binds: [.integer(0), .integer(0), .integer(4)],
      arguments: [Key(entity: "Sheet", key: nil), Key(entity: "Tag", key: 5)]),
    // To-many relationships: a join if the whole predicate requires it, otherwise a count.
    Case(
      format: "ANY tags.name == 'x'",
      sql: " JOIN Z_2TAGS t1 ON t0.Z_PK = t1.Z_2ITEMS JOIN ZTAG t2 ON t1.Z_6TAGS = t2.Z_PK"
        + " WHERE ( t2.ZNAME = ? AND  t0.Z_ENT = ?)", binds: [.text("x"), .integer(4)]),
    Case(
      format: "tags CONTAINS %@ AND coverOf.@count == 0",
      sql: " JOIN Z_2TAGS t1 ON t0.Z_PK = t1.Z_2ITEMS WHERE (( t1.Z_6TAGS = ? AND"
        + " (SELECT COUNT(t3.Z_PK) FROM ZITEM t3 WHERE (t0.Z_PK = t3.ZCOVER) ) = ?)"
        + " AND  t0.Z_ENT = ?)",
      binds: [.integer(2), .integer(0), .integer(4)],
      arguments: [Key(entity: "Tag", key: 2)]),
    Case(
      format: "NONE tags.name == 'x'",
      sql: " WHERE (NOT ((SELECT COUNT(t1.Z_6TAGS) FROM Z_2TAGS t1"
        + " JOIN ZTAG t2 ON t1.Z_6TAGS = t2.Z_PK"
        + " WHERE (t0.Z_PK = t1.Z_2ITEMS AND ( t2.ZNAME = ?)) ) > ?) AND  t0.Z_ENT = ?)",
      binds: [.text("x"), .integer(0), .integer(4)]),
    Case(
      format: "ALL author.items.title == 'x'",
      sql: " WHERE ((SELECT COUNT(t1.Z_PK) FROM ZITEM t1 WHERE (t0.ZAUTHOR = t1.ZAUTHOR AND"
        + " ( t1.ZTITLE IS NOT NULL AND ( t1.ZTITLE = ?) IS NOT 1)) ) = ? AND  t0.Z_ENT = ?)",
      binds: [.text("x"), .integer(0), .integer(4)]),
    Case(
      format: "SUBQUERY(coverOf, $x, $x.pages > 1 AND $x.author == author).@count != 0",
      sql: " WHERE ((SELECT COUNT(t1.Z_PK) FROM ZITEM t1 WHERE (t0.Z_PK = t1.ZCOVER AND"
        + " ( t1.ZPAGES1 > ? AND  t1.ZAUTHOR =  t0.ZAUTHOR)) ) <> ? AND  t0.Z_ENT = ?)",
      binds: [.integer(1), .integer(0), .integer(4)]),
    Case(
      format: "author.items.@max.weight > 2.5",
      sql: " WHERE ((SELECT MAX( t1.ZWEIGHT) FROM ZITEM t1 WHERE (t0.ZAUTHOR = t1.ZAUTHOR) ) > ?"
        + " AND  t0.Z_ENT = ?)", binds: [.real(2.5), .integer(4)]),
    // Strings.
    Case(
      format: "title BEGINSWITH 'ab' AND title ENDSWITH[c] 'y'",
      sql: " WHERE (( NSCoreDataStringSearch( t0.ZTITLE, ?, 8, 0) AND"
        + "  NSCoreDataStringSearch( t0.ZTITLE, ?, 301, 1)) AND  t0.Z_ENT = ?)",
      binds: [.text("ab"), .text("y"), .integer(4)]),
    Case(
      format: "title BEGINSWITH[n] 'ab' OR title LIKE 'x*'",
      sql: " WHERE ((( t0.ZTITLE >= ? AND  t0.ZTITLE < ?) OR"
        + " ( t0.ZTITLE >= ? AND  t0.ZTITLE < ?)) AND  t0.Z_ENT = ?)",
      binds: [.text("ab"), .text("ac"), .text("x"), .text("y"), .integer(4)]),
    Case(
      format: "title ==[cd] 'é' OR title MATCHES 'a+'",
      sql: " WHERE (( NSCoreDataStringCompare( t0.ZTITLE, ?, 3) = 0 OR"
        + "  NSCoreDataMatches( t0.ZTITLE, ?, 0)) AND  t0.Z_ENT = ?)",
      binds: [.text("é"), .text("a+"), .integer(4)]),
    // Arithmetic and constants.
    Case(
      format: "pages * 2 + 1 > 1 + 2 AND 1 == 1",
      sql: " WHERE ((( t0.ZPAGES1 * ?) + ?) > ? AND  t0.Z_ENT = ?)",
      binds: [.integer(2), .integer(1), .integer(3), .integer(4)]),
    Case(
      format: "price / 2 > 1 AND modulus:by:(weight, 2) < 1 AND (pages & 4) != 0",
      sql: " WHERE (((CAST( t0.ZPRICE AS REAL) / ?) > ? AND"
        + " NSCoreDataModulus( t0.ZWEIGHT, ?) < ? AND ( t0.ZPAGES1 & ?) <> ?) AND  t0.Z_ENT = ?)",
      binds: [
        .integer(2), .real(1), .integer(2), .real(1), .integer(4), .integer(0), .integer(4),
      ]),
    Case(
      format: "uppercase:(title) == 'A' AND length:(author.name) > abs:(pages)",
      sql: " JOIN ZAUTHOR t1 ON t0.ZAUTHOR = t1.Z_PK WHERE ((NSCoreDataUppercase( t0.ZTITLE) = ?"
        + " AND NSCoreDataLength( t1.ZNAME) > NSCoreDataAbsolute( t0.ZPAGES1)) AND  t0.Z_ENT = ?)",
      binds: [.text("A"), .integer(4)]),
    Case(
      format: "CAST(CAST(added, 'NSNumber') + 60, 'NSDate') < CAST(100, 'NSDate')",
      sql: " WHERE (( t0.ZADDED + ?) < ? AND  t0.Z_ENT = ?)",
      binds: [.integer(60), .real(100), .integer(4)]),
    Case(
      format: "CAST(pages, 'NSString') == '7'",
      sql: " WHERE (NSCoreDataCast( t0.ZPAGES1, ?, ?) = ? AND  t0.Z_ENT = ?)",
      binds: [.text("NSString"), .integer(100), .text("7"), .integer(4)]),
    Case(
      format: "TERNARY(pages > 1, weight, price) BETWEEN {pages, 9}",
      sql:
        " WHERE (CASE WHEN  t0.ZPAGES1 > ? THEN  t0.ZWEIGHT ELSE CAST( t0.ZPRICE AS REAL) END BETWEEN"
        + "  t0.ZPAGES1 AND ? AND  t0.Z_ENT = ?)",
      binds: [.integer(1), .real(9), .integer(4)]),
    Case(
      format: "max:(pages, weight) > 2 AND sum:(author.items.weight) > 3",
      sql: " WHERE (((SELECT MAX(value) FROM (SELECT + t0.ZPAGES1 AS value UNION ALL"
        + " SELECT + t0.ZWEIGHT)) > ? AND CASE WHEN t0.ZAUTHOR IS NOT NULL THEN"
        + " (SELECT total(DISTINCT t1.ZWEIGHT) FROM ZITEM t1"
        + " WHERE (t0.ZAUTHOR = t1.ZAUTHOR) ) END > ?) AND  t0.Z_ENT = ?)",
      binds: [.real(2), .real(3), .integer(4)]),
    // Entities are compared by entity ID.
    Case(
      format: "cover.entity.name IN {'Book', 'Sheet', 'Tag'} AND entity.name != 'Book'",
      sql: " JOIN ZITEM t1 ON t0.ZCOVER = t1.Z_PK WHERE (( t1.Z_ENT IN (?, ?) AND  t0.Z_ENT = ?)"
        + " AND  t0.Z_ENT = ?)",
      binds: [.integer(3), .integer(4), .integer(4), .integer(4)]),
    // ANY and ALL of one value, of a list, of a subquery's elements.
    Case(
      format: "ALL author.name == 'x' OR ANY {1, 2} == pages",
      sql: " LEFT OUTER JOIN ZAUTHOR t1 ON t0.ZAUTHOR = t1.Z_PK WHERE ((( t1.ZNAME IS NULL OR"
        + "  t1.ZNAME = ?) OR (? =  t0.ZPAGES1 OR ? =  t0.ZPAGES1)) AND  t0.Z_ENT = ?)",
      binds: [.text("x"), .integer(1), .integer(2), .integer(4)]),
    Case(
      format: "ANY SUBQUERY(coverOf, $x, $x.pages > 1).title == 'y'",
      sql: " WHERE ((SELECT COUNT(t1.Z_PK) FROM ZITEM t1 WHERE (t0.Z_PK = t1.ZCOVER AND"
        + " ( t1.ZPAGES1 > ? AND  t1.ZTITLE = ?)) ) > ? AND  t0.Z_ENT = ?)",
      binds: [.integer(1), .text("y"), .integer(0), .integer(4)]),
    Case(format: "TRUEPREDICATE", sql: " WHERE  t0.Z_ENT = ?", binds: [.integer(4)]),
    Case(format: "pages IN {}", sql: " WHERE 0 = 1"),
    Case(
      format: "pages IN %@",
      sql: " WHERE ( t0.ZPAGES1 IN (SELECT * FROM _Z_intarray0)  AND  t0.Z_ENT = ?)",
      binds: [.integer(4)], arrays: [ContiguousArray(1...40)], arguments: [Array(1...40)]),
    Case(
      format: "pages IN {1, nil}",
      sql: " WHERE (( t0.ZPAGES1 IN (SELECT * FROM _Z_intarray0)  OR  t0.ZPAGES1 IS NULL)"
        + " AND  t0.Z_ENT = ?)", binds: [.integer(4)], arrays: [[1]]),
  ]

  @Test(arguments: cases)
  func predicatesBecomeConditions(expected: Case) throws {
    let predicate = NSPredicate(format: expected.format, argumentArray: expected.arguments)
    let (query, tail) = try select(predicate)
    #expect(tail == expected.sql)
    #expect(query.binds == expected.binds)
    #expect(query.intArrays == expected.arrays)
    #expect(query.sql.hasPrefix("SELECT DISTINCT") == tail.contains(" JOIN Z_2TAGS t1 ON t0"))
  }

  @Test func variablesAreSubstituted() throws {
    let model = SQLModel(model: SchemaModels.library())
    let item = try #require(model.entity(named: "Item"))
    let predicate = NSPredicate(format: "weight < $max").withSubstitutionVariables(["max": 5])
    let query = try SQLTranslator(model: model).fetch(
      entity: item, predicate: predicate, limit: 3, offset: 2, result: .count)
    #expect(
      query.sql == "SELECT COUNT(*) FROM (SELECT t0.Z_ENT, t0.Z_PK FROM ZITEM t0"
        + " WHERE  t0.ZWEIGHT < ?  LIMIT 3 OFFSET 2)")
    #expect(query.binds == [.real(5)])
  }

  @Test(arguments: [
    ("author.nam == 'x'", "author.nam: Author has no property nam. Did you mean name?"),
    ("titel == 'x'", "titel: Sheet has no property titel. Did you mean title?"),
    ("mood == 'x'", "mood: Sheet.mood is transient: the store has no column for it."),
    ("title.length == 3", "title.length: Sheet.title is an attribute"),
    ("tags.name == 'x'", "needs ANY, ALL, or @count"),
    ("author == 'x'", "Compare Author with an object or an object ID."),
    ("pages == 'x'", "The text \"x\" can't be compared with Sheet.pages."),
    ("scan CONTAINS 'x'", "Item.scan isn't a string"),
    ("$free == 1", "$free: The variable has no value."),
    ("title MATCHES '('", "isn't a regular expression"),
    ("FUNCTION(title, 'uppercaseString') == 'A'", "A method can be called only in memory"),
    ("tags[0].name == 'A'", "subscripts can be evaluated only in memory"),
    ("random() > weight", "A random number differs from row to row"),
    (
      "tags.@distinctUnionOfObjects.name.@count > 1",
      "returns a list for each row, which can be evaluated only in memory"
    ),
    ("author.items.@sum.title > 1", "Item.title isn't a number"),
    (
      "author.items.tags.@count > 1",
      "@count can follow only the first to-many relationship, items"
    ),
    ("tags.name.@max == 'a'", "@max can follow only the first to-many relationship, tags"),
    ("tags.name.@count + 1 > 2", "@count can follow only the first to-many relationship, tags"),
    ("median:(pages, weight) > 1", "The function median: can't be translated to SQL."),
    ("entity > 'Book'", "An entity can be compared only with entities"),
    ("entity.managedObjectClassName == 'Book'", "The store contains only an entity's name."),
    ("uppercase:(pages) == 'A'", "pages: This isn't a string"),
    ("SELF isKindOfClass: 'Book'", "A comparison by a method can be evaluated only in memory"),
  ])
  func untranslatablePredicatesAreDescribed(format: String, message: String) throws {
    do {
      _ = try select(NSPredicate(format: format))
      Issue.record("\(format) was translated")
    } catch let error as TranslationError {
      #expect(error.description.contains(message))
    }
  }

  /// Formats of public code, with some keys replaced by those of the library.
  @Test(.enabled(if: SharedData.isHere, SharedData.absence))
  func publicFormatsBecomeValidSQLOrAnError() throws {
    let library = try LibraryRows(seed: 1, count: 5)
    let author = try #require(library.model.entity(named: "Author"))
    let text = try String(
      contentsOf: SharedData.url("predicate-formats.txt"), encoding: .utf8)
    var translated = 0
    var untranslated: [String] = []
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let keyed = line.replacing(/\b(firstName|lastName|title|label|id|value)\b/, with: "name")
        .replacing("%K", with: "age")
      let arguments: [Any?] = Array(repeating: 1, count: line.count { $0 == "%" })
      guard let predicate = try? NSPredicate.parse(String(keyed), arguments: arguments) else {
        continue
      }
      do {
        let query = try library.translator.fetch(entity: author, predicate: predicate)
        _ = try library.connection.explainQueryPlan(query.sql)
        translated += 1
      } catch let error as TranslationError {
        #expect(!error.piece.isEmpty && error.description.hasPrefix(error.piece), "\(error)")
        #expect(error.reason.count > 10, "\(error)")
        untranslated.append(error.piece)
      }
    }
    #expect(translated > 60 && !untranslated.isEmpty)
  }

  /// Long chains and lists don't exceed SQLite's limits.
  @Test func longChainsAndListsMatchTheirShortForms() throws {
    let library = try LibraryRows(seed: 3, count: 40)
    let item = try #require(library.model.entity(named: "Item"))
    let terms =
      (0..<5000).map { NSPredicate(format: "weight == %ld", $0 % 3 - 10) }
      + [NSPredicate(format: "weight == 1")]
    let texts = (0..<40_000).map { "x\($0)" } + ["ab"]
    let pairs: [(NSPredicate, String)] = [
      (NSCompoundPredicate(orPredicateWithSubpredicates: terms), "weight == 1"),
      (NSPredicate(format: "title IN %@", texts), "title == 'ab'"),
      (NSPredicate(format: "title IN[c] %@", texts.suffix(500)), "title ==[c] 'ab'"),
      (NSPredicate(format: "weight IN %@", (0..<40_000).map { Double($0) / 2 }), "weight >= 0"),
      (NSPredicate(format: "author.age IN %@", Array(0..<100_000)), "author.age >= 0"),
    ]
    for (predicate, same) in pairs {
      let keys = try library.keys(
        library.translator.fetch(entity: item, predicate: predicate, result: .identifiers))
      let expected = try library.keys(
        library.translator.fetch(
          entity: item, predicate: NSPredicate(format: same), result: .identifiers))
      #expect(!keys.isEmpty)
      #expect(Set(keys) == Set(expected), "\(same)")
    }
  }

  @Test("ANY and key paths join as many tables as SQLite can")
  func manyRelationshipsStayWithinTheLimitOfJoins() throws {
    let library = try LibraryRows(seed: 3, count: 40)
    let item = try #require(library.model.entity(named: "Item"))
    func keys(_ format: String) throws -> Set<Int64> {
      let query = try library.translator.fetch(
        entity: item, predicate: NSPredicate(format: format), result: .identifiers)
      return Set(try library.keys(query))
    }
    let once = "ANY tags.name == 'ab'"
    let many = Array(repeating: once, count: 70).joined(separator: " AND ")
    let found = try keys(once)
    #expect(!found.isEmpty && found.count < 40)
    #expect(try keys(many) == found)
    let others = "author.mentor == nil"
    #expect(try keys("\(many) AND \(others)") == keys("\(once) AND \(others)"))
    let path = "author." + String(repeating: "mentor.", count: 62)
    #expect(try keys("\(path)name == 'a'").isEmpty)
    let error = #expect(throws: TranslationError.self) { try keys("\(path)mentor.name == 'a'") }
    #expect(error?.description.contains("SQLite joins up to 64 tables") == true)
  }

  @Test func longListsOfUUIDsAreBoundAsBytes() throws {
    let keys = (0...30_000).map { _ in UUID() }
    let texts = try select(NSPredicate(format: "key IN %@", keys.map(\.uuidString))).query
    let values = try select(NSPredicate(format: "key IN %@", keys)).query
    #expect(texts.binds == values.binds && texts.binds.count == keys.count + 1)
  }

  @Test func blocksAndDeepNestingAreErrors() throws {
    #expect(throws: TranslationError.self) { try select(NSPredicate { _, _ in true }) }
    var deep = NSPredicate(format: "pages == 1")
    for _ in 0..<10_000 { deep = NSCompoundPredicate(notPredicateWithSubpredicate: deep) }
    #expect(throws: TranslationError.self) { try select(deep) }
  }

  @Test func unknownKeysSuggestAndListTheProperties() throws {
    let model = SQLModel(model: LogModels.moody())
    let mood = try #require(model.entity(named: "Mood"))
    let error = #expect(throws: TranslationError.self) {
      try SQLTranslator(model: model).fetch(
        entity: mood, predicate: NSPredicate(format: "country.iso3166Code == 1"))
    }
    #expect(error?.suggestion == "numericISO3166Code")
    #expect(error?.choices.contains("moods") == true)
    #expect(error?.piece == "country.iso3166Code")
  }
}
