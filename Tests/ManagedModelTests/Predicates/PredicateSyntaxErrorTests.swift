import ManagedModel
import Testing

/// Every syntax error has a column and a message.
struct PredicateSyntaxErrorTests {
  @Test(arguments: [
    ("", 1, "empty", nil),
    ("a ==", 5, "is incomplete", nil),
    ("a == 'x", 6, "isn't terminated", nil),
    ("name BEGINWITH 'x'", 6, "BEGINWITH", "BEGINSWITH"),
    ("a == 1 adn b == 2", 8, "adn", "AND"),
    ("a = 1 AND", 10, "is incomplete", nil),
    ("(a == 1", 8, "is incomplete", nil),
    ("a == 1)", 7, ")", nil),
    ("a == 1 2", 8, "2", nil),
    ("a.@cuont > 2", 3, "@cuont", "@count"),
    ("avrage(a) > 2", 1, "avrage", "average"),
    ("modulus:by:(a) > 2", 1, "1 argument", nil),
    ("a ==[x] 'b'", 6, "“x”", nil),
    ("ÄÖ ==[cy] 'b'", 8, "“y”", nil),
    ("a isEqual:[c] 'b'", 11, "isEqual: has no options", nil),
    ("in == 3", 1, "reserved", nil),
    ("a == 3x", 6, "isn't a number", nil),
    ("a == %", 6, "placeholder", nil),
    ("a == %y", 6, "placeholder", nil),
    ("a == $", 6, "without a name", nil),
    ("a == @", 6, "without a name", nil),
    ("a == 1 ; b", 8, "no meaning", nil),
    ("SUBQUERY(a, x, x > 1).@count", 13, "x", nil),
    ("TERNARY(a, 1) == 2", 13, ")", nil),
    ("(a == 1) == 2", 1, "condition", nil),
    ("a IN {1, 2", 11, "is incomplete", nil),
    ("a == (b == 2)", 6, "condition", nil),
    ("CAST('?', 'NSData') == a", 11, "NSData", nil),
    ("CAST('x', 'NSDatee') == a", 11, "NSDatee", "NSDate"),
    ("CAST('zz', 'NSUUID') == a", 12, "NSUUID", nil),
    ("1", 2, "is incomplete", nil),
    ("FUNCTION(a, b) == 1", 13, "isn't a string", nil),
    ("ANY a", 6, "is incomplete", nil),
    ("a == \\", 6, "no meaning", nil),
    ("a == '\\u+041'", 7, "isn't a character", nil),
    // A surrogate that isn't in a pair.
    ("a == 'x\\uD83D'", 8, "isn't a character", nil),
    ("a == '\\uD83Dx'", 7, "isn't a character", nil),
    ("a == '\\uD83D\\u0041'", 7, "isn't a character", nil),
    ("a == '\\uD83D\\uD83D\\uDE00'", 7, "isn't a character", nil),
    ("a == 'x\\uDE00\\uD83D'", 8, "isn't a character", nil),
  ])
  func syntaxErrorsReportPositionAndHint(
    format: String, column: Int, part: String, suggestion: String?
  ) {
    let error = #expect(throws: PredicateSyntaxError.self) {
      try NSPredicate.parse(format, arguments: [])
    }
    #expect(error?.column == column)
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    #expect(error?.suggestion == suggestion)
    let lines = error?.caret().split(separator: "\n", omittingEmptySubsequences: false) ?? []
    #expect(lines.count == 2)
    #expect(lines.last?.count == column)
  }

  @Test func invalidArgumentsReportPositionAndReason() {
    let rows: [(String, [Any?], Int, String)] = [
      ("a == %@", [], 6, "no argument"),
      ("%K == 1", [3], 1, "Int"),
      ("a == 1 AND %K == 1", ["b..c"], 12, "b..c"),
      ("a.%K > 1", ["@cuont"], 3, "@cuont"),
      ("n == %d", ["x"], 6, "String"),
      ("n == %d", [2.5], 6, "Double"),
      ("n == %f", [nil], 6, "nil"),
    ]
    for (format, arguments, column, part) in rows {
      let error = #expect(throws: PredicateSyntaxError.self) {
        try NSPredicate.parse(format, arguments: arguments)
      }
      #expect(error?.column == column, "\(format)")
      #expect(error?.message.contains(part) == true, "\(format): \(error?.message ?? "")")
    }
  }

  @Test func caretMarksThePositionInALongFormat() throws {
    let format = String(repeating: "a == 1 AND ", count: 40) + "b =! 2 AND c == 3"
    let error = #expect(throws: PredicateSyntaxError.self) { try NSPredicate.parse(format) }
    let lines = try #require(error).caret().split(separator: "\n").map(Array.init)
    #expect(lines[0][lines[1].count - 1] == "!")
    #expect(lines[0].count < 110)
    #expect(error?.column == 444)
  }

  @Test(arguments: [
    "(", "NOT ", "{", "a[", "TERNARY(", "SUBQUERY(", "-", "~", "FUNCTION(", "sum(", "$x := ",
    "FETCH(",
  ])
  func deepNestingThrows(opening: String) {
    let format = String(repeating: opening, count: 10_000) + "a == 1"
    let error = #expect(throws: PredicateSyntaxError.self) { try NSPredicate.parse(format) }
    #expect(error?.message.contains("nested more than 200 deep") == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [" + 1", "[0]", ".$x", " ** 2"])
  func longChainsAreErrors(link: String) {
    let format = "a" + String(repeating: link, count: 10_000) + " == 1"
    let error = #expect(throws: PredicateSyntaxError.self) { try NSPredicate.parse(format) }
    #expect(error?.message.contains("nested more than 200 deep") == true, "\(error?.message ?? "")")
  }

  /// The printed text has up to two parentheses for each level.
  @Test(arguments: [
    "a == " + String(repeating: "-", count: 190) + "b",
    "a == " + String(repeating: "~", count: 190) + "b",
    String(repeating: "NOT ", count: 190) + "a == 1",
    "a == " + String(repeating: "b - (", count: 190) + "c" + String(repeating: ")", count: 190),
    String(repeating: "a == 1 AND (b == 2 OR (", count: 95) + "c == 3"
      + String(repeating: "))", count: 95),
  ])
  func printedTextOfADeepTreeIsParsed(format: String) throws {
    let predicate = try NSPredicate.parse(format)
    #expect(try NSPredicate.parse(predicate.predicateFormat) == predicate)
  }

  @Test func wideFormatsAreNotLimited() throws {
    let format = Array(repeating: "a == 1", count: 10_000).joined(separator: " AND ")
    let predicate = try #require(try NSPredicate.parse(format) as? NSCompoundPredicate)
    #expect(predicate.predicates.count == 10_000)
    #expect(predicate.evaluate(with: ["a": 1]))
  }

  @Test func treeOfMaximumDepthCanBeUsed() throws {
    // The comparison is one level, and its operands are another.
    let count = ModelLimits.predicateDepth - 2
    let format =
      String(repeating: "NOT (", count: count) + "a == 1" + String(repeating: ")", count: count)
    let predicate = try NSPredicate.parse(format)
    #expect(predicate.evaluate(with: ["a": count.isMultiple(of: 2) ? 1 : 2]))
    #expect(try NSPredicate.parse(predicate.predicateFormat) == predicate)
    #expect(throws: PredicateSyntaxError.self) { try NSPredicate.parse("NOT " + format) }
  }
}
