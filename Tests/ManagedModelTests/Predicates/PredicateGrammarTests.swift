import Testing

@testable import ManagedModel

/// Formats and how they're printed; the printed format parses to an equal predicate.
struct PredicateGrammarTests {
  private static let formats: [(String, String)] = [
    ("a = 1", "a == 1"),
    ("a == 1", "a == 1"),
    ("a <> 1", "a != 1"),
    ("a =< 1 and a => 0", "a <= 1 AND a >= 0"),
    ("a==1&&b==2||c==3", "(a == 1 AND b == 2) OR c == 3"),
    ("a == 1 AND b == 2 AND c == 3", "a == 1 AND b == 2 AND c == 3"),
    ("a == 1 AND (b == 2 AND c == 3)", "a == 1 AND (b == 2 AND c == 3)"),
    ("! (a == 1)", "NOT a == 1"),
    ("NOT (a == 1 OR NOT b == 2)", "NOT (a == 1 OR NOT b == 2)"),
    ("not a in {1,2}", "NOT a IN {1, 2}"),
    ("a NOT IN {1,2}", "NOT a IN {1, 2}"),
    ("NONE moods.name == 'x'", "NOT ANY moods.name == \"x\""),
    ("SOME moods.n > 2", "ANY moods.n > 2"),
    ("ALL moods.n > 2", "ALL moods.n > 2"),
    ("name beginswith [dc] 'é'", "name BEGINSWITH[cd] \"é\""),
    ("name LIKE[n] '?A*'", "name LIKE[n] \"?A*\""),
    ("name CONTAINS[cdl] 'x'", "name CONTAINS[cdl] \"x\""),
    ("name matches[w] '[0-9]+\\\\.x'", "name MATCHES[w] \"[0-9]+\\\\.x\""),
    ("a BETWEEN {1, 2.5}", "a BETWEEN {1, 2.5}"),
    ("flag == YES AND other == false", "flag == 1 AND other == 0"),
    ("hidden", "hidden == 1"),
    ("hidden OR a == 1", "hidden == 1 OR a == 1"),
    ("a == NULL || b != nil", "a == nil OR b != nil"),
    ("TRUEPREDICATE AND falsepredicate", "TRUEPREDICATE AND FALSEPREDICATE"),
    ("self == 3", "SELF == 3"),
    ("SELF.name == 'x'", "name == \"x\""),
    ("#select.#in == #self.x", "select.#in == #self.x"),
    ("a.@count > 2 AND b.@max.age < 3", "a.@count > 2 AND b.@max.age < 3"),
    ("@count == 0", "@count == 0"),
    (
      "SUBQUERY(residents,$x,$x.age<25 and $x.n==2).@count != 0",
      "SUBQUERY(residents, $x, $x.age < 25 AND $x.n == 2).@count != 0"
    ),
    (
      "SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y.c == $x.c).@count > 0)[SIZE] = 1",
      "SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y.c == $x.c).@count > 0)[SIZE] == 1"
    ),
    ("a + 2 * b - c == 4", "a + 2 * b - c == 4"),
    ("(a + 2) * b == 4", "(a + 2) * b == 4"),
    ("a - (b - c) == 4", "a - (b - c) == 4"),
    ("(a - b) - c == 4", "a - b - c == 4"),
    ("2 ** 3 ** 2 == 512", "2 ** 3 ** 2 == 512"),
    ("(2 ** 3) ** 2 == 64", "(2 ** 3) ** 2 == 64"),
    ("a & 3 | b ^ 1 << 2 >> 1 == ~c", "a & 3 | b ^ 1 << 2 >> 1 == ~c"),
    ("a / 2.0 == 3.0", "a / 2.0 == 3"),
    ("-a == -3", "0 - a == -3"),
    ("a- -1 == -1.5e3", "a - -1 == -1500"),
    ("add:to:(1, a) == multiply:by:(a, 2)", "1 + a == a * 2"),
    ("modulus:by:(a, 2) == 1", "modulus:by:(a, 2) == 1"),
    ("sum:(1,1) = 2 AND now() > date", "sum(1, 1) == 2 AND now() > date"),
    ("noindex:(a) == 1", "noindex(a) == 1"),
    ("#3 == a.#4", "#3 == a.#4"),
    ("a %% 3 + 1 == 2", "modulus:by:(a, 3) + 1 == 2"),
    ("$x := a + 1 > 3 AND $x < 5", "$x := a + 1 > 3 AND $x < 5"),
    ("($x := a) * 2 == 6", "($x := a) * 2 == 6"),
    ("$x := 3.0 > 1 AND $x / 2 == 1.5", "$x := 3.0 > 1 AND $x / 2 == 1.5"),
    ("FUNCTION(a.b, 'valueForKeyPath:', 'c.@count') == 1", "a.b.c.@count == 1"),
    ("FUNCTION(SELF, 'valueForKeyPath:', 'a') == 1", "SELF.a == 1"),
    ("SELF IN fetch($request, $context, no)", "SELF IN FETCH($request, $context, NO)"),
    ("fetch == 1", "fetch == 1"),
    (
      "distanceToLocation:fromLocation:(SELF, {52.5, 13.4}) < 1000",
      "distanceToLocation:fromLocation:(SELF, {52.5, 13.4}) < 1000"
    ),
    (
      "FUNCTION('a', \"substringFromIndex:\", 2) == 'x'",
      "FUNCTION(\"a\", \"substringFromIndex:\", 2) == \"x\""
    ),
    ("CAST(b, 'NSString') == '3'", "CAST(b, \"NSString\") == \"3\""),
    ("CAST(1.5, 'NSDate') < d", "CAST(1.500000, \"NSDate\") < d"),
    ("TERNARY(a > b OR c == 1, a, b) == 1", "TERNARY(a > b OR c == 1, a, b) == 1"),
    (
      "a[FIRST] == b[LAST].c AND a[first.x] == d['k'][0]",
      "a[FIRST] == b[LAST].c AND a[first.x] == d[\"k\"][0]"
    ),
    ("a[#first] == 1", "a[#first] == 1"),
    ("size == 2 AND first == last", "size == 2 AND first == last"),
    ("a UNION {'b'} == c MINUS (d INTERSECT e)", "a UNION {\"b\"} == c MINUS (d INTERSECT e)"),
    ("$x.$y.z == $x", "$x.$y.z == $x"),
    ("'it\\'s' == \"\\u00e9\\n\\\"\"", "\"it's\" == \"é\\n\\\"\""),
    ("self isKindOfClass: 'Mood'", "SELF isKindOfClass: \"Mood\""),
    ("uti UTI-CONFORMS-TO 'public.text'", "uti UTI-CONFORMS-TO \"public.text\""),
    ("ANY types UTI-CONFORMS-TO 'a.b'", "ANY types UTI-CONFORMS-TO \"a.b\""),
    ("NONE a isEqual: 1 OR ALL a isEqual: 2", "NOT ANY a isEqual: 1 OR ALL a isEqual: 2"),
    ("0x1F == 0b11 AND 0o17 == .5", "31 == 3 AND 15 == 0.5"),
    (
      "9223372036854775807 > -9223372036854775808",
      "9223372036854775807 > -9223372036854775808"
    ),
    ("18446744073709551615 == a", "18446744073709551615 == a"),
    ("a == 0.1234567890123456789", "a == 0.1234567890123456789"),
    ("{} == {{1}, {a}}", "{} == {{1}, {a}}"),
    ("ÄÖ.名前 == 1", "ÄÖ.名前 == 1"),
  ]

  @Test(arguments: formats)
  func formatsPrintCanonicallyAndRoundTrip(format: String, printed: String) throws {
    let predicate = try NSPredicate.parse(format, arguments: [])
    #expect(predicate.predicateFormat == printed)
    let again = try NSPredicate.parse(predicate.predicateFormat, arguments: [])
    #expect(again == predicate)
    #expect(again.hash == predicate.hash)
  }

  @Test func placeholdersAreReplacedByArgumentsInOrder() {
    let date = Date(timeIntervalSinceReferenceDate: 1.5)
    let object = NSPredicate(
      format: "%K == %@ AND %K.%K > %ld AND d < %@ AND $x.%K == nil AND f >= %la AND u != %lu",
      "self.a", "x", "country", "code", 3, date, "k", 25.68, UInt(7))
    #expect(
      object.predicateFormat
        == "#self.a == \"x\" AND country.code > 3 AND d < CAST(1.500000, \"NSDate\") "
        + "AND $x.k == nil AND f >= 25.68 AND u != 7")
    #expect(NSPredicate(format: "a == %@", nil).predicateFormat == "a == nil")
    #expect(NSPredicate(format: "%K == %@", "self", 3 as NSNumber).predicateFormat == "SELF == 3")
    #expect(NSPredicate(format: "a IN %@", [3, 1]).predicateFormat == "a IN {3, 1}")
    #expect(NSPredicate(format: "a IN %@", Set([3, 1, 2])).predicateFormat == "a IN {1, 2, 3}")
    #expect(
      NSPredicate(format: "a == %@ AND b == %d", argumentArray: [1, 2.0]).predicateFormat
        == "a == 1 AND b == 2")
    #expect(
      NSPredicate(format: "a == 1 OR %@", NSPredicate(value: true)).predicateFormat
        == "a == 1 OR TRUEPREDICATE")
  }

  @Test(arguments: [
    Date(timeIntervalSinceReferenceDate: 0.1 + 0.2) as any Sendable,
    Date(timeIntervalSinceReferenceDate: -.infinity), Data([0, 255, 7]), UUID(),
    Decimal(string: "3.3000000000000000000001") ?? 0, Decimal(string: "0.1") ?? 0, UInt64.max,
    0.1, 1e300, -0.0, Double.infinity, "a\\b\"c'd\n\té", true, Int8(-3), Float(1.5),
    [1, 2, 3], ["b", "a"], Set(["b", "a"]), URL(string: "https://example.org/a?b") ?? 0,
  ])
  func printedConstantsRoundTrip(constant: any Sendable) throws {
    let predicate = NSPredicate(format: "a == %@", argumentArray: [constant])
    let again = try NSPredicate.parse(predicate.predicateFormat, arguments: [])
    #expect(again == predicate, "\(predicate)")
    #expect(again.hash == predicate.hash)
  }

  @Test func controlCharactersArePrintedAsEscapes() throws {
    let predicate = NSPredicate(format: "a == %@", "\0x\u{1F}\u{FFFF}")
    #expect(predicate.predicateFormat == #"a == "\u0000x\u001f\uffff""#)
    #expect(try NSPredicate.parse(predicate.predicateFormat, arguments: []) == predicate)
  }

  /// Decimals aren't computed like integers or floating-point numbers.
  @Test(
    arguments: [
      ("%@ / 2 == 1.5", 3), ("%@ + 0.2 == 0.3", Decimal(string: "0.1") ?? 0),
      ("0 - %@ < a", Decimal(UInt64.max)), ("a / {%@, 1}[0] > 1", 9_007_199_254_740_993),
    ] as [(String, Decimal)])
  func printedDecimalsStayDecimals(format: String, number: Decimal) throws {
    let predicate = NSPredicate(format: format, argumentArray: [number])
    let again = try NSPredicate.parse(predicate.predicateFormat, arguments: [])
    #expect(again == predicate, "\(predicate)")
    var decimals = 0
    again.forEachExpression { expression in
      if case .constant(.decimal(let found)) = expression.node, found == number { decimals += 1 }
    }
    #expect(decimals == 1, "\(predicate)")
  }

  @Test func parsedPredicatesEqualConstructedOnes() throws {
    let built = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "age"),
      rightExpression: NSExpression(forConstantValue: 32),
      modifier: .direct, type: .equalTo, options: [])
    let parsed = NSPredicate(format: "%K == %ld", "age", 32)
    #expect(parsed == built)
    #expect(parsed.predicateFormat == built.predicateFormat)
    let comparison = try #require(parsed as? NSComparisonPredicate)
    #expect(comparison.leftExpression.expressionType == .keyPath)
    #expect(comparison.leftExpression.keyPath == "age")
    #expect(comparison.rightExpression.constantValue as? Int == 32)
    let both = NSCompoundPredicate(andPredicateWithSubpredicates: [parsed])
    #expect(both == parsed)
    #expect(NSPredicate(format: "NOT a == 1") is NSCompoundPredicate)
    #expect(
      NSCompoundPredicate(orPredicateWithSubpredicates: []) == NSPredicate(value: false))
    #expect(NSExpression(format: "price * %d", 2).function == "multiply:by:")
    #expect(
      NSExpression(forFunction: "average:", arguments: [NSExpression(forKeyPath: "population")])
        .description == "average(population)")
  }

  @Test func setEqualsItsSortedList() {
    let set = NSPredicate(format: "a IN %@", Set(["c", "a", "b"]))
    #expect(set == NSPredicate(format: "a IN {'a', 'b', 'c'}"))
    #expect(set != NSPredicate(format: "a IN {'b', 'a', 'c'}"))
  }

  @Test func variablesAreReplacedExceptThoseOfSubqueries() {
    let template = NSPredicate(
      format: "a == $x AND SUBQUERY(b, $x, $x.c == $y).@count > 0 AND $k.z")
    let filled = template.withSubstitutionVariables([
      "x": 1, "y": "t", "k": NSExpression(forKeyPath: "m"),
    ])
    #expect(
      filled.predicateFormat
        == "a == 1 AND SUBQUERY(b, $x, $x.c == \"t\").@count > 0 AND m.z == 1")
    #expect(template.predicateFormat.hasPrefix("a == $x"))
  }

  @Test func placeholdersWithoutArgumentsAreListed() throws {
    let format = "%K.%K == %@ AND SUBQUERY(%K, $x, $x.n > %ld).@count > 0 AND a IN {%d, 3}"
    let predicate = try NSPredicate.parse(format)
    #expect(predicate.placeholders == ["%K", "%K", "%@", "%K", "%ld", "%d"])
    #expect(predicate.predicateFormat == format)
    #expect(try NSPredicate.parse("a == 'x%@'", arguments: []).placeholders.isEmpty)
  }

  @Test func parsedPredicateHasTheExpectedTree() throws {
    let predicate = try NSPredicate.parse("a == 1 AND (TRUEPREDICATE OR NOT b[0].c IN {1, $x})")
    guard case .compound(.and, let parts) = predicate.form, parts.count == 2,
      case .comparison(let first) = parts[0].form,
      case .keyPath(let path) = first.leftExpression.node,
      case .constant(.integer(1)) = first.rightExpression.node,
      case .compound(.or, let inner) = parts[1].form, case .constant(true) = inner[0].form,
      case .compound(.not, let negated) = inner[1].form,
      case .comparison(let last) = negated[0].form,
      case .path(let operand, _) = last.leftExpression.node,
      case .subscripted(_, .expression) = operand.node,
      case .aggregate(let elements) = last.rightExpression.node,
      case .variable("x") = elements[1].node
    else {
      Issue.record("\(predicate)")
      return
    }
    #expect(path.onlyKey == "a" && last.predicateOperatorType == .in)
    #expect(last.leftExpression.expressionType == .function)
  }
}

extension NSPredicate {
  /// The placeholders that have no argument, in order.
  fileprivate var placeholders: [String] {
    var found: [String] = []
    forEachExpression { expression in
      switch expression.node {
      case .constant(.placeholder(let text)): found.append(text)
      case .keyPath(let path):
        found += path.components.filter { $0 == .placeholder }.map { _ in "%K" }
      default: break
      }
    }
    return found
  }
}
