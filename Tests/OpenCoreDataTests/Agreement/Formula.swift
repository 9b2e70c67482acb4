/// Whose rules for nil decide.
enum NilRules: CaseIterable {
  /// A comparison with nil is unknown, and so is its contrary.
  case sql
  /// Nil equals nil and differs from all else; it has no order.
  case memory
}

/// A value, as this test sees it.
enum Plain: Equatable {
  case whole(Int64)
  case real(Double)
  case text(String)

  var number: Double {
    switch self {
    case .whole(let value): Double(value)
    case .real(let value): value
    case .text: .nan
    }
  }
}

/// What is being looked at, and the elements of the subqueries around it.
struct DataRow {
  let item: Warehouse.Item
  var part: Warehouse.Part?
  var other: Warehouse.Item?
}

/// A format text beside what it means, written apart from the evaluator and the translation.
struct Formula<Answer> {
  let format: String
  let answer: (DataRow, NilRules) -> Answer?
  /// Whether no row is needed for it: then it is answered in memory, by the rules there.
  let isConstant: Bool

  init(
    _ format: String, isConstant: Bool = false,
    _ answer: @escaping (DataRow, NilRules) -> Answer?
  ) {
    self.format = format
    self.isConstant = isConstant
    self.answer = { answer($0, isConstant ? .memory : $1) }
  }
}

typealias Condition = Formula<Bool>
typealias Term = Formula<Plain>

/// The logic of three values and the comparisons, as plainly as they can be said.
enum Logic {
  static func compare(
    _ sign: String, _ left: Plain?, _ right: Plain?, _ options: String, _ rules: NilRules
  ) -> Bool? {
    guard let left, let right else {
      if rules == .sql { return nil }
      let bothNil = left == nil && right == nil
      switch sign {
      case "==", "<=", ">=": return bothNil
      case "!=": return !bothNil
      default: return false
      }
    }
    return test(sign, left, right, options)
  }

  private static func test(
    _ sign: String, _ left: Plain, _ right: Plain, _ options: String
  ) -> Bool {
    if case .text(let left) = left, case .text(let right) = right {
      return test(sign, fold(left, options), fold(right, options))
    }
    return test(sign, left.number, right.number)
  }

  private static func test(_ sign: String, _ left: Double, _ right: Double) -> Bool {
    switch sign {
    case "==": left == right
    case "!=": left != right
    case "<": left < right
    case "<=": left <= right
    case ">": left > right
    default: left >= right
    }
  }

  private static func test(_ sign: String, _ left: [UInt8], _ right: [UInt8]) -> Bool {
    switch sign {
    case "==": return left == right
    case "!=": return left != right
    case "<": return left.lexicographicallyPrecedes(right)
    case "<=": return !right.lexicographicallyPrecedes(left)
    case ">": return right.lexicographicallyPrecedes(left)
    case ">=": return !left.lexicographicallyPrecedes(right)
    case "BEGINSWITH": return left.starts(with: right)
    case "ENDSWITH": return left.reversed().starts(with: right.reversed())
    case "CONTAINS": return (0...left.count).contains { left[$0...].starts(with: right) }
    default: return isLike(left[...], right[...])
    }
  }

  /// The texts of the warehouse have one letter with an accent, in both cases.
  static func fold(_ text: String, _ options: String) -> [UInt8] {
    var text = text
    if options.contains("d") {
      text = String(text.map { $0 == "é" ? "e" : $0 == "É" ? "E" : $0 })
    }
    if options.contains("c") {
      text = String(text.map { $0 == "É" ? "é" : Character($0.lowercased()) })
    }
    return Array(text.utf8)
  }

  private static func isLike(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
    guard let sign = pattern.first else { return text.isEmpty }
    if sign == UInt8(ascii: "*") {
      return isLike(text, pattern.dropFirst())
        || (!text.isEmpty && isLike(text.dropFirst(), pattern))
    }
    guard let letter = text.first, sign == UInt8(ascii: "?") || sign == letter else { return false }
    // One sign is one letter, of however many bytes.
    let width = sign == UInt8(ascii: "?") ? (letter < 128 ? 1 : 2) : 1
    return isLike(text.dropFirst(width), pattern.dropFirst())
  }

  static func not(_ value: Bool?) -> Bool? { value.map { !$0 } }

  static func and(_ left: Bool?, _ right: Bool?) -> Bool? {
    if left == false || right == false { return false }
    return left == nil || right == nil ? nil : true
  }

  static func or(_ left: Bool?, _ right: Bool?) -> Bool? { not(and(not(left), not(right))) }

  /// Integers stay whole; a division by zero has no result.
  static func arithmetic(_ sign: String, _ left: Plain?, _ right: Plain?) -> Plain? {
    guard let left, let right else { return nil }
    if case .whole(let left) = left, case .whole(let right) = right {
      switch sign {
      case "+": return .whole(left + right)
      case "-": return .whole(left - right)
      case "*": return .whole(left * right)
      case "/": return right == 0 ? nil : .whole(left / right)
      case "%": return right == 0 ? nil : .whole(left % right)
      case "&": return .whole(left & right)
      case "|": return .whole(left | right)
      default: return .whole(left ^ right)
      }
    }
    return arithmetic(sign, left.number, right.number)
  }

  private static func arithmetic(_ sign: String, _ left: Double, _ right: Double) -> Plain? {
    switch sign {
    case "+": .real(left + right)
    case "-": .real(left - right)
    case "*": .real(left * right)
    case "/": right == 0 ? nil : .real(left / right)
    default: right == 0 ? nil : .real(left.truncatingRemainder(dividingBy: right))
    }
  }
}
