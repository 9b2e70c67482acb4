/// The rules for comparing `nil`.
enum NilRules: CaseIterable {
  /// A comparison with `nil` is unknown, and so is its negation.
  case sql
  /// `nil` equals only `nil`, and it has no order.
  case memory
}

/// A value of the test's own evaluation.
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

/// The item that is evaluated, and the elements of the enclosing subqueries.
struct DataRow {
  let item: Warehouse.Item
  var part: Warehouse.Part?
  var other: Warehouse.Item?
}

/// A format string with its meaning, independent of the evaluator and the translator.
struct Formula<Answer> {
  let format: String
  let answer: (DataRow, NilRules) -> Answer?
  /// Whether it depends on no row; then it's evaluated in memory, with the rules for memory.
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

/// Three-valued logic, comparisons, and arithmetic.
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

  /// The warehouse's strings contain one accented letter, in both cases, and ASCII.
  static func fold(_ text: String, _ options: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    guard !options.isEmpty, options != "n" else { return bytes }
    let (foldsCase, foldsAccents) = (options != "d", options != "c")
    var (index, end) = (0, 0)
    while index < bytes.count {
      if bytes[index] == 0xC3 {
        // É and é differ in the second of their two bytes.
        let isUppercase = bytes[index + 1] == 0x89 && !foldsCase
        if foldsAccents {
          bytes[end] = UInt8(ascii: isUppercase ? "E" : "e")
        } else {
          (bytes[end], bytes[end + 1]) = (0xC3, isUppercase ? 0x89 : 0xA9)
          end += 1
        }
        index += 2
      } else {
        let isUppercase = bytes[index] >= UInt8(ascii: "A") && bytes[index] <= UInt8(ascii: "Z")
        bytes[end] = bytes[index] + (isUppercase && foldsCase ? 32 : 0)
        index += 1
      }
      end += 1
    }
    bytes.removeLast(bytes.count - end)
    return bytes
  }

  private static func isLike(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
    guard let sign = pattern.first else { return text.isEmpty }
    if sign == UInt8(ascii: "*") {
      return isLike(text, pattern.dropFirst())
        || (!text.isEmpty && isLike(text.dropFirst(), pattern))
    }
    guard let letter = text.first, sign == UInt8(ascii: "?") || sign == letter else { return false }
    // `?` matches one character, which has one or two bytes.
    let width = sign == UInt8(ascii: "?") ? (letter < 128 ? 1 : 2) : 1
    return isLike(text.dropFirst(width), pattern.dropFirst())
  }

  static func not(_ value: Bool?) -> Bool? { value.map { !$0 } }

  static func and(_ left: Bool?, _ right: Bool?) -> Bool? {
    if left == false || right == false { return false }
    return left == nil || right == nil ? nil : true
  }

  static func or(_ left: Bool?, _ right: Bool?) -> Bool? { not(and(not(left), not(right))) }

  /// Integers have integer results; a division by zero is `nil`.
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
