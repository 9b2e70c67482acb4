/// Generates random predicates.
struct RandomPredicates<Source: RandomNumberGenerator> {
  var random: Source

  init(_ random: Source) {
    self.random = random
  }

  mutating func next(depth: Int = 3) -> RandomPredicate {
    switch depth == 0 ? 9 : Int.random(in: 0...9, using: &random) {
    case 0, 1:
      let (left, right) = (next(depth: depth - 1), next(depth: depth - 1))
      let word = pick(["AND", "&&", "and"])
      return RandomPredicate(format: "(\(left.format)) \(word) (\(right.format))") {
        left.matches($0) && right.matches($0)
      }
    case 2, 3:
      let (left, right) = (next(depth: depth - 1), next(depth: depth - 1))
      let word = pick(["OR", "||", "Or"])
      return RandomPredicate(format: "(\(left.format)) \(word) (\(right.format))") {
        left.matches($0) || right.matches($0)
      }
    case 4:
      let inner = next(depth: depth - 1)
      return RandomPredicate(format: "\(pick(["NOT", "!", "not"])) (\(inner.format))") {
        !inner.matches($0)
      }
    default: return comparison()
    }
  }

  private mutating func comparison() -> RandomPredicate {
    switch Int.random(in: 0...9, using: &random) {
    case 0, 1, 2: return number()
    case 3, 4, 5: return text()
    case 6: return list()
    case 7: return subquery()
    case 8: return aggregate()
    default: return null()
    }
  }

  // MARK: Numbers

  private mutating func numeric(_ depth: Int = 2) -> (text: String, value: (RandomRow) -> Double?) {
    switch depth == 0
      ? Int.random(in: 0...4, using: &random) : Int.random(in: 0...7, using: &random)
    {
    case 0: return ("age", { $0.age.map(Double.init) })
    case 1: return ("size", \.size)
    case 2: return ("boss.age", { $0.boss?.age.map(Double.init) })
    case 3: return ("SELF.boss.boss.size", { $0.boss?.boss?.size })
    case 4:
      let value = Int.random(in: -3...6, using: &random)
      return ("\(value)", { _ in Double(value) })
    case 5:
      let (left, right) = (numeric(depth - 1), numeric(depth - 1))
      return ("(\(left.text) + \(right.text))", Self.both(left.value, right.value, +))
    case 6:
      let (left, right) = (numeric(depth - 1), numeric(depth - 1))
      return ("(\(left.text) - \(right.text))", Self.both(left.value, right.value, -))
    default:
      let (left, right) = (numeric(depth - 1), numeric(depth - 1))
      return ("\(left.text) * \(right.text)", Self.both(left.value, right.value, *))
    }
  }

  private static func both(
    _ left: @escaping (RandomRow) -> Double?, _ right: @escaping (RandomRow) -> Double?,
    _ operation: @escaping (Double, Double) -> Double
  ) -> (RandomRow) -> Double? {
    { row in
      guard let left = left(row), let right = right(row) else { return nil }
      return operation(left, right)
    }
  }

  private mutating func number() -> RandomPredicate {
    let (left, right) = (numeric(), numeric())
    if Int.random(in: 0...4, using: &random) == 0 {
      let upper = numeric(0)
      return RandomPredicate(
        format: "\(left.text) BETWEEN {\(right.text), \(upper.text)}"
      ) { row in
        guard let value = left.value(row), let lower = right.value(row),
          let upper = upper.value(row)
        else { return false }
        return lower <= value && value <= upper
      }
    }
    let sign = pick(["==", "=", "!=", "<>", "<", "<=", "=<", ">", ">=", "=>"])
    return RandomPredicate(format: "\(left.text) \(sign) \(right.text)") { row in
      let (left, right) = (left.value(row), right.value(row))
      switch sign {
      case "==", "=": return left == right
      case "!=", "<>": return left != right
      default: break
      }
      guard let left, let right else {
        return left == nil && right == nil && sign.contains("=")
      }
      switch sign {
      case "<": return left < right
      case ">": return left > right
      case "<=", "=<": return left <= right
      default: return left >= right
      }
    }
  }

  // MARK: Strings

  private mutating func text() -> RandomPredicate {
    let path: (String, (RandomRow) -> String?) =
      Bool.random(using: &random) ? ("name", \.name) : ("boss.name", { $0.boss?.name })
    let word = pick(RandomRow.texts)
    let sign = pick(["==", "!=", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "<", ">="])
    // Case-insensitive order uses Unicode collation, which plain Swift doesn't have.
    let isFolded = Bool.random(using: &random) && sign != "<" && sign != ">="
    let option = isFolded ? "[c]" : ""
    return RandomPredicate(format: "\(path.0) \(sign)\(option) '\(word)'") { row in
      guard let value = path.1(row) else { return sign == "!=" }
      let (text, part) =
        isFolded ? (value.lowercased(), word.lowercased()) : (value, word)
      return Self.matches(sign, Array(text.unicodeScalars), Array(part.unicodeScalars))
    }
  }

  private static func matches(
    _ sign: String, _ text: [Unicode.Scalar], _ part: [Unicode.Scalar]
  ) -> Bool {
    switch sign {
    case "==": text == part
    case "!=": text != part
    case "BEGINSWITH": text.starts(with: part)
    case "ENDSWITH": text.reversed().starts(with: part.reversed())
    case "CONTAINS":
      part.isEmpty || text.indices.contains { text[$0...].starts(with: part) }
    case "LIKE": like(text[...], part[...])
    case "<": text.lexicographicallyPrecedes(part)
    default: !text.lexicographicallyPrecedes(part)
    }
  }

  private static func like(
    _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
  ) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    switch first {
    case "*":
      return (text.startIndex...text.endIndex).contains { like(text[$0...], pattern.dropFirst()) }
    case "?": return !text.isEmpty && like(text.dropFirst(), pattern.dropFirst())
    default: return text.first == first && like(text.dropFirst(), pattern.dropFirst())
    }
  }

  // MARK: Collections

  private mutating func list() -> RandomPredicate {
    let word = pick(RandomRow.texts)
    switch Int.random(in: 0...5, using: &random) {
    case 0: return RandomPredicate(format: "ANY tags == '\(word)'") { $0.tags.contains(word) }
    case 1:
      return RandomPredicate(format: "NONE members.name == '\(word)'") { row in
        !row.members.contains { $0.name == word }
      }
    case 2:
      let limit = Int.random(in: -2...5, using: &random)
      return RandomPredicate(format: "ALL members.age > \(limit)") { row in
        row.members.allSatisfy { ($0.age).map { $0 > limit } ?? false }
      }
    case 3: return RandomPredicate(format: "tags CONTAINS '\(word)'") { $0.tags.contains(word) }
    case 4:
      let other = pick(RandomRow.texts)
      return RandomPredicate(format: "name IN {'\(word)', '\(other)'}") { row in
        row.name == word || row.name == other
      }
    default:
      let count = Int.random(in: 0...3, using: &random)
      return RandomPredicate(format: "members.@count \(pick(["==", "="])) \(count)") {
        $0.members.count == count
      }
    }
  }

  private mutating func subquery() -> RandomPredicate {
    let (limit, word) = (Int.random(in: -2...5, using: &random), pick(RandomRow.texts))
    let count = Int.random(in: 0...2, using: &random)
    return RandomPredicate(
      format: "SUBQUERY(members, $m, $m.age < \(limit) OR $m.name == '\(word)').@count > \(count)"
    ) { row in
      row.members.count { member in
        (member.age).map { $0 < limit } ?? false || member.name == word
      } > count
    }
  }

  private mutating func aggregate() -> RandomPredicate {
    let limit = Int.random(in: -3...8, using: &random)
    switch Int.random(in: 0...2, using: &random) {
    case 0:
      return RandomPredicate(format: "members.@sum.age >= \(limit)") { row in
        row.members.reduce(0) { $0 + ($1.age ?? 0) } >= limit
      }
    case 1:
      return RandomPredicate(format: "members.@max.age == \(limit)") { row in
        row.members.compactMap(\.age).max() == limit
      }
    default:
      return RandomPredicate(format: "members.@min.size < \(limit)") { row in
        row.members.compactMap(\.size).min().map { $0 < Double(limit) } ?? false
      }
    }
  }

  private mutating func null() -> RandomPredicate {
    switch Int.random(in: 0...3, using: &random) {
    case 0: RandomPredicate(format: "name == nil") { $0.name == nil }
    case 1: RandomPredicate(format: "boss.age != NULL") { $0.boss?.age != nil }
    case 2: RandomPredicate(format: "isOpen != YES") { $0.isOpen != true }
    default: RandomPredicate(format: "isOpen") { $0.isOpen == true }
    }
  }

  private mutating func pick(_ values: [String]) -> String {
    values.randomElement(using: &random) ?? ""
  }
}
