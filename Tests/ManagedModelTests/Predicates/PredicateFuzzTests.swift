import ManagedModel
import Testing

/// Formats of random pieces must not crash, and those that can be parsed must round-trip.
struct PredicateFuzzTests {
  static let pieces = [
    "a", "b.c", "SELF", "nil", "YES", "3", "-2.5", "1e3", "'x'", "\"é\"", "%@", "%K", "%ld", "$x",
    "$x.y", "d[0]", "e[FIRST]", "f.@count", "@sum.a", "#in", "{1, 2}", "{}", "(", ")", "[", "]",
    "{", "}", ",", ".", "==", "!=", "<", ">=", "=<", "<>", "BEGINSWITH[cd]", "CONTAINS", "IN",
    "BETWEEN", "LIKE[n]", "MATCHES", "AND", "OR", "NOT", "&&", "||", "!", "ANY", "ALL", "NONE", "+",
    "-", "*", "/", "**", "&", "|", "^", "~", "<<", "UNION", "MINUS", "sum(a)", "now()",
    "modulus:by:(a, 2)", "SUBQUERY(a, $x, $x.b == 1)", "TERNARY(a == 1, b, c)", "TRUEPREDICATE",
    "FUNCTION(a, 'length')", "CAST(3, 'NSDate')", "'", "\\", "%", "$", "@", "isEqual:",
  ]

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func randomFormatsParseOrReportAPosition(seed: UInt64) throws {
    var numbers = SplitMix(state: seed)
    var parsed = 0
    for _ in 0..<4_000 {
      let format = Self.format(&numbers)
      do throws(PredicateSyntaxError) {
        let predicate = try NSPredicate.parse(format)
        parsed += 1
        let printed = predicate.predicateFormat
        let again = try NSPredicate.parse(printed)
        #expect(again == predicate, "seed \(seed): \(format) → \(printed)")
        #expect(again.predicateFormat == printed, "seed \(seed): \(format)")
        _ = try? predicate.evaluation(of: ["a": 1, "e": [1, 2]], variables: ["x": "y"])
      } catch {
        #expect(error.column >= 1 && error.column <= format.count + 1, "seed \(seed): \(format)")
        #expect(!error.caret().isEmpty)
      }
    }
    #expect(parsed > 200, "seed \(seed): too few of the formats were correct: \(parsed)")
  }

  /// Formats with changed, removed, and inserted characters, for `CDPROF_FUZZ_SECONDS`.
  @Test func corruptFormatsParseOrReportAPosition() throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["CDPROF_FUZZ_SECONDS"].flatMap(Double.init) ?? 0
    let first = environment["CDPROF_RANDOM_FIRST"].flatMap(UInt64.init) ?? 1
    let end = ContinuousClock.now + .seconds(seconds)
    var (seed, parsed) = (first, 0)
    repeat {
      var numbers = SplitMix(state: seed)
      for _ in 0..<4_000 {
        let format = Self.corrupted(Self.format(&numbers), &numbers)
        do throws(PredicateSyntaxError) {
          let predicate = try NSPredicate.parse(format)
          parsed += 1
          let again = try NSPredicate.parse(predicate.predicateFormat)
          if again != predicate { Issue.record("seed \(seed): \(format) → \(predicate)") }
          _ = predicate.withSubstitutionVariables(["x": 1])
          _ = try? predicate.evaluation(of: ["a": "b", "d": ["k": 1]], variables: ["x": [1, 2]])
        } catch {
          if error.column < 1 || error.column > format.count + 1 {
            Issue.record("seed \(seed): column \(error.column) of \(format)")
          }
        }
      }
      seed += 1
    } while ContinuousClock.now < end
    #expect(parsed > 40, "seeds \(first)..<\(seed): \(parsed)")
  }

  private static func corrupted(_ format: String, _ numbers: inout SplitMix) -> String {
    var characters = Array(format.unicodeScalars)
    let strange: [Unicode.Scalar] = [
      "\0", "\u{301}", "\u{1F600}", "\u{FFFD}", "'", "\"", "\\", "[", "{", "(", "%", "@", "$", "#",
      ":",
      ".", "-", "9", "e", "x", "=", "&", "|", "\n", "é",
    ]
    for _ in 0..<Int.random(in: 1...4, using: &numbers) {
      let place = Int.random(in: 0...characters.count, using: &numbers)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0 where place < characters.count: characters.remove(at: place)
      case 1 where place < characters.count:
        characters[place] = strange.randomElement(using: &numbers) ?? "x"
      case 2:
        let start = Int.random(in: 0...characters.count, using: &numbers)
        let part = characters[Swift.min(start, place)..<Swift.max(start, place)]
        characters.insert(contentsOf: Array(part), at: place)
      default: characters.insert(strange.randomElement(using: &numbers) ?? "x", at: place)
      }
    }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: characters)
    return String(text)
  }

  /// A few conditions joined by operators, sometimes with an extra piece.
  private static func format(_ numbers: inout SplitMix) -> String {
    var words: [String] = []
    for index in 0..<Int.random(in: 1...3, using: &numbers) {
      if index > 0 { words.append(["AND", "OR", "&&"].randomElement(using: &numbers) ?? "AND") }
      words += [value(&numbers, 0), sign(&numbers), value(&numbers, 0)]
    }
    if Int.random(in: 0..<3, using: &numbers) == 0 {
      let place = Int.random(in: 0...words.count, using: &numbers)
      words.insert(pieces.randomElement(using: &numbers) ?? "a", at: place)
    }
    return words.joined(separator: Bool.random(using: &numbers) ? " " : "  ")
  }

  private static func sign(_ numbers: inout SplitMix) -> String {
    pieces[30...41].randomElement(using: &numbers) ?? "=="
  }

  private static func value(_ numbers: inout SplitMix, _ depth: Int) -> String {
    if depth < 4, Int.random(in: 0..<3, using: &numbers) == 0 {
      let infix = ["+", "-", "*", "/", "**", "&", "|", "^", "<<", "UNION", "MINUS"]
      let text =
        value(&numbers, depth + 1) + " " + (infix.randomElement(using: &numbers) ?? "+") + " "
        + value(&numbers, depth + 1)
      return Bool.random(using: &numbers) ? "(" + text + ")" : text
    }
    return pieces[0...21].randomElement(using: &numbers) ?? "a"
  }
}
