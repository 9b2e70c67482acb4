import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Derived attributes")
struct DerivedAttributeTests {
  private static func model() -> NSManagedObjectModel {
    let book = SchemaModels.entity("Book", [SchemaModels.attribute("title", .stringAttributeType)])
    let page = SchemaModels.entity(
      "Page", [SchemaModels.attribute("words", .integer32AttributeType)])
    let shelf = SchemaModels.entity("Shelf", [SchemaModels.attribute("room", .stringAttributeType)])
    let tag = SchemaModels.entity("Tag", [SchemaModels.attribute("weight", .doubleAttributeType)])
    SchemaModels.relate(book, "pages", many: true, page, "book", many: false)
    SchemaModels.relate(shelf, "books", many: true, book, "shelf", many: false)
    SchemaModels.relate(book, "tags", many: true, tag, "books", many: true)
    for (name, type, formula) in [
      ("pagesCount", NSAttributeType.integer64AttributeType, "pages.@count"),
      ("wordsSum", .integer64AttributeType, "pages.@sum.words"),
      ("key", .stringAttributeType, "canonical:(title)"),
      ("upper", .stringAttributeType, "uppercase:(title)"),
      ("room", .stringAttributeType, "shelf.room"),
      ("tagsCount", .integer64AttributeType, "tags.@count"),
      ("weight", .doubleAttributeType, "@sum.tags.weight"),
      ("savedAt", .dateAttributeType, "now()"),
    ] {
      let attribute = derived(name, type, formula)
      book.properties += [attribute]
    }
    let room = derived("room", .stringAttributeType, "book.shelf.room")
    page.properties += [room]
    let model = NSManagedObjectModel()
    model.entities = [book, page, shelf, tag]
    return model
  }

  private static func derived(
    _ name: String, _ type: NSAttributeType, _ formula: String
  ) -> NSDerivedAttributeDescription {
    let attribute = NSDerivedAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.derivationExpression = NSExpression(format: formula)
    return attribute
  }

  /// The stored values of the only book's derived attributes.
  private func stored(_ stack: TestStack) throws -> [SQLiteValue] {
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    return try #require(
      try connection.values(
        "SELECT ZPAGESCOUNT, ZWORDSSUM, ZKEY, ZUPPER, ZROOM, ZTAGSCOUNT, ZWEIGHT, "
          + "(SELECT group_concat(DISTINCT ZROOM) FROM ZPAGE) FROM ZBOOK"
      ).first)
  }

  @Test("Triggers update values after inserts, updates, and deletes, and the row cache follows")
  func triggersUpdateDerivedAttributesAndTheRowCache() throws {
    let stack = try TestStack(model: Self.model())
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      for (key, value) in values { object.setValue(value, forKey: key) }
      return object
    }
    try context.performAndWait {
      let shelf = insert("Shelf", ["room": "north"])
      let book = insert("Book", ["title": "Élan", "shelf": shelf])
      let pages = (1...3).map { insert("Page", ["words": $0 * 10, "book": book]) }
      let tag = insert("Tag", ["weight": 1.5])
      book.setValue(Set([tag]), forKey: "tags")
      /// Saves, and compares the store, the row cache, and the object with the expected values.
      func check(_ expected: [SQLiteValue]) throws {
        try context.save()
        let found = try stored(stack)
        #expect(found == expected)
        let selects = events.statements(.select).count
        context.refresh(book, mergeChanges: false)
        #expect(book.value(forKey: "pagesCount") as? Int64 == expected[0].integer)
        #expect(book.value(forKey: "wordsSum") as? Int64 == expected[1].integer)
        #expect(book.value(forKey: "key") as? String == expected[2].text)
        #expect(book.value(forKey: "room") as? String == expected[4].text)
        #expect(
          (book.value(forKey: "savedAt") as? Date).map { abs($0.timeIntervalSinceNow) < 60 } == true
        )
        #expect(events.statements(.select).count == selects, "all of it from the row cache")
      }
      try check(
        [3, 60, "elan", "ÉLAN", "north", 1, .real(1.5), "north"])
      pages[0].setValue(100, forKey: "words")
      try check([3, 150, "elan", "ÉLAN", "north", 1, .real(1.5), "north"])
      context.delete(pages[1])
      try check([2, 130, "elan", "ÉLAN", "north", 1, .real(1.5), "north"])
      pages[2].setValue(nil, forKey: "book")
      shelf.setValue("south", forKey: "room")
      tag.setValue(4.25, forKey: "weight")
      try check([1, 100, "elan", "ÉLAN", "south", 1, .real(4.25), "south"])
      book.setValue("Œuvre", forKey: "title")
      book.setValue(Set<NSManagedObject>(), forKey: "tags")
      book.setValue(nil, forKey: "shelf")
      try check([1, 100, "œuvre", "ŒUVRE", .null, 0, .real(0), .null])
    }
  }

  @Test("The row cache has copies of values of every type")
  func rowCacheHasCopiesOfEveryType() throws {
    let values: [(name: String, type: NSAttributeType, value: Any)] = [
      ("date", .dateAttributeType, Date(timeIntervalSinceReferenceDate: 5)),
      ("moment", .dateAttributeType, Date(timeIntervalSinceReferenceDate: -0.5)),
      ("key", .UUIDAttributeType, UUID()), ("flag", .booleanAttributeType, true),
      ("place", .URIAttributeType, URL(fileURLWithPath: "/a b")),
      ("price", .decimalAttributeType, Decimal(7)), ("bytes", .binaryDataAttributeType, Data([2])),
      ("share", .floatAttributeType, Float(0.1)), ("text", .stringAttributeType, "12"),
    ]
    let source = SchemaModels.entity(
      "Source", values.map { SchemaModels.attribute($0.name, $0.type) })
    let copy = SchemaModels.entity("Copy", [SchemaModels.attribute("title", .stringAttributeType)])
    SchemaModels.relate(source, "copies", many: true, copy, "origin", many: false)
    copy.properties += values.map { Self.derived("own" + $0.name, $0.type, "origin.\($0.name)") }
    let model = NSManagedObjectModel()
    model.entities = [source, copy]
    let stack = try TestStack(model: model)
    let context = try stack.coldContext()
    try context.performAndWait {
      let source = NSEntityDescription.insertNewObject(forEntityName: "Source", into: context)
      let copy = NSEntityDescription.insertNewObject(forEntityName: "Copy", into: context)
      copy.setValue(source, forKey: "origin")
      try context.save()
      for (name, _, value) in values { source.setValue(value, forKey: name) }
      try context.save()
      context.refresh(copy, mergeChanges: false)
      for (name, _, value) in values {
        let found = copy.storedValue(forKey: "own" + name)
        #expect(AttributeTransformer.areEqual(found, value), "\(name)")
      }
    }
    withExtendedLifetime(stack) {}
  }

  @Test(
    "Each way to write a count or a sum computes the same value",
    arguments: [
      ("pages.@count", NSExpression(forKeyPath: "pages.@count"), 2),
      ("count:(pages)", NSExpression(format: "count:(pages)"), 2),
      (
        "count: as a function",
        NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "pages")]), 2
      ),
      ("pages.@sum.words", NSExpression(forKeyPath: "pages.@sum.words"), 30),
      ("pages.words.@sum", NSExpression(forKeyPath: "pages.words.@sum"), 30),
      ("pages.words.@sum as a format", NSExpression(format: "pages.words.@sum"), 30),
      ("@sum.pages.words", NSExpression(forKeyPath: "@sum.pages.words"), 30),
      ("sum:(pages.words)", NSExpression(format: "sum:(pages.words)"), 30),
      (
        "sum: as a function",
        NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages.words")]),
        30
      ),
    ])
  func everyFormOfACountOrSumComputesTheSameValue(
    name: String, expression: NSExpression, expected: Int64
  ) throws {
    let book = SchemaModels.entity("Book", [SchemaModels.attribute("title", .stringAttributeType)])
    let page = SchemaModels.entity(
      "Page", [SchemaModels.attribute("words", .integer32AttributeType)])
    SchemaModels.relate(book, "pages", many: true, page, "book", many: false)
    let attribute = NSDerivedAttributeDescription()
    attribute.name = "total"
    attribute.type = .integer64
    attribute.derivationExpression = expression
    book.properties += [attribute]
    let model = NSManagedObjectModel()
    model.entities = [book, page]
    #expect(model.validate() == [])
    let stack = try TestStack(model: model)
    let context = try stack.coldContext()
    try context.performAndWait {
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      let pages = [10, 20].map { words in
        let page = NSEntityDescription.insertNewObject(forEntityName: "Page", into: context)
        page.setValue(words, forKey: "words")
        page.setValue(book, forKey: "book")
        return page
      }
      try context.save()
      context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "total") as? Int64 == expected)
      context.delete(pages[1])
      try context.save()
      context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "total") as? Int64 == expected / 2 - (expected == 30 ? 5 : 0))
    }
    let stored = try NSManagedObjectModel.inStore(at: stack.storeURL)
    let kept = stored.entitiesByName["Book"]?.attributesByName["total"]
    #expect((kept as? NSDerivedAttributeDescription)?.derivationExpression == expression)
  }

  @Test("A derivation that isn't supported is a warning of the model")
  func unsupportedDerivationIsAModelWarning() throws {
    for formula in ["pages.@max.words", "owner.pages.@count", "1 + 2", "median:(pages.words)"] {
      let attribute = Self.derived("total", .integer64AttributeType, formula)
      let model = NSManagedObjectModel()
      model.entities = [SchemaModels.entity("Book", [attribute])]
      let warning = try #require(model.validate().first, "\(formula)")
      #expect(warning.isWarning && warning.message.contains("isn't supported"))
    }
  }

  @Test(arguments: [
    ("pages.@count", DerivedFormula.count(relationship: "pages")),
    ("count:(pages)", .count(relationship: "pages")),
    ("count(pages)", .count(relationship: "pages")), ("pages.@sum", nil),
    ("@count.pages", nil), ("pages.words.@count", nil), ("count:(a.b)", nil), ("sum:(a)", nil),
    ("pages.words.@sum", .sum(relationship: "pages", attribute: "words")),
    ("self.pages.words.@sum", .sum(relationship: "pages", attribute: "words")),
    ("sum:(pages.words)", .sum(relationship: "pages", attribute: "words")),
    ("sum:(self.pages.words)", .sum(relationship: "pages", attribute: "words")),
    ("#size.#first", .copy(path: ["size", "first"], nil)),
    ("self.pages.@count", .count(relationship: "pages")),
    ("pages.@sum.words", .sum(relationship: "pages", attribute: "words")),
    ("@sum.pages.words", .sum(relationship: "pages", attribute: "words")),
    ("canonical:(name)", .copy(path: ["name"], .canonical)),
    ("lowercase:(owner.name)", .copy(path: ["owner", "name"], .lowercase)),
    ("owner.name", .copy(path: ["owner", "name"], nil)), ("now()", .now),
    ("", nil), ("a..b", nil), ("a.@max.b", nil), ("upper('x')", nil), ("canonical:()", nil),
  ])
  func derivationExpressionsAreParsed(text: String, formula: DerivedFormula?) {
    #expect(DerivedFormula(text) == formula)
  }
}

extension SQLiteValue: ExpressibleByIntegerLiteral,
  ExpressibleByStringLiteral
{
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(stringLiteral value: String) { self = .text(value) }

  fileprivate var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  fileprivate var text: String? { if case .text(let value) = self { value } else { nil } }
}
