import CoreDataCosts
import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

/// Dictionary results of each kind of store, compared with plain Swift over the same rows.
@Suite("Dictionary results")
struct DictionaryResultTests {
  private final class Setup {
    let stack: TestStack
    let warehouse = Warehouse(seed: 11, count: 40)
    let events = EventList()
    let context: NSManagedObjectContext

    init(_ kind: StoreKind) throws {
      stack = try TestStack(kind, model: Warehouse.model())
      context = try warehouse.context(
        kind.type.rawValue, at: kind.url(stack.storeURL), sinks: [events])
    }

    func fetch(
      _ properties: [Any]?, _ configure: (NSFetchRequest<[String: Any]>) -> Void = { _ in }
    ) throws -> [[String: Any]] {
      try context.performAndWait {
        let request = NSFetchRequest<[String: Any]>(entityName: "Item")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        configure(request)
        var found: [[String: Any]] = []
        let cost = try costs(of: context) { found = try context.fetch(request) }
        // One SELECT; no objects, no faults.
        #expect(cost.fetches == 1 && cost.faults == 0)
        #expect(cost.selects == stack.statements(1))
        #expect(cost.rows == stack.statements(found.count))
        #expect(context.registeredObjects.isEmpty)
        let count = try context.count(for: request)
        #expect(count == found.count)
        return found
      }
    }

    var lastSelect: String {
      events.statements(.select).last { !$0.hasPrefix("SELECT COUNT(*)") } ?? ""
    }
  }

  private static func describe(
    _ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType
  ) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(format: format)
    description.expressionResultType = type
    return description
  }

  private static let byNumber = [NSSortDescriptor(key: "number", ascending: true)]

  @Test(
    "S6.28 only the named columns are read, and nils are omitted",
    arguments: StoreKind.allCases)
  func onlyNamedColumnsAreReadAndNilsAreOmitted(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let weight = try #require(
      setup.stack.model.entitiesByName["Item"]?.propertiesByName["weight"])
    let found = try setup.fetch(["name", weight, "owner.name", "flag", "price", "added"]) {
      $0.sortDescriptors = Self.byNumber
    }
    if kind.runsSQL {
      #expect(
        setup.lastSelect
          == "SELECT t0.ZNAME, t0.ZWEIGHT, t1.ZNAME, t0.ZFLAG, t0.ZPRICE, t0.ZADDED FROM ZITEM t0"
          + " LEFT OUTER JOIN ZPERSON t1 ON t0.ZOWNER = t1.Z_PK ORDER BY t0.ZNUMBER")
    }
    for (dictionary, item) in zip(found, setup.warehouse.items) {
      #expect(dictionary["name"] as? String == item.name)
      #expect(dictionary["weight"] as? Double == item.weight)
      #expect(dictionary["owner.name"] as? String == item.owner?.name)
      #expect(dictionary["flag"] as? Bool == item.flag)
      #expect((dictionary["price"] as? NSDecimalNumber)?.doubleValue == item.price)
      #expect((dictionary["added"] as? Date)?.timeIntervalSinceReferenceDate == item.added)
      let values: [Any?] = [
        item.name, item.weight, item.owner?.name, item.flag, item.price, item.added,
      ]
      #expect(dictionary.count == values.count { $0 != nil })
    }
    #expect(found.count == setup.warehouse.items.count)
    let all = try setup.fetch(nil) { $0.fetchLimit = 1 }
    #expect(
      Set(try #require(all.first).keys).isSubset(
        of: ["number", "name", "count", "weight", "price", "added", "flag"]))
  }

  @Test("Objects are returned as IDs with their actual entities", arguments: StoreKind.allCases)
  func objectsAreReturnedAsObjectIDs(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let itself = NSExpressionDescription()
    itself.name = "id"
    itself.expression = .expressionForEvaluatedObject()
    itself.expressionResultType = .objectIDAttributeType
    let found = try setup.fetch(["number", "owner", itself]) { $0.sortDescriptors = Self.byNumber }
    try setup.context.performAndWait {
      for (dictionary, item) in zip(found, setup.warehouse.items) {
        let id = try #require(dictionary["id"] as? NSManagedObjectID)
        #expect(id.entity.name == item.kind)
        let object = setup.context.object(with: id)
        #expect(object.value(forKey: "number") as? Int64 == item.number)
        let owner = object.value(forKey: "owner") as? NSManagedObject
        #expect(dictionary["owner"] as? NSManagedObjectID == owner?.objectID)
      }
    }
  }

  @Test(
    "S6.29, S-C08 an average by group is one SELECT with GROUP BY",
    arguments: StoreKind.allCases)
  func averageByGroupIsOneSelect(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let average = Self.describe("average", "average:(weight)", .doubleAttributeType)
    let found = try setup.fetch(["owner.name", average]) { request in
      request.propertiesToGroupBy = ["owner.name"]
      request.sortDescriptors = [NSSortDescriptor(key: "owner.name", ascending: true)]
    }
    if kind.runsSQL {
      #expect(
        setup.lastSelect
          == "SELECT t1.ZNAME, AVG( t0.ZWEIGHT) FROM ZITEM t0 LEFT OUTER JOIN ZPERSON t1"
          + " ON t0.ZOWNER = t1.Z_PK GROUP BY  t1.ZNAME ORDER BY t1.ZNAME")
    }
    let groups = Dictionary(grouping: setup.warehouse.items) { $0.owner?.name }
    #expect(found.count == groups.count)
    for dictionary in found {
      let weights = (groups[dictionary["owner.name"] as? String] ?? []).compactMap(\.weight)
      let expected = weights.isEmpty ? nil : weights.reduce(0, +) / Double(weights.count)
      #expect(dictionary["average"] as? Double == expected)
    }
  }

  @Test(
    "Functions over all rows: of attributes, to-many relationships, and arithmetic",
    arguments: StoreKind.allCases)
  func functionsAreComputedOverAllRows(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let items = setup.warehouse.items
    let counts = items.compactMap(\.count)
    let sizes = items.flatMap(\.parts).compactMap(\.size)
    let cases: [(String, Double?)] = [
      ("count:(name)", Double(items.compactMap(\.name).count)), ("@count", Double(items.count)),
      ("sum:(count)", Double(counts.reduce(0, +))), ("@sum.count", Double(counts.reduce(0, +))),
      ("max:(count)", counts.max().map(Double.init)), ("@min.count", counts.min().map(Double.init)),
      ("average:(count)", Double(counts.reduce(0, +)) / Double(counts.count)),
      ("sum:(count * 2 + 1)", counts.reduce(0) { $0 + Double($1 * 2 + 1) }),
      ("sum:(count) + count:(objectID)", Double(counts.reduce(0, +) + Int64(items.count))),
      ("count:(parts)", Double(items.flatMap(\.parts).count)),
      ("count:(tags)", Double(items.flatMap(\.tags).count)),
      ("sum:(parts.size)", Double(sizes.reduce(0, +))),
      ("max:(parts.size)", sizes.max().map(Double.init)),
      ("max:(length:(name))", items.compactMap { $0.name?.count }.max().map(Double.init)),
      ("sum:(parts.@count)", Double(items.flatMap(\.parts).count)),
    ]
    for (format, expected) in cases {
      let found = try setup.fetch([Self.describe("value", format)])
      #expect(found.count == 1)
      #expect(found.first?["value"] as? Double == expected, "\(format): \(setup.lastSelect)")
    }
    // Functions of two to-many relationships don't multiply each other's rows.
    let both = try setup.fetch([
      Self.describe("parts", "count:(parts)"), Self.describe("tags", "count:(tags)"),
      Self.describe("sum", "sum:(count)"),
    ])
    #expect(both.first?["parts"] as? Int == items.flatMap(\.parts).count)
    #expect(both.first?["tags"] as? Int == items.flatMap(\.tags).count)
    #expect(both.first?["sum"] as? Int64 == counts.reduce(0, +))
    // One value per row, in the requested type.
    let each = try setup.fetch([
      "number", Self.describe("parts", "parts.@count", .stringAttributeType),
      Self.describe("half", "weight / 2", .integer32AttributeType),
    ]) { $0.sortDescriptors = Self.byNumber }
    #expect(each.map { $0["parts"] as? String } == items.map { "\($0.parts.count)" })
    #expect(each.map { $0["half"] as? Int } == items.map { $0.weight.map { Int($0 / 2) } })
  }

  @Test(
    "Functions in one expression don't multiply each other's rows; a sum of integers is one",
    arguments: StoreKind.allCases)
  func functionsOfOneExpressionAreIndependent(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let items = setup.warehouse.items
    let counts = items.compactMap(\.count)
    let (sum, parts) = (counts.reduce(0, +), Int64(items.flatMap(\.parts).count))
    let tags = Int64(items.flatMap(\.tags).count)
    let cases: [(String, Int64)] = [
      ("count:(parts) + sum:(count)", parts + sum), ("count:(parts) - count:(tags)", parts - tags),
      ("TERNARY(count:(tags) > 0, count:(parts), 0)", parts), ("sum:(count) / 4", sum / 4),
      ("@sum.count / count:(count)", sum / Int64(counts.count)),
      ("sum:(parts.@count) / 7", parts / 7),
    ]
    for (format, expected) in cases {
      let found = try setup.fetch([Self.describe("value", format)])
      #expect(found.count == 1)
      #expect(found.first?["value"] as? Int64 == expected, "\(format): \(setup.lastSelect)")
    }
    let totals = Dictionary(grouping: items) { $0.name }
      .mapValues { $0.compactMap(\.count).reduce(0, +) }
    let groups = try setup.fetch(["name", Self.describe("total", "sum:(count)")]) { request in
      request.propertiesToGroupBy = ["name"]
      request.havingPredicate = NSPredicate(format: "total / 2 * 2 == total")
    }
    #expect(groups.count == totals.values.count { $0 % 2 == 0 })
  }

  @Test("Expressions and conditions of groups that are nested too deep are errors")
  func deepExpressionsAreErrors() throws {
    let setup = try Setup(.sqlite)
    let deep = Self.describe("deep", "count")
    var condition = NSPredicate(format: "name != nil")
    for _ in 0..<400 {
      deep.expression = deep.expression.map {
        NSExpression(forFunction: "add:to:", arguments: [$0, NSExpression(forConstantValue: 1)])
      }
      condition = NSCompoundPredicate(notPredicateWithSubpredicate: condition)
    }
    let first = #expect(throws: NSError.self) { try setup.fetch([deep]) }
    #expect(first?.localizedDescription.contains("deep: It's nested 401 levels") == true)
    let second = #expect(throws: NSError.self) {
      try setup.fetch(["name"]) { request in
        request.propertiesToGroupBy = ["name"]
        request.havingPredicate = condition
      }
    }
    #expect(second?.localizedDescription.contains("levels deep") == true)
  }

  @Test(
    "Groups are filtered, sorted, and paged by computed values",
    arguments: StoreKind.allCases)
  func groupsAreFilteredSortedAndPaged(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let number = Self.describe("total", "count:(number)")
    let counts = Dictionary(grouping: setup.warehouse.items) { $0.name }.mapValues(\.count)
    let expected = counts.values.filter { $0 > 2 }.sorted(by: >)
    let conditions = [
      NSPredicate(format: "%@ > 2", NSExpression(forVariable: "total")),
      NSPredicate(format: "$total > 2"), NSPredicate(format: "total > 2"),
      NSPredicate(format: "count:(number) > 2"),
    ]
    for condition in conditions {
      let found = try setup.fetch(["name", number]) { request in
        request.propertiesToGroupBy = ["name"]
        request.havingPredicate = condition
        request.sortDescriptors = [NSSortDescriptor(key: "total", ascending: false)]
      }
      #expect(found.map { $0["total"] as? Int } == expected, "\(condition)")
      for dictionary in found {
        #expect(counts[dictionary["name"] as? String] == dictionary["total"] as? Int)
      }
    }
    let page = try setup.fetch(["name", number]) { request in
      request.propertiesToGroupBy = ["name"]
      request.predicate = NSPredicate(format: "name != nil AND NONE tags.name == 'zz'")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.fetchOffset = 1
      request.fetchLimit = 2
    }
    let names = Set(
      setup.warehouse.items.filter { !$0.tags.contains("zz") }.compactMap(\.name)
    )
    .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(page.map { $0["name"] as? String } == Array(names.dropFirst().prefix(2)))
  }

  @Test(
    "Groups are filtered and sorted only by values that are the same in all their rows",
    arguments: StoreKind.allCases)
  func groupsAreFilteredByGroupedOrAggregatedValues(kind: StoreKind) throws {
    let setup = try Setup(kind)
    func groups(having format: String?, sortedBy key: String = "total") throws -> Int {
      try setup.fetch(["name", Self.describe("total", "count:(number)")]) { request in
        request.propertiesToGroupBy = ["name"]
        request.havingPredicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
      }.count
    }
    let ofOneRow = [
      "count > 1", "NOT count == 1 OR max:(count) == 2", "TERNARY(count > 1, 1, 2) == 1",
      "SELF == nil", "ANY parts.size > 1", "SUBQUERY(parts, $p, $p.size > 1).@count > 0",
    ]
    for format in ofOneRow {
      let error = #expect(throws: NSError.self) { try groups(having: format) }
      #expect(
        error?.localizedDescription.contains("in havingPredicate is neither grouped") == true,
        "\(format): \(String(describing: error))")
    }
    let ofGroups = [
      "name != nil", "self.name != nil", "$total > 1", "total > 1", "@count > 1",
      "max:(count) > min:(count)", "sum:(parts.@count) > 2", "length:(name) < total",
    ]
    for format in ofGroups { #expect(try groups(having: format) > 0, "\(format)") }
    let error = #expect(throws: NSError.self) { try groups(having: nil, sortedBy: "count") }
    #expect(error?.localizedDescription.contains("Groups can be sorted only by") == true)
  }

  @Test(
    "A computed value can have the name of a property, which its expression and others read",
    arguments: StoreKind.allCases)
  func computedValuesHaveNamesOfProperties(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let items = setup.warehouse.items
    let length = Self.describe("name", "length:(name)")
    let next = Self.describe("count", "count + 1")
    let found = try setup.fetch([length, next, Self.describe("twice", "count * 2")]) {
      $0.sortDescriptors = Self.byNumber
    }
    #expect(found.map { $0["name"] as? Int } == items.map { $0.name?.utf16.count })
    #expect(found.map { $0["count"] as? Int64 } == items.map { $0.count.map { $0 + 1 } })
    #expect(found.map { $0["twice"] as? Int64 } == items.map { $0.count.map { $0 * 2 } })
    let counts = Set(items.compactMap(\.count))
    for format in ["count > 3", "$count > 3"] {
      let groups = try setup.fetch([next]) { request in
        request.propertiesToGroupBy = [next]
        request.havingPredicate = NSPredicate(format: format)
      }
      #expect(groups.count == counts.count { $0 > 2 }, "\(format)")
    }
  }

  @Test(
    "A function in the condition of a group reads the property that has a computed value's name",
    arguments: StoreKind.allCases)
  func functionsOfConditionsReadProperties(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let counts = Dictionary(grouping: setup.warehouse.items) { $0.name }
      .mapValues { $0.compactMap(\.count) }.values
    let cases: [(String, Int)] = [
      ("sum:(count) > 5", counts.count { $0.reduce(0, +) > 5 }),
      ("@sum.count > 5 AND count > 7", counts.count { $0.reduce(0, +) > 7 }),
      ("max:(count) < count", counts.count { ($0.max() ?? 0) < $0.reduce(0, +) }),
    ]
    for (format, expected) in cases {
      let found = try setup.fetch(["name", Self.describe("count", "sum:(count)")]) { request in
        request.propertiesToGroupBy = ["name"]
        request.havingPredicate = NSPredicate(format: format)
      }
      #expect(found.count == expected, "\(format)")
    }
  }

  @Test(
    "Functions in a list, and those that a method is called on, are of all rows of a group",
    arguments: StoreKind.allCases)
  func functionsInListsAreOfAllRows(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let sizes = Dictionary(grouping: setup.warehouse.items) { $0.name }.values.map(\.count)
    let cases = [
      ("max:(number) BETWEEN {min:(number), max:(number)}", sizes.count),
      ("max:(number) IN {0, min:(number)}", sizes.count { $0 == 1 }),
    ]
    for (format, count) in cases {
      let found = try setup.fetch(["name"]) { request in
        request.propertiesToGroupBy = ["name"]
        request.havingPredicate = NSPredicate(format: format)
      }
      #expect(found.count == count, "\(format)")
    }
    #expect(sizes.contains { $0 > 1 })
    guard !kind.runsSQL else { return }
    let top = try setup.fetch([Self.describe("top", "FUNCTION(max:(number), 'stringValue')")])
    #expect(top.map { $0["top"] as? String } == ["\(setup.warehouse.items.count)"])
  }

  @Test(
    "Distinct results omit duplicates; a join with ANY adds none",
    arguments: StoreKind.allCases)
  func distinctResultsOmitDuplicates(kind: StoreKind) throws {
    let setup = try Setup(kind)
    let items = setup.warehouse.items.filter { $0.tags.contains { $0 >= "a" } }
    for isDistinct in [false, true] {
      let found = try setup.fetch(["name"]) { request in
        request.predicate = NSPredicate(format: "ANY tags.name >= 'a'")
        request.returnsDistinctResults = isDistinct
      }
      #expect(found.count == (isDistinct ? Set(items.map(\.name)).count : items.count))
    }
  }

  @Test(
    "Pages in the order of a computed value are counted",
    arguments: StoreKind.allCases)
  func pagesByComputedValuesAreCounted(kind: StoreKind) throws {
    let setup = try Setup(kind)
    // The setup counts each fetch, too.
    let found = try setup.fetch(["number", Self.describe("rest", "40 - number")]) { request in
      request.sortDescriptors = [NSSortDescriptor(key: "rest", ascending: true)]
      request.fetchOffset = 3
      request.fetchLimit = 5
    }
    let numbers = setup.warehouse.items.map(\.number).sorted(by: >)
    #expect(found.map { $0["number"] as? Int64 } == Array(numbers[3..<8]))
  }

  @Test("Dictionary results contain saved values, also as NSDictionary")
  func onlySavedValuesAreReturned() throws {
    let setup = try Setup(.sqlite)
    try setup.context.performAndWait {
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: setup.context)
      item.setValue("new", forKey: "name")
      let request = NSFetchRequest<NSDictionary>(entityName: "Item")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["name"]
      request.predicate = NSPredicate(format: "name == 'new'")
      #expect(try setup.context.fetch(request).isEmpty)
      #expect(try setup.context.count(for: request) == 0)
      try setup.context.save()
      #expect(try setup.context.fetch(request) == [["name": "new"]])
      let plain = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
      plain.resultType = .dictionaryResultType
      plain.predicate = request.predicate
      let found = try #require(try setup.context.fetch(plain) as? [[String: Any]])
      #expect(found.first?["name"] as? String == "new")
    }
  }

  @Test(
    "Properties that dictionary results don't support are errors",
    arguments: [
      (["parts"], [], "Count it: parts.@count"), (["nam"], [], "no property nam"),
      (["name", "count"], ["name"], "'count' is neither grouped"),
      (["parts"], ["parts"], "Count it"), (["name"], ["nix"], "'name' is neither grouped"),
    ])
  func unsupportedPropertiesAreErrors(
    properties: [String], groups: [String], words: String
  ) throws {
    let setup = try Setup(.sqlite)
    let error = #expect(throws: NSError.self) {
      try setup.fetch(properties) { $0.propertiesToGroupBy = groups }
    }
    #expect(error?.localizedDescription.contains(words) == true, "\(String(describing: error))")
  }

  @Test func invalidRequestsAreErrors() throws {
    let setup = try Setup(.sqlite)
    func message(
      _ properties: [Any], _ configure: (NSFetchRequest<[String: Any]>) -> Void
    ) -> String {
      do {
        _ = try setup.fetch(properties, configure)
        return ""
      } catch {
        return (error as NSError).localizedDescription
      }
    }
    #expect(
      message(["name"]) { $0.havingPredicate = NSPredicate(value: true) }
        .contains("requires groups"))
    #expect(message([NSExpressionDescription()]) { _ in }.contains("has no expression"))
    #expect(message([5]) { _ in }.contains("not 5"))
    #expect(
      message(["name"]) { request in
        request.propertiesToGroupBy = ["name"]
        request.sortDescriptors = Self.byNumber
      }.contains("Groups can be sorted only by"))
    #expect(
      message([Self.describe("a", "average:(parts.size)")]) { _ in }.contains(
        "can't be translated to SQL"))
    #expect(
      message([Self.describe("a", "max:(count) + count")]) { _ in }.contains(
        "'count' in 'a' is neither grouped nor aggregated"))
    #expect(
      message(["name", Self.describe("a", "max:(count) + length:(name)")]) {
        $0.propertiesToGroupBy = ["name"]
      }.isEmpty)
    #expect(
      message(["name"]) { request in
        request.resultType = []
        request.propertiesToGroupBy = ["name"]
      }.contains("resultType = .dictionaryResultType"))
  }
}
