import OpenCoreData
import PostgresStore
import Testing

import class ManagedModel.NSExpression
import class ManagedModel.NSExpressionDescription

@Suite("Dictionaries")
struct DictionaryTests {
  private static func expression(
    _ name: String, _ format: String, _ type: NSAttributeType
  ) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(format: format)
    description.expressionResultType = type
    return description
  }

  private static func dictionaries(
    _ context: NSManagedObjectContext, _ properties: [Any],
    _ change: (NSFetchRequest<NSDictionary>) -> Void = { _ in }
  ) throws -> [String] {
    let request = NSFetchRequest<NSDictionary>(entityName: "Person")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = properties
    change(request)
    return try context.fetch(request).map { dictionary in
      let texts = dictionary.compactMap { key, value in
        value is NSManagedObjectID ? "\(key)=ID" : "\(key)=\(value)"
      }
      return texts.sorted().joined(separator: " ")
    }
  }

  @Test("Columns, key paths, and computed values are those of a SQLite store")
  func columns() throws {
    let found = try SameData.shared.get().results { context in
      [
        try Self.dictionaries(
          context, ["name", "age", "active", "score", "code", "site", "hired"]),
        try Self.dictionaries(context, ["name", "department.name", "department", "boss"]),
        try Self.dictionaries(
          context, [Self.expression("next", "age + 1", .integer64AttributeType)]),
        try Self.dictionaries(
          context,
          ["name", Self.expression("skillCount", "skills.@count", .integer64AttributeType)]),
      ].map { $0.sorted() }
    }
    #expect(found.postgres == found.sqlite)
  }

  @Test("Functions over all rows, and over groups with a condition and an order")
  func functions() throws {
    let functions: [Any] = [
      Self.expression("count", "count:(age)", .integer64AttributeType),
      Self.expression("sum", "sum:(age)", .integer64AttributeType),
      Self.expression("min", "min:(age)", .integer64AttributeType),
      Self.expression("max", "max:(name)", .stringAttributeType),
      Self.expression("average", "average:(age)", .doubleAttributeType),
      Self.expression("scores", "sum:(score)", .doubleAttributeType),
    ]
    let found = try SameData.shared.get().results { context in
      [
        try Self.dictionaries(context, functions),
        try Self.dictionaries(context, functions) { $0.predicate = NSPredicate(value: false) },
        try Self.dictionaries(context, ["active"] + functions) { request in
          request.propertiesToGroupBy = ["active"]
          request.sortDescriptors = [NSSortDescriptor(key: "active", ascending: true)]
        },
        try Self.dictionaries(context, ["department.name", functions[0], functions[1]]) { request in
          request.propertiesToGroupBy = ["department.name"]
          request.havingPredicate = NSPredicate(format: "$count > 1")
          request.sortDescriptors = [NSSortDescriptor(key: "sum", ascending: false)]
        },
      ]
    }
    #expect(found.postgres == found.sqlite)
  }

  @Test("Distinct dictionaries, with a limit, and their number")
  func distinct() throws {
    let found = try SameData.shared.get().results { context in
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["age"]
      request.returnsDistinctResults = true
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      let count = try context.count(for: request)
      request.fetchLimit = 3
      request.fetchOffset = 1
      return (try context.fetch(request).map { "\($0)" } + ["\(count)"])
    }
    #expect(found.postgres == found.sqlite)
  }

  @Test("Groups and orders may be computed with constants, and results have the requested types")
  func computedGroups() throws {
    let half = Self.expression("half", "age / 2", .integer64AttributeType)
    let types: [Any] = [
      Self.expression("site", "max:(site)", .URIAttributeType),
      Self.expression("tenth", "min:(ratio)", .booleanAttributeType),
      Self.expression("wages", "sum:(wage)", .decimalAttributeType),
      Self.expression("third", "max:(score) / 3", .decimalAttributeType),
    ]
    let found = try SameData.shared.get().results { context in
      [
        try Self.dictionaries(
          context, [half, Self.expression("count", "count:(age)", .integer64AttributeType)]
        ) { request in
          request.propertiesToGroupBy = [half]
          request.sortDescriptors = [NSSortDescriptor(key: "half", ascending: true)]
        },
        try Self.dictionaries(context, [half]) { request in
          request.returnsDistinctResults = true
          request.sortDescriptors = [NSSortDescriptor(key: "half", ascending: false)]
          request.fetchLimit = 5
        },
        try Self.dictionaries(context, types),
      ]
    }
    #expect(found.postgres == found.sqlite)
  }

  @Test("Pages of dictionaries don't overlap, also if the order has equal values")
  func pages() throws {
    let stack = try PostgresStack(SampleModels.company())
    let context = stack.context()
    try context.performAndWait {
      for number in 0..<100 {
        context.insert("Person", ["name": "n\(number)", "active": true, "age": number % 50])
      }
      try context.save()
      for (isDistinct, groups) in [(false, []), (true, []), (false, ["age", "active"])] {
        let properties = isDistinct || !groups.isEmpty ? ["age", "active"] : ["name"]
        let pages = try stride(from: 0, to: 100, by: 7).flatMap { offset in
          try Self.dictionaries(context, properties) { request in
            request.returnsDistinctResults = isDistinct
            request.propertiesToGroupBy = groups.isEmpty ? nil : groups
            request.sortDescriptors = [NSSortDescriptor(key: "active", ascending: true)]
            request.fetchLimit = 7
            request.fetchOffset = offset
          }
        }
        #expect(Set(pages).count == pages.count, "\(properties)")
        #expect(pages.count == (properties.count == 1 ? 100 : 50))
      }
    }
  }
}
