import ManagedModel
import Testing

/// Archiving and unarchiving predicates, expressions, and sort descriptors.
@Suite struct PredicateCodingTests {
  private func roundTripped<Object: NSObject & NSCoding>(_ object: Object) throws -> Object? {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
  }

  @Test(arguments: [
    "a == 1 AND (b BEGINSWITH[cd] 'x' OR NOT c IN {1, 2.5, 'z'})", "TRUEPREDICATE",
    "ANY a.b == nil AND ALL c.d > CAST(1.5, 'NSDate')", "SELF isKindOfClass: 'Mood'",
    "SUBQUERY(a, $x, $x.b.$k == $v AND SUBQUERY($x.c, $y, $y == SELF).@count > 0)[SIZE] == 2",
    "TERNARY(a == 1, b[FIRST], c[LAST]) == d[3] AND e['k'] == ANYKEY", "now() > date - 3 ** 2 %% 2",
    "FUNCTION(a, 'substringFromIndex:', 2) == 'x' AND CAST(b, 'NSString') == '3'",
    "({1, a} UNION b) INTERSECT c == d MINUS {'q'}", "$x := 3 < a AND FETCH($r, $c, YES) == 2",
    "a == CAST('AQID', 'NSData') AND b == CAST('00000000-0000-0000-0000-0000000000FF', 'NSUUID')",
    "a == 0.1234567890123456789 AND b == 18446744073709551615 AND c.@max.d < -2",
  ])
  func archivedPredicatesRoundTrip(format: String) throws {
    let predicate = try NSPredicate.parse(format, arguments: [])
    let again = try #require(try roundTripped(predicate))
    #expect(again == predicate && again.predicateFormat == predicate.predicateFormat)
    #expect(type(of: again) == type(of: predicate))
  }

  @Test func constantsAndSortDescriptorsRoundTrip() throws {
    for value: Any in [Set([1, 2, 3]), ["k": 1, "l": 2], URL(fileURLWithPath: "/a"), true] {
      let expression = NSExpression(forConstantValue: value)
      #expect(try roundTripped(expression) == expression, "\(value)")
    }
    for comparison in NSSortDescriptor.Comparison.allCases {
      let descriptor = NSSortDescriptor(key: "a.b", ascending: false, selector: comparison)
      #expect(try roundTripped(descriptor) == descriptor)
    }
  }

  @Test func equalNumbersOfDifferentTypesKeepTheirTypes() throws {
    let predicate = NSPredicate(format: "a / 2 == 1 AND a / 2.0 == 1.5")
    let again = try #require(try roundTripped(predicate))
    #expect(again.predicateFormat == predicate.predicateFormat)
    #expect(again.evaluate(with: ["a": 3]))
    let sum = NSExpression(format: "2 / 4.0 + 4 / 8")
    #expect(try roundTripped(sum)?.expressionValue(with: nil, context: nil) as? Double == 0.5)
  }

  @Test func decodedObjectsAreEvaluated() throws {
    let predicate = try #require(try roundTripped(NSPredicate(format: "name == 'a'")))
    #expect(predicate.evaluate(with: ["name": "a"]))
    predicate.allowEvaluation()
    #expect(!predicate.evaluate(with: ["name": "b"]))
    let expression = try #require(try roundTripped(NSExpression(format: "1 + 2")))
    expression.allowEvaluation()
    #expect(expression.expressionValue(with: nil, context: nil) as? Int == 3)
    let order = try #require(try roundTripped(NSSortDescriptor(key: nil, ascending: false)))
    order.allowEvaluation()
    #expect(["a", "b"].sorted(using: [order]) == ["b", "a"])
  }

  @Test(arguments: [
    ("NSExpression", ["NSExpressionType": 4], true),
    ("NSExpression", ["NSExpressionType": 3], false),
    ("NSExpression", ["NSExpressionType": -1], false), ("NSExpression", [:], false),
    ("NSComparisonPredicate", ["NSOperatorType": 4, "NSModifier": 0, "NSOptions": 0], false),
    ("NSCompoundPredicate", ["NSCompoundPredicateType": 0], false), ("NSPredicate", [:], false),
  ])
  func brokenArchivesAreErrors(name: String, numbers: [String: Int], containsItself: Bool) throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    archiver.setClassName("ManagedModel.\(name)", for: ArchivedImpostor.self)
    archiver.encode(ArchivedImpostor(numbers, containsItself: containsItself), forKey: "root")
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    let classes: [AnyClass] = [NSPredicate.self, NSExpression.self]
    #expect(unarchiver.decodeObject(of: classes, forKey: "root") == nil)
    #expect(unarchiver.error != nil)
  }
}
