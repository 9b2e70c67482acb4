import ManagedModel
import Testing

@testable import OpenCoreData

/// Predicates that take too long or are nested too deeply throw errors.
@Suite struct HostilePredicateTests {
  private static let slow = "(a+)+$"
  private static let text = String(repeating: "a", count: 60) + "!"

  @Test(arguments: [StoreKind.sqlite, .memory])
  func regularExpressionsThatBacktrackTooLongAreErrors(kind: StoreKind) throws {
    let item = SchemaModels.entity("Item", [SchemaModels.attribute("name", .stringAttributeType)])
    let model = NSManagedObjectModel()
    model.entities = [item]
    let stack = try SharedStack(kind, model)
    let context = stack.context()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      object.setValue(Self.text, forKey: "name")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "name MATCHES %@", Self.slow)
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        let error = thrownError { _ = try context.fetch(request) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSCoreDataError)
        #expect(
          error?.localizedDescription.contains("steps") == true, "\(String(describing: error))")
      }
      // The same expression with a string that matches immediately.
      object.setValue("aaaa", forKey: "name")
      try context.save()
      #expect(try context.fetch(request).count == 1)
    }
  }

  @Test func wideDisjunctionsAreEvaluatedInLinearTime() throws {
    let library = try LibraryRows(seed: 3, count: 40)
    let item = try #require(library.model.entity(named: "Item"))
    let format = (0..<35_000).map { "weight == \($0 % 3 - 10)" }.joined(separator: " OR ")
    let predicate = try NSPredicate.parse(format, arguments: [])
    #expect(predicate.predicateFormat.count > 500_000)
    #expect(predicate == predicate.copy() as? NSPredicate)
    #expect(try library.items.prefix(2).filter { try predicate.evaluation(of: $0) }.isEmpty)
    let error = #expect(throws: TranslationError.self) {
      try library.translator.fetch(entity: item, predicate: predicate)
    }
    #expect(error?.description.contains("IN") == true)
    let shorter = try NSPredicate.parse(
      (0..<10_000).map { "weight == \($0)" }.joined(separator: " OR "), arguments: [])
    let query = try library.translator.fetch(
      entity: item, predicate: shorter, result: .identifiers)
    // Items of the same weight have the same result.
    var results: [Double?: Bool] = [:]
    for item in library.items {
      let weight = item["weight"] as? Double
      if results[weight] == nil { results[weight] = try shorter.evaluation(of: item) }
    }
    let expected = library.items.count { results[$0["weight"] as? Double] == true }
    // Weights are halves, and the whole ones are among the numbers.
    let whole = library.items.compactMap { $0["weight"] as? Double }.count { $0 == $0.rounded() }
    #expect(expected == whole && whole > 0)
    let begin = threadTime()
    #expect(try library.keys(query).count == expected)
    #expect(threadTime() - begin < 5)
    #expect(query.sql.contains("t0.ZWEIGHT IN (?, ?, ?"))
  }

  @Test(arguments: [StoreKind.sqlite, .memory])
  func conditionsJoinedOneAfterAnotherFindTheirRows(kind: StoreKind) throws {
    let item = SchemaModels.entity(
      "Item", [SchemaModels.attribute("size", .integer32AttributeType)])
    let model = NSManagedObjectModel()
    model.entities = [item]
    let stack = try SharedStack(kind, model)
    let context = stack.context()
    try context.performAndWait {
      for size in [0, 7, 300] {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        object.setValue(size, forKey: "size")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      let types: [(NSCompoundPredicate.LogicalType, sign: String, count: Int)] = [
        (.and, "!=", 1), (.or, "==", 2),
      ]
      for (type, sign, count) in types {
        let terms = (0..<200).map { NSPredicate(format: "size \(sign) %ld", $0) }
        let left = terms.reduce(terms[0]) {
          NSCompoundPredicate(type: type, subpredicates: [$0, $1])
        }
        let right = terms.reduce(terms[0]) {
          NSCompoundPredicate(type: type, subpredicates: [$1, $0])
        }
        for predicate in [left, right] {
          request.predicate = predicate
          #expect(try context.fetch(request).count == count)
          request.predicate = NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
          #expect(try context.count(for: request) == 3 - count)
        }
      }
    }
  }

  @Test("a predicate that SQLite's parser can't nest is an error of the request")
  func predicatesBeyondTheParserStackAreErrors() throws {
    let item = SchemaModels.entity(
      "Item", [SchemaModels.attribute("size", .integer32AttributeType)])
    let model = NSManagedObjectModel()
    model.entities = [item]
    let stack = try SharedStack(.sqlite, model)
    let context = stack.context()
    let term = NSPredicate(format: "size == 1")
    let (size, one) = (NSExpression(forKeyPath: "size"), NSExpression(forConstantValue: 1))
    func comparison(_ deepen: (NSExpression) -> NSExpression) -> NSPredicate {
      let left = (0..<120).reduce(size) { deep, _ in deepen(deep) }
      return NSComparisonPredicate(
        leftExpression: left, rightExpression: one, modifier: .direct, type: .equalTo)
    }
    let predicates = [
      (0..<120).reduce(term) { deep, level in
        NSCompoundPredicate(type: level % 2 == 0 ? .or : .and, subpredicates: [term, deep])
      },
      (0..<120).reduce(term) { deep, _ in NSCompoundPredicate(notPredicateWithSubpredicate: deep) },
      comparison { NSExpression(forFunction: "add:to:", arguments: [one, $0]) },
      comparison {
        NSExpression(forConditional: term, trueExpression: one, falseExpression: $0)
      },
    ]
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      for predicate in predicates {
        request.predicate = predicate
        let errors = [
          thrownError { _ = try context.fetch(request) },
          thrownError { _ = try context.count(for: request) },
        ]
        for error in errors {
          #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSCoreDataError)
          #expect(error?.localizedDescription.contains("is nested too deeply for SQLite") == true)
        }
      }
    }
  }

  @Test(arguments: [StoreKind.sqlite, .memory])
  func deepCompoundPredicatesAreErrorsAndAreReleased(kind: StoreKind) throws {
    let item = SchemaModels.entity(
      "Item", [SchemaModels.attribute("size", .integer32AttributeType)])
    let model = NSManagedObjectModel()
    model.entities = [item]
    let stack = try SharedStack(kind, model)
    let context = stack.context()
    let term = NSPredicate(format: "size == 1")
    var chain = term
    for _ in 0..<70_000 {
      chain = NSCompoundPredicate(orPredicateWithSubpredicates: [chain, term])
    }
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = chain
      let error = thrownError { _ = try context.fetch(request) }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSCoreDataError)
      #expect(
        error?.localizedDescription.contains("70002 levels") == true, "\(String(describing: error))"
      )
    }
    #expect(chain.predicateFormat.contains("70002"))
    #expect(chain == chain && chain != term && chain.hash == chain.hash)
    let part = (chain as? NSCompoundPredicate)?.predicates[0] as? NSCompoundPredicate
    chain = term
    // A part that's still referenced keeps its subpredicates.
    #expect(part?.predicates.count == 2)
    #expect(part?.predicates[0].depth == 70_000)
  }
}
