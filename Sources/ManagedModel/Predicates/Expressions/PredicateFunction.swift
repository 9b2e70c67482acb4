/// The built-in functions, by Apple's names.
package enum PredicateFunction: String, Sendable, CaseIterable {
  case sum = "sum:"
  case count = "count:"
  case min = "min:"
  case max = "max:"
  case average = "average:"
  case median = "median:"
  case mode = "mode:"
  case standardDeviation = "stddev:"

  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case power = "raise:toPower:"
  case squareRoot = "sqrt:"
  case logarithm = "log:"
  case naturalLogarithm = "ln:"
  case exponential = "exp:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case absolute = "abs:"
  case truncate = "trunc:"
  /// A whole number from 0 to 2³¹ − 1, as C's `random()`.
  case random = "random"
  /// A whole number from 0 up to the argument, which is excluded.
  case randomBelow = "randomn:"
  /// Metres along the earth's surface.
  case distance = "distanceToLocation:fromLocation:"

  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftShift = "leftshift:by:"
  case rightShift = "rightshift:by:"
  case onesComplement = "onesComplement:"

  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  case length = "length:"
  case canonical = "canonical:"
  case now = "now"
  case cast = "castObject:toType:"
  /// Its argument, whose index the SQLite store shall not use.
  case noIndex = "noindex:"

  /// Whether any number of arguments is taken: they are one collection, or the elements of one.
  package var isAggregate: Bool {
    switch self {
    case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation: true
    default: false
    }
  }

  /// The infix sign, for the functions that are written with one.
  package var infix: String? {
    switch self {
    case .add: "+"
    case .subtract: "-"
    case .multiply: "*"
    case .divide: "/"
    case .power: "**"
    case .bitwiseAnd: "&"
    case .bitwiseOr: "|"
    case .bitwiseXor: "^"
    case .leftShift: "<<"
    case .rightShift: ">>"
    default: nil
    }
  }

  func accepts(_ count: Int) -> Bool {
    isAggregate ? count > 0 : count == arity
  }

  var arity: Int {
    rawValue.count { $0 == ":" }
  }

  var arityText: String {
    if isAggregate { return "one argument or more" }
    return arity == 0 ? "no argument" : PluralForm.counted(arity, "argument")
  }

  /// As it is written in a format before its parenthesis: `sum`, `now`, `modulus:by:`.
  package var formatName: String {
    arity == 1 ? String(rawValue.dropLast()) : rawValue
  }

  /// Finds a function as formats write it: `sum(`, `sum:(`, `modulus:by:(`; `random(5)` is
  /// `randomn(5)`.
  static func named(_ name: String, argumentCount: Int) -> PredicateFunction? {
    if name == "random" { return argumentCount == 0 ? .random : .randomBelow }
    if name == "random:" { return .randomBelow }
    return PredicateFunction(rawValue: name) ?? PredicateFunction(rawValue: name + ":")
  }
}
