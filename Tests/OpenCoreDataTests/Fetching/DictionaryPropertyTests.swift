import OpenCoreData
import Testing

@testable import OpenCoreData

/// The properties of dictionaries, which each kind of store checks and sorts by.
@Suite("Properties of dictionary results")
struct DictionaryPropertyTests {
  private static func request(
    _ properties: [Any], sortedBy key: String? = nil
  ) -> NSFetchRequest<[String: Any]> {
    let request = NSFetchRequest<[String: Any]>(entityName: "Item")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = properties
    request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: false)] }
    return request
  }

  @Test(
    "Unknown and to-many properties are errors, even if there are no rows",
    arguments: StoreKind.allCases)
  func propertiesAreCheckedWithoutRows(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: Warehouse.model())
    defer { withExtendedLifetime(stack) {} }
    let context = try stack.coldContext()
    let length = NSExpressionDescription()
    length.name = "length"
    length.expression = NSExpression(format: "length:(nam)")
    let cases: [(properties: [Any], key: String?)] = [
      (["nam"], nil), (["owner.nam"], nil), ([length], nil), (["parts"], nil),
      (["parts.size"], nil), (["name"], "nam"), (["name"], "parts"),
      (["name"], "parts.size"), (["number"], "owner.items.name"),
    ]
    context.performAndWait {
      for (properties, key) in cases {
        let request = Self.request(properties, sortedBy: key)
        let error = #expect(throws: NSError.self) { try context.fetch(request) }
        #expect(error?.code == NSCoreDataError, "\(properties) \(key ?? "")")
      }
    }
  }

  @Test(
    "Distinct dictionaries are sorted by another value of the first row of each",
    arguments: StoreKind.allCases)
  func distinctDictionariesAreSortedByTheirFirstRows(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: Warehouse.model())
    defer { withExtendedLifetime(stack) {} }
    let context = try Warehouse(seed: 3, count: 30).context(
      kind.type.rawValue, at: kind.url(stack.storeURL))
    try context.performAndWait {
      let rows = try context.fetch(Self.request(["name", "number"]))
      var first: [String?: Int64] = [:]
      for row in rows.reversed() { first[row["name"] as? String] = row["number"] as? Int64 }
      let names = first.sorted { $0.value > $1.value }.map(\.key)
      #expect(names.count < rows.count)
      let distinct = Self.request(["name"], sortedBy: "number")
      distinct.returnsDistinctResults = true
      #expect(try context.fetch(distinct).map { $0["name"] as? String } == names)
    }
  }

  @Test(
    "The least and the greatest value of an attribute have its type",
    arguments: StoreKind.allCases)
  func extremesHaveTheTypesOfTheirAttributes(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: TestModels.library())
    let context = try stack.coldContext()
    try context.performAndWait {
      let tag = context.make("Tag", ["name": "a"])
      for name in ["a", "b"] {
        let values: [String: Any] = [
          "uri": try #require(URL(string: "https://x.org/\(name)")), "bool": name == "b",
          "uuid": UUID(), "date": Date(timeIntervalSinceReferenceDate: 1), "decimal": Decimal(2),
        ]
        context.make("Article", values).setValue(Set([tag]), forKey: "tags")
      }
      try context.save()
      func values(_ entity: String, _ formats: String...) throws -> [Any?] {
        let request = NSFetchRequest<[String: Any]>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = formats.map { format in
          let property = NSExpressionDescription()
          property.name = format
          property.expression = NSExpression(format: format)
          return property
        }
        let row = try #require(try context.fetch(request).first)
        return formats.map { row[$0] }
      }
      let urls = try values("Article", "max:(uri)", "@max.uri", "min:(noindex:(uri))")
      #expect(
        urls.map { ($0 as? URL)?.absoluteString }
          == ["https://x.org/b", "https://x.org/b", "https://x.org/a"])
      let ofTag = try values("Tag", "articles.@max.uri", "max:({articles.@min.uri})")
      #expect(
        ofTag.map { ($0 as? URL)?.absoluteString } == ["https://x.org/b", "https://x.org/a"])
      let others = try values("Article", "max:(bool)", "min:(uuid)", "max:(date)", "min:(decimal)")
      let boolean = (others[0] as? NSNumber)?.objCType.pointee
      #expect(boolean == NSNumber(value: true).objCType.pointee)
      #expect(others[1] is UUID && others[2] is Date && others[3] is NSDecimalNumber)
    }
  }

  @Test("A value with the result type Float converts to Float", arguments: StoreKind.allCases)
  func floatsConvertToFloat(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: Warehouse.model())
    defer { withExtendedLifetime(stack) {} }
    let warehouse = Warehouse(seed: 3, count: 10)
    let context = try warehouse.context(kind.type.rawValue, at: kind.url(stack.storeURL))
    let third = NSExpressionDescription()
    third.name = "third"
    third.expression = NSExpression(format: "number / 3.0")
    third.expressionResultType = .floatAttributeType
    try context.performAndWait {
      let rows = try context.fetch(Self.request([third], sortedBy: "number"))
      let thirds = warehouse.items.reversed().map { Float(Double($0.number) / 3) }
      #expect(rows.compactMap { $0["third"] as? Float } == thirds)
    }
  }

  @Test("A SUBQUERY with an operator is a value of each row", arguments: StoreKind.allCases)
  func subqueriesAreValuesOfRows(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: Warehouse.model())
    defer { withExtendedLifetime(stack) {} }
    let warehouse = Warehouse(seed: 3, count: 30)
    let context = try warehouse.context(kind.type.rawValue, at: kind.url(stack.storeURL))
    func described(_ name: String, _ format: String) -> NSExpressionDescription {
      let description = NSExpressionDescription()
      description.name = name
      description.expression = NSExpression(format: format)
      return description
    }
    let large = described("large", "SUBQUERY(parts, $p, $p.size > 1).@count")
    let total = described("total", "SUBQUERY(parts, $p, $p.size > 1).@sum.size")
    let sizes = warehouse.items.map { $0.parts.compactMap(\.size).filter { $0 > 1 } }
    try context.performAndWait {
      let rows = try context.fetch(Self.request(["number", large, total], sortedBy: "number"))
      #expect(rows.compactMap { $0["large"] as? Int } == sizes.reversed().map { $0.count })
      #expect(rows.compactMap { $0["total"] as? Int64 } == sizes.reversed().map { $0.reduce(0, +) })
      let grouped = Self.request([large, described("rows", "count:(number)")], sortedBy: "large")
      grouped.propertiesToGroupBy = [large]
      let groups = Dictionary(grouping: sizes) { $0.count }.sorted { $0.key > $1.key }
      let found = try context.fetch(grouped)
      #expect(found.compactMap { $0["large"] as? Int } == groups.map { $0.key })
      #expect(found.compactMap { $0["rows"] as? Int } == groups.map { $0.value.count })
    }
  }

  @Test("The ID of an object in an expression has its entity", arguments: StoreKind.allCases)
  func objectsOfExpressionsHaveTheirEntities(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: Warehouse.model())
    defer { withExtendedLifetime(stack) {} }
    let context = try Warehouse(seed: 3, count: 30).context(
      kind.type.rawValue, at: kind.url(stack.storeURL))
    try context.performAndWait {
      let same = NSExpressionDescription()
      same.name = "same"
      same.expression = NSExpression(format: "noindex:(item)")
      let request = NSFetchRequest<[String: Any]>(entityName: "Part")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["item", same]
      let rows = try context.fetch(request)
      for row in rows {
        #expect(row["same"] as? NSManagedObjectID == row["item"] as? NSManagedObjectID)
      }
      let names = rows.compactMap { ($0["same"] as? NSManagedObjectID)?.entity.name }
      #expect(Set(names) == ["Item", "Book", "Disc"])
    }
  }
}
