import CoreDataCosts
import OpenCoreData
import Testing

/// Evaluating predicates with managed objects, and its costs.
@Suite struct ObjectEvaluationTests {
  @Test func evaluationFiresEachFaultOnce() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(6, countries: 2)
    let context = try stack.coldContext()
    try context.performAndWait {
      let moods = try context.fetch(NSFetchRequest<Mood>(entityName: "Mood"))
      let late = NSPredicate(format: "date >= %@", Date(timeIntervalSinceReferenceDate: 120))
      let own = costs(of: context) { #expect(moods.count { late.evaluate(with: $0) } == 4) }
      #expect(own.selects == 0 && own.rows == 0 && own.faults == 6)
      let far = NSPredicate(format: "country.continent.numericISO3166Code == 1000")
      let path = costs(of: context) { #expect(moods.allSatisfy { far.evaluate(with: $0) }) }
      // Two countries and a continent are read once each.
      #expect(path.selects == 3 && path.rows == 3)
      let again = costs(of: context) { #expect(moods.allSatisfy { far.evaluate(with: $0) }) }
      #expect(again.selects == 0 && again.faults == 0)
    }
  }

  @Test func evaluationWithAnyMatchesManagedObject() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(4, countries: 2)
    let context = try stack.coldContext()
    try context.performAndWait {
      let moods = try context.fetch(NSFetchRequest<Mood>(entityName: "Mood"))
      let countries = try context.fetch(NSFetchRequest<Country>(entityName: "Country"))
      let formats = [
        "country.numericISO3166Code == 1", "colors.length == 3", "SELF.country == nil",
        "country == %@", "country IN %@", "SELF == %@", "date.timeIntervalSinceReferenceDate > 60",
      ]
      let arguments: [Any] = [countries[0], countries, moods[1].objectID]
      for (index, format) in formats.enumerated() {
        let slice = index == 4 ? [arguments[1]] : index == 5 ? [arguments[2]] : [arguments[0]]
        let predicate = NSPredicate(format: format, argumentArray: slice)
        for mood in moods {
          let anything: Any = mood
          #expect(predicate.evaluate(with: mood) == predicate.evaluate(with: anything), "\(format)")
        }
      }
      let owner = try #require(countries.first { $0.moods.contains(moods[1]) })
      #expect(NSPredicate(format: "ANY moods == %@", moods[1]).evaluate(with: owner))
      #expect(NSPredicate(format: "moods CONTAINS %@", moods[1].objectID).evaluate(with: owner))
      #expect(
        NSPredicate(format: "moods.@count == 2 AND moods.@max.date > moods.@min.date")
          .evaluate(with: owner))
      let date = moods[2].date
      let block = NSPredicate { object, _ in (object as? Mood)?.date == date }
      #expect(moods.filter { block.evaluate(with: $0) } == [moods[2]])
    }
  }

  @Test(
    "A FETCH in a predicate runs once, in every position and store",
    arguments: [
      ("country IN FETCH(%@, %@, NO)", 3), ("FETCH(%@, %@, YES) == 1", 6),
      ("SUBQUERY(country.moods, $m, $m.country IN FETCH(%@, %@, NO)).@count > 0", 3),
      ("NOT (country IN FETCH(%@, %@, NO) AND {{1}} == {{2}})", 6),
    ])
  func innerFetchesRunOnce(format: String, count: Int) throws {
    let stack = try TestStack.moody()
    try stack.addMoods(6, countries: 2)
    let context = try stack.coldContext()
    try context.performAndWait {
      let inner = NSFetchRequest<Country>(entityName: "Country")
      inner.predicate = NSPredicate(format: "numericISO3166Code == 2")
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.predicate = NSPredicate(format: format, inner, context)
      var moods: [Mood] = []
      let cost = try costs(of: context) { moods = try context.fetch(request) }
      #expect(cost.fetches == 2 && cost.selects == 2)
      #expect(moods.count == count)
    }
  }

  @Test func fetchExpressionsMatchInStoreAndMemory() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(6, countries: 2)
    let context = try stack.coldContext()
    try context.performAndWait {
      let inner = NSFetchRequest<Country>(entityName: "Country")
      inner.predicate = NSPredicate(format: "numericISO3166Code == 2")
      let listed = NSPredicate(format: "country IN FETCH(%@, %@, NO)", inner, context)
      let request = NSFetchRequest<Mood>(entityName: "Mood")
      request.predicate = listed
      var found = 0
      let cost = try costs(of: context) { found = try context.fetch(request).count }
      #expect(found == 3 && cost.selects == 2)
      let all = try context.fetch(NSFetchRequest<Mood>(entityName: "Mood"))
      #expect(all.count { listed.evaluate(with: $0) } == 3)
      let number = NSFetchRequestExpression.expression(
        forFetch: NSExpression(forConstantValue: inner),
        context: NSExpression(forConstantValue: context), countOnly: true)
      #expect(number.expressionValue(with: nil, context: nil) as? Int == 1)
      #expect(number.expressionType == NSFetchRequestExpressionType)
      #expect((number as? NSFetchRequestExpression)?.isCountOnlyRequest == true)
      let lost = NSPredicate(format: "FETCH(%@, 1, YES) == 1", inner)
      let error = #expect(throws: PredicateEvaluationError.self) { try lost.evaluation(of: all[0]) }
      #expect(error?.description.contains("context") == true)
    }
  }
}
