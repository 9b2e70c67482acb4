/// Makes random predicates over the library's items.
struct PredicateGrammar {
  var random: SeededRandom

  /// A format string, and the key paths whose nils SQL and memory may treat differently because
  /// they're inside a negation.
  mutating func predicate(depth: Int = 3, isNegated: Bool = false) -> (
    format: String, negated: [String]
  ) {
    switch depth == 0 ? 9 : Int.random(in: 0...9, using: &random) {
    case 0, 1, 2, 3:
      let left = predicate(depth: depth - 1, isNegated: isNegated)
      let right = predicate(depth: depth - 1, isNegated: isNegated)
      let word = Bool.random(using: &random) ? "AND" : "OR"
      return ("(\(left.format)) \(word) (\(right.format))", left.negated + right.negated)
    case 4:
      let inner = predicate(depth: depth - 1, isNegated: true)
      return ("NOT (\(inner.format))", inner.negated)
    default:
      let (format, paths, negates) = comparison()
      return (format, negates || isNegated ? paths : [])
    }
  }

  private mutating func comparison() -> (format: String, paths: [String], negates: Bool) {
    switch Int.random(in: 0...8, using: &random) {
    case 0, 1: return text()
    case 2, 3: return number()
    case 4: return toMany()
    case 5:
      let path = pick(["author", "author.mentor", "title", "weight", "author.name"])
      return ("\(path) \(pick(["==", "!="])) nil", [], false)
    case 6:
      let sign = pick(["==", "!="])
      return ("isLent \(sign) \(pick(["YES", "NO"]))", ["isLent"], sign == "!=")
    case 7:
      let path = pick(["title", "author.name"])
      let list = "{'\(word())', '\(word())'}"
      return ("\(path) IN \(list)", [path], false)
    default:
      return ("weight \(pick(["<", ">"])) author.age + 1", ["weight", "author.age"], false)
    }
  }

  private mutating func text() -> (String, [String], Bool) {
    let path = pick(["title", "author.name", "author.mentor.name"])
    let sign = pick([
      "==", "!=", "<", ">", "BEGINSWITH", "ENDSWITH", "CONTAINS", "==[cd]", "BEGINSWITH[c]",
      "CONTAINS[cd]", "BEGINSWITH[n]", "ENDSWITH[d]", "<[c]",
    ])
    if Int.random(in: 0...5, using: &random) == 0 {
      let pattern = pick(["a*", "*b?", "?", "*", "ab*"])
      return ("\(path) LIKE\(pick(["", "[c]"])) '\(pattern)'", [path], false)
    }
    return ("\(path) \(sign) '\(word())'", [path], sign == "!=")
  }

  private mutating func number() -> (String, [String], Bool) {
    let path = pick(["weight", "author.age", "author.mentor.age"])
    if Int.random(in: 0...3, using: &random) == 0 {
      return ("\(path) BETWEEN {1, 2.5}", [path], false)
    }
    let sign = pick(["==", "!=", "<", "<=", ">", ">="])
    let value = pick(["0", "1", "2", "2.5", "3"])
    return ("\(path) \(sign) \(value)", [path], sign == "!=")
  }

  private mutating func toMany() -> (String, [String], Bool) {
    let word = word()
    switch Int.random(in: 0...5, using: &random) {
    case 0: return ("ANY tags.name == '\(word)'", [], false)
    case 1: return ("NONE tags.name BEGINSWITH '\(word)'", [], false)
    case 2: return ("ALL tags.name > '\(word)'", [], false)
    case 3: return ("tags.@count > \(pick(["0", "1", "2"]))", [], false)
    case 4: return ("ANY tags.name IN {'\(word)', 'ab'}", [], false)
    default:
      return ("SUBQUERY(tags, $t, $t.name < '\(word)' OR $t.name == 'abc').@count != 1", [], false)
    }
  }

  private mutating func word() -> String {
    pick(LibraryRows.texts)
  }

  private mutating func pick(_ values: [String]) -> String {
    values.randomElement(using: &random) ?? ""
  }
}
