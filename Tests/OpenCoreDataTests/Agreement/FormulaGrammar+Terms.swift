extension FormulaGrammar {
  mutating func literal(_ text: String) -> Term {
    Term("'\(text)'", isConstant: true) { _, _ in .text(text) }
  }

  mutating func text() -> Term {
    switch Int.random(in: 0...6, using: &random) {
    case 0: return Term("owner.name") { row, _ in row.item.owner?.name.map(Plain.text) }
    case 1:
      return Term("owner.boss.name") { row, _ in row.item.owner?.boss?.name.map(Plain.text) }
    case 2:
      return Term("lowercase:(name)") { row, _ in
        row.item.name.map { .text(String(decoding: Logic.fold($0, "c"), as: UTF8.self)) }
      }
    case 3:
      return Term("canonical:(owner.name)") { row, _ in
        row.item.owner?.name.map { .text(String(decoding: Logic.fold($0, "cd"), as: UTF8.self)) }
      }
    case 4:
      return Term("CAST(count, 'NSString')") { row, _ in row.item.count.map { .text("\($0)") } }
    default: return Term("name") { row, _ in row.item.name.map(Plain.text) }
    }
  }

  mutating func number(_ depth: Int) -> Term {
    switch depth == 0
      ? Int.random(in: 0...2, using: &random) : Int.random(in: 0...9, using: &random)
    {
    case 0:
      let value = Int64.random(in: -1...5, using: &random)
      return Term("\(value)", isConstant: true) { _, _ in .whole(value) }
    case 1, 2, 3: return path()
    case 4, 5: return arithmetic(depth)
    case 6: return aggregate()
    case 7:
      let (test, yes, no) = (condition(0), number(0), number(0))
      let isConstant = test.isConstant && yes.isConstant && no.isConstant
      return Term(
        "TERNARY(\(test.format), \(yes.format), \(no.format))", isConstant: isConstant
      ) { row, rules in
        test.answer(row, rules) == true ? yes.answer(row, rules) : no.answer(row, rules)
      }
    default: return function(depth)
    }
  }

  private mutating func path() -> Term {
    switch Int.random(in: 0...5, using: &random) {
    case 0: return Term("weight") { row, _ in row.item.weight.map(Plain.real) }
    case 1: return Term("price") { row, _ in row.item.price.map(Plain.real) }
    case 2: return Term("owner.age") { row, _ in row.item.owner?.age.map(Plain.whole) }
    case 3: return Term("owner.boss.age") { row, _ in row.item.owner?.boss?.age.map(Plain.whole) }
    case 4: return Term("2.5", isConstant: true) { _, _ in .real(2.5) }
    default: return Term("count") { row, _ in row.item.count.map(Plain.whole) }
    }
  }

  private mutating func arithmetic(_ depth: Int) -> Term {
    let (left, right) = (number(depth - 1), number(depth - 1))
    let sign = pick(["+", "-", "*", "/", "%"])
    if Int.random(in: 0...4, using: &random) == 0 {
      let sign = pick(["&", "|", "^"])
      let value = Int64.random(in: 0...6, using: &random)
      return Term("(count \(sign) \(value))") { row, _ in
        Logic.arithmetic(sign, row.item.count.map(Plain.whole), .whole(value))
      }
    }
    let format =
      sign == "%"
      ? "modulus:by:(\(left.format), \(right.format))" : "(\(left.format) \(sign) \(right.format))"
    return Term(format, isConstant: left.isConstant && right.isConstant) { row, rules in
      Logic.arithmetic(sign, left.answer(row, rules), right.answer(row, rules))
    }
  }

  private mutating func aggregate() -> Term {
    let name = pick(["@count", "@sum", "@min", "@max", "@avg", "tags", "owner", "max", "function"])
    func sizes(_ row: DataRow) -> [Int64] { row.item.parts.compactMap(\.size) }
    switch name {
    case "function": return functionOfSet()
    case "@count": return Term("parts.@count") { row, _ in .whole(Int64(row.item.parts.count)) }
    case "tags": return Term("tags.@count") { row, _ in .whole(Int64(row.item.tags.count)) }
    case "owner":
      return Term("owner.items.@count") { row, _ in
        row.item.owner.map { .whole(Int64($0.items.count)) }
      }
    case "max":
      return Term("max:(count, weight)") { row, _ in
        let found = [row.item.count.map(Plain.whole), row.item.weight.map(Plain.real)]
          .compactMap { $0 }
        return found.max { $0.number < $1.number }
      }
    default:
      return Term("parts.\(name).size") { row, _ in
        let values = sizes(row)
        switch name {
        case "@sum": return .whole(values.reduce(0, +))
        case "@min": return values.min().map(Plain.whole)
        case "@max": return values.max().map(Plain.whole)
        default:
          // A nil counts as zero, and the average of no values is zero.
          let count = row.item.parts.count
          return count == 0 ? .whole(0) : .real(Double(values.reduce(0, +)) / Double(count))
        }
      }
    }
  }

  /// A function of a key path over a to-many relationship, which is a set without nils.
  private mutating func functionOfSet() -> Term {
    let name = pick(["sum", "count", "min", "max", "average"])
    let isFar = Bool.random(using: &random)
    let path = isFar ? "owner.items.count" : "parts.size"
    return Term("\(name):(\(path))") { row, _ in
      if isFar, row.item.owner == nil { return nil }
      let values = Set(
        isFar
          ? row.item.owner?.items.compactMap(\.count) ?? [] : row.item.parts.compactMap(\.size))
      switch name {
      case "sum": return .whole(values.reduce(0, +))
      case "count": return .whole(Int64(values.count))
      case "min": return values.min().map(Plain.whole)
      case "max": return values.max().map(Plain.whole)
      default:
        return values.isEmpty ? nil : .real(Double(values.reduce(0, +)) / Double(values.count))
      }
    }
  }

  private mutating func function(_ depth: Int) -> Term {
    let inner = number(depth - 1)
    switch Int.random(in: 0...5, using: &random) {
    case 0: return Term("length:(name)") { row, _ in row.item.name.map { .whole(Int64($0.count)) } }
    case 1:
      return Term("abs:(\(inner.format))", isConstant: inner.isConstant) { row, rules in
        switch inner.answer(row, rules) {
        case .whole(let value): .whole(abs(value))
        case let other: other.map { .real(abs($0.number)) }
        }
      }
    case 2, 3:
      let name = pick(["floor", "ceiling", "trunc"])
      let rule: FloatingPointRoundingRule =
        name == "floor" ? .down : name == "ceiling" ? .up : .towardZero
      return Term("\(name):(\(inner.format))", isConstant: inner.isConstant) { row, rules in
        inner.answer(row, rules).map { .whole(Int64($0.number.rounded(rule))) }
      }
    case 4:
      return Term("sqrt:(parts.@count)") { row, _ in
        .real(Double(row.item.parts.count).squareRoot())
      }
    default:
      return Term("CAST(added, 'NSNumber')") { row, _ in row.item.added.map(Plain.real) }
    }
  }
}
