internal import Foundation

/// The built-in functions, with Foundation's names.
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
  /// An integer from 0 to 2³¹ − 1, as returned by C's `random()`.
  case random = "random"
  /// An integer from 0 up to the argument, which is excluded.
  case randomBelow = "randomn:"
  /// The great-circle distance in meters.
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
  /// Returns its argument, for which the SQLite store doesn't use an index.
  case noIndex = "noindex:"

  /// Whether the function has a variable number of arguments: one collection, or its elements.
  package var isAggregate: Bool {
    switch self {
    case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation: true
    default: false
    }
  }

  /// The operator of the functions that are written as infix operators.
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

  /// The name before the parenthesis in a format: `sum`, `now`, `modulus:by:`.
  package var formatName: String {
    arity == 1 ? String(rawValue.dropLast()) : rawValue
  }

  /// Returns the function with a name in a format: `sum(`, `sum:(`, `modulus:by:(`; `random(5)` is
  /// `randomn(5)`.
  static func named(_ name: String, argumentCount: Int) -> PredicateFunction? {
    if name == "random" { return argumentCount == 0 ? .random : .randomBelow }
    if name == "random:" { return .randomBelow }
    return PredicateFunction(rawValue: name) ?? PredicateFunction(rawValue: name + ":")
  }
}

/// The operators on collections that a key path may contain.
package enum CollectionOperator: String, Sendable, CaseIterable {
  case count = "@count"
  case sum = "@sum"
  case min = "@min"
  case max = "@max"
  case average = "@avg"
  case unionOfObjects = "@unionOfObjects"
  case distinctUnionOfObjects = "@distinctUnionOfObjects"
  case unionOfArrays = "@unionOfArrays"
  case distinctUnionOfArrays = "@distinctUnionOfArrays"
  case unionOfSets = "@unionOfSets"
  case distinctUnionOfSets = "@distinctUnionOfSets"
}

/// The target types of `CAST`, with the names of Foundation's classes.
package enum CastTarget: String, Sendable, CaseIterable {
  case number = "NSNumber"
  case decimal = "NSDecimalNumber"
  case string = "NSString"
  case date = "NSDate"
  case data = "NSData"
  case uuid = "NSUUID"
  case url = "NSURL"

  /// Whether a cast of a constant is evaluated when it's parsed.
  ///
  /// Constants of these types are printed as casts.
  var isFolded: Bool {
    switch self {
    case .date, .data, .uuid, .url, .decimal, .number: true
    case .string: false
    }
  }

  /// Returns the value converted to the type: dates from and to seconds since 2001, data as Base64.
  ///
  /// Returns `nil` if the value is `nil` or can't be converted.
  package func cast(_ value: PredicateValue) -> PredicateValue? {
    if value.isNull { return .null }
    switch self {
    case .number: return number(value)
    case .decimal: return (value.decimal ?? decimal(value)).map(PredicateValue.decimal)
    case .string: return PredicatePrinter.plainText(of: value).map(PredicateValue.string)
    case .date:
      if case .date = value { return value }
      return (value.nearestDouble ?? value.string.flatMap(Double.init)).map {
        .date(Date(timeIntervalSinceReferenceDate: $0))
      }
    case .data:
      if case .data = value { return value }
      return value.string.flatMap { Data(base64Encoded: $0) }.map(PredicateValue.data)
    case .uuid:
      if case .uuid = value { return value }
      return value.string.flatMap(UUID.init(uuidString:)).map(PredicateValue.uuid)
    case .url:
      if case .url = value { return value }
      return value.string.flatMap(URL.init(string:)).map(PredicateValue.url)
    }
  }

  private func number(_ value: PredicateValue) -> PredicateValue? {
    switch value {
    case .date(let date): .double(date.timeIntervalSinceReferenceDate)
    case .string(let text):
      Int64(text).map(PredicateValue.integer) ?? Double(text).map(PredicateValue.double)
    default: value.isNumber ? value : nil
    }
  }

  private func decimal(_ value: PredicateValue) -> Decimal? {
    guard let text = value.string, Double(text) != nil else { return nil }
    return Decimal(string: text)
  }
}
