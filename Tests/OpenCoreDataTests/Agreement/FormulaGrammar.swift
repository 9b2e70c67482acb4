/// Generates random conditions over the warehouse's items.
struct FormulaGrammar {
  var random: SeededRandom

  /// The object that a condition's key paths start from.
  enum Root {
    case item
    case part
  }

  mutating func condition(_ depth: Int, _ root: Root = .item) -> Condition {
    switch depth == 0 ? 9 : Int.random(in: 0...9, using: &random) {
    case 0, 1, 2:
      let (left, right) = (condition(depth - 1, root), condition(depth - 1, root))
      return Condition("(\(left.format)) AND (\(right.format))") {
        Logic.and(left.answer($0, $1), right.answer($0, $1))
      }
    case 3, 4:
      let (left, right) = (condition(depth - 1, root), condition(depth - 1, root))
      return Condition("(\(left.format)) OR (\(right.format))") {
        Logic.or(left.answer($0, $1), right.answer($0, $1))
      }
    case 5:
      let inner = condition(depth - 1, root)
      return Condition("NOT (\(inner.format))") { Logic.not(inner.answer($0, $1)) }
    default: return root == .part ? partComparison() : comparison(depth)
    }
  }

  private mutating func comparison(_ depth: Int) -> Condition {
    switch Int.random(in: 0...10, using: &random) {
    case 10: return otherKinds()
    case 0, 1, 2: return numbers(depth)
    case 3, 4: return texts()
    case 5: return nils()
    case 6: return quantified()
    case 7: return subquery(depth)
    case 8: return members()
    default: return singles()
    }
  }

  // MARK: Comparisons

  private mutating func numbers(_ depth: Int) -> Condition {
    let left = number(depth)
    if Int.random(in: 0...4, using: &random) == 0 {
      let (low, high) = (number(0), number(0))
      let isConstant = left.isConstant && low.isConstant && high.isConstant
      return Condition(
        "\(left.format) BETWEEN {\(low.format), \(high.format)}", isConstant: isConstant
      ) { row, rules in
        let value = left.answer(row, rules)
        let first = Logic.compare(">=", value, low.answer(row, rules), "", .sql)
        let answer = Logic.and(
          first, Logic.compare("<=", value, high.answer(row, rules), "", .sql))
        // In memory, nil is in no range.
        return rules == .memory ? answer ?? false : answer
      }
    }
    let (sign, right) = (pick(["==", "!=", "<", "<=", ">", ">="]), number(depth))
    return Condition(
      "\(left.format) \(sign) \(right.format)", isConstant: left.isConstant && right.isConstant
    ) { row, rules in
      let (first, second) = (left.answer(row, rules), right.answer(row, rules))
      // A constant nil is compared as in memory, in SQL too.
      let hasConstantNil =
        (left.isConstant && first == nil) || (right.isConstant && second == nil)
      let isEquality = sign == "==" || sign == "!="
      return Logic.compare(
        sign, first, second, "", hasConstantNil && isEquality ? .memory : rules)
    }
  }

  private mutating func texts() -> Condition {
    let left = text()
    let sign = pick([
      "==", "!=", "<", ">=", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "LIKE",
    ])
    let isOrder = ["<", ">="].contains(sign)
    let options = pick(isOrder ? ["", "n"] : ["", "", "c", "d", "cd", "n"])
    let right =
      sign == "LIKE"
      ? literal(pick(["a*", "*b", "?", "*", "ab*", "a?*", "É*"]))
      : Bool.random(using: &random) ? text() : literal(pick(Warehouse.texts))
    let bracket = options.isEmpty ? "" : "[\(options)]"
    return Condition("\(left.format) \(sign)\(bracket) \(right.format)") { row, rules in
      let (left, right) = (left.answer(row, rules), right.answer(row, rules))
      if rules == .memory, left == nil || right == nil, !["==", "!=", "<", ">="].contains(sign) {
        return false
      }
      return Logic.compare(sign, left, right, options, rules)
    }
  }

  private mutating func nils() -> Condition {
    let paths: [(String, (DataRow) -> Bool)] = [
      ("owner", { $0.item.owner == nil }), ("owner.boss", { $0.item.owner?.boss == nil }),
      ("name", { $0.item.name == nil }), ("weight", { $0.item.weight == nil }),
      ("owner.boss.name", { $0.item.owner?.boss?.name == nil }),
      ("owner.age", { $0.item.owner?.age == nil }),
    ]
    let path = paths[Int.random(in: paths.indices, using: &random)]
    return Bool.random(using: &random)
      ? Condition("\(path.0) == nil") { row, _ in path.1(row) }
      : Condition("\(path.0) != nil") { row, _ in !path.1(row) }
  }

  private mutating func singles() -> Condition {
    let kind = pick(["Item", "Book", "Disc", "Other"])
    switch Int.random(in: 0...5, using: &random) {
    case 0:
      return Condition("flag") { row, rules in
        row.item.flag ?? (rules == .sql ? nil : false)
      }
    case 1: return Condition("entity.name == '\(kind)'") { row, _ in row.item.kind == kind }
    case 2: return Condition("entity.name != '\(kind)'") { row, _ in row.item.kind != kind }
    case 3: return Condition("entity.name ENDSWITH[c] 'K'") { row, _ in row.item.kind == "Book" }
    case 4: return Condition("TRUEPREDICATE", isConstant: true) { _, _ in true }
    default:
      let day = Double(Int.random(in: 0...10, using: &random)) / 2
      return Condition("added < CAST(\(day), 'NSDate')") { row, rules in
        Logic.compare("<", row.item.added.map(Plain.real), .real(day), "", rules)
      }
    }
  }

  /// Comparisons with a constant of another type, which is converted to the attribute's type.
  private mutating func otherKinds() -> Condition {
    let sign = pick(["==", "!=", "<", ">="])
    let value = Int64.random(in: -1...5, using: &random)
    let paths: [(String, (DataRow) -> Plain?)] = [
      ("count", { $0.item.count.map(Plain.whole) }), ("weight", { $0.item.weight.map(Plain.real) }),
      ("price", { $0.item.price.map(Plain.real) }),
      ("owner.age", { $0.item.owner?.age.map(Plain.whole) }),
      ("parts.@sum.size", { .whole($0.item.parts.compactMap(\.size).reduce(0, +)) }),
    ]
    let (path, answer) = paths[Int.random(in: paths.indices, using: &random)]
    switch Int.random(in: 0...5, using: &random) {
    case 0:
      return Condition("'\(value)' \(sign) \(path)") { row, rules in
        Logic.compare(sign, .whole(value), answer(row), "", rules)
      }
    case 1:
      return Condition("\(path) IN {'\(value)', '2'}") { row, rules in
        guard let found = answer(row)?.number else { return rules == .sql ? nil : false }
        return found == Double(value) || found == 2
      }
    case 2:
      return Condition("\(path) BETWEEN {'\(value)', \(value + 2)}") { row, rules in
        guard let found = answer(row)?.number else { return rules == .sql ? nil : false }
        return found >= Double(value) && found <= Double(value + 2)
      }
    case 3:
      return Condition("name \(sign) \(value)") { row, rules in
        Logic.compare(sign, row.item.name.map(Plain.text), .text("\(value)"), "", rules)
      }
    case 4:
      return Condition("added \(sign) \(value)") { row, rules in
        Logic.compare(sign, row.item.added.map(Plain.real), .whole(value), "", rules)
      }
    default:
      return Condition("\(path) \(sign) '\(value).5'") { row, rules in
        Logic.compare(sign, answer(row), .real(Double("\(value).5") ?? .nan), "", rules)
      }
    }
  }

  private mutating func members() -> Condition {
    switch Int.random(in: 0...4, using: &random) {
    case 4:
      let value = Int64.random(in: 0...4, using: &random)
      let format = pick(["parts.size CONTAINS '\(value)'", "\(value) IN parts.size"])
      return Condition(format) { row, _ in row.item.parts.contains { $0.size == value } }
    case 0:
      let values = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        Int64.random(in: -2...6, using: &random)
      }
      let list = values.map(String.init).joined(separator: ", ")
      return Condition("count IN {\(list)}") { row, rules in
        if rules == .sql, row.item.count == nil, !values.isEmpty { return nil }
        return row.item.count.map(values.contains) ?? false
      }
    case 1:
      let values = [pick(Warehouse.texts), pick(Warehouse.texts)]
      let options = pick(["", "c", "d"])
      let bracket = options.isEmpty ? "" : "[\(options)]"
      return Condition("owner.name IN\(bracket) {'\(values[0])', '\(values[1])'}") { row, rules in
        guard let name = row.item.owner?.name else { return rules == .sql ? nil : false }
        return values.contains { Logic.fold($0, options) == Logic.fold(name, options) }
      }
    case 2:
      let value = pick(Warehouse.tagNames)
      return Condition("'\(value)' IN tags.name") { row, _ in row.item.tags.contains(value) }
    default:
      let value = pick(Warehouse.tagNames)
      return Condition("tags.name CONTAINS '\(value)'") { row, _ in row.item.tags.contains(value) }
    }
  }

  // MARK: To-many

  private mutating func quantified() -> Condition {
    let word = pick(["ANY", "SOME", "ALL", "NONE"])
    let sign = pick(["==", "!=", "<", ">="])
    let value = Int64.random(in: 0...4, using: &random)
    let text = pick(Warehouse.texts)
    typealias Values = (DataRow) -> [Plain?]
    let paths: [(String, Values, Plain)] = [
      ("parts.size", { $0.item.parts.map { $0.size.map(Plain.whole) } }, .whole(value)),
      ("parts.label", { $0.item.parts.map { $0.label.map(Plain.text) } }, .text(text)),
      ("tags.name", { $0.item.tags.map(Plain.text) }, .text(text)),
      (
        "owner.items.count",
        { $0.item.owner?.items.map { $0.count.map(Plain.whole) } ?? [] }, .whole(value)
      ),
      (
        "owner.items.parts.size",
        { $0.item.owner?.items.flatMap { $0.parts.map { $0.size.map(Plain.whole) } } ?? [] },
        .whole(value)
      ),
      ("owner.age", { $0.item.owner?.age.map { [.whole($0)] } ?? [] }, .whole(value)),
    ]
    let (path, values, constant) = paths[Int.random(in: paths.indices, using: &random)]
    if Int.random(in: 0...5, using: &random) == 0 {
      let sign = pick(["==", "!="])
      return Condition("\(word) \(path) \(sign) nil") { row, _ in
        // Nil isn't an element of a set of values, but ANY finds elements without one.
        let isEmpty = values(row).allSatisfy { $0 == nil }
        let isMissing = values(row).contains { $0 == nil }
        switch (word, sign) {
        case ("ALL", "=="), ("NONE", "!="): return isEmpty
        case ("ALL", _): return true
        case ("NONE", _): return !isMissing
        case (_, "=="): return isMissing
        default: return !isEmpty
        }
      }
    }
    let right = if case .text(let text) = constant { "'\(text)'" } else { "\(value)" }
    return Condition("\(word) \(path) \(sign) \(right)") { row, rules in
      let truths = values(row).filter { $0 != nil }.map {
        Logic.compare(sign, $0, constant, "", rules) == true
      }
      switch word {
      case "ALL": return truths.allSatisfy { $0 }
      case "NONE": return !truths.contains(true)
      default: return truths.contains(true)
      }
    }
  }

  private mutating func subquery(_ depth: Int) -> Condition {
    let inner = condition(min(depth, 1), .part)
    let sign = pick(["==", "!=", "<", ">"])
    let value = Int64.random(in: 0...3, using: &random)
    if Int.random(in: 0...2, using: &random) == 0 {
      let format =
        "SUBQUERY(owner.items, $i, SUBQUERY($i.parts, $p, (\(inner.format)) AND "
        + "$p.size >= $i.count).@count > 0).@count \(sign) \(value)"
      return Condition(format) { row, rules in
        guard let items = row.item.owner?.items else {
          return Logic.compare(sign, nil, .whole(value), "", rules)
        }
        let found = items.count { item in
          item.parts.contains { part in
            let fits = Logic.compare(
              ">=", part.size.map(Plain.whole), item.count.map(Plain.whole), "", rules)
            return Logic.and(
              inner.answer(DataRow(item: row.item, part: part, other: item), rules), fits) == true
          }
        }
        return Logic.compare(sign, .whole(Int64(found)), .whole(value), "", rules)
      }
    }
    return Condition("SUBQUERY(parts, $p, \(inner.format)).@count \(sign) \(value)") { row, rules in
      let found = row.item.parts.count {
        inner.answer(DataRow(item: row.item, part: $0), rules) == true
      }
      return Logic.compare(sign, .whole(Int64(found)), .whole(value), "", rules)
    }
  }

  private mutating func partComparison() -> Condition {
    if Bool.random(using: &random) {
      let (sign, value) = (pick(["==", "!=", "CONTAINS"]), pick(Warehouse.texts))
      return Condition("$p.label \(sign) '\(value)'") { row, rules in
        let label = row.part?.label.map(Plain.text)
        if label == nil, sign == "CONTAINS" { return rules == .sql ? nil : false }
        return Logic.compare(sign, label, .text(value), "", rules)
      }
    }
    let (sign, right) = (pick(["==", "!=", "<", ">="]), number(0))
    return Condition("$p.size \(sign) \(right.format)") { row, rules in
      Logic.compare(sign, row.part?.size.map(Plain.whole), right.answer(row, rules), "", rules)
    }
  }

  mutating func pick(_ values: [String]) -> String {
    values.randomElement(using: &random) ?? ""
  }
}
