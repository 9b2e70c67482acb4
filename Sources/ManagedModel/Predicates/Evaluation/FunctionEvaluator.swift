internal import Foundation

/// Evaluates the built-in functions of expressions.
package enum FunctionEvaluator {
  /// Returns the value of a function for its arguments.
  package static func value(
    of function: PredicateFunction, _ arguments: [PredicateValue]
  ) throws(PredicateEvaluationError) -> PredicateValue {
    if function.isAggregate { return try aggregate(function, arguments) }
    switch function {
    case .now: return .date(Date())
    case .random: return .integer(Int64.random(in: 0...0x7FFF_FFFF))
    case .noIndex: return arguments[0]
    case .uppercase, .lowercase, .canonical, .length: return try text(function, arguments[0])
    case .cast: return try cast(arguments[0], arguments[1])
    case .distance: return try distance(arguments[0], arguments[1])
    default:
      if arguments.count == 2 {
        guard let result = PredicateValue.arithmetic(function, arguments[0], arguments[1]) else {
          let wrong = arguments.first { !$0.isNumber } ?? arguments[0]
          throw .wrongOperand(wrong.kindText, operator: function.infix ?? function.rawValue)
        }
        return result
      }
      return try number(function, arguments[0])
    }
  }

  // MARK: One number

  private static func number(
    _ function: PredicateFunction, _ value: PredicateValue
  ) throws(PredicateEvaluationError) -> PredicateValue {
    if value.isNull { return .null }
    guard value.isNumber, let number = value.nearestDouble else {
      throw .wrongOperand(value.kindText, operator: function.rawValue)
    }
    switch function {
    case .squareRoot: return .real(number.squareRoot())
    case .logarithm: return .real(log10(number))
    case .naturalLogarithm: return .real(log(number))
    case .exponential: return .real(exp(number))
    case .floor: return rounded(value, number.rounded(.down))
    case .ceiling: return rounded(value, number.rounded(.up))
    case .truncate: return rounded(value, number.rounded(.towardZero))
    case .absolute:
      // A decimal 3 stays a decimal, and 3.0 a double, because their division differs from that of
      // integers.
      if case .decimal(let decimal) = value { return .decimal(abs(decimal)) }
      if case .double = value { return .real(abs(number)) }
      if let integer = value.exactInteger, integer != .min { return .integer(abs(integer)) }
      return .double(abs(number))
    case .onesComplement: return value.exactInteger.map { .integer(~$0) } ?? .null
    case .randomBelow:
      guard let limit = value.exactInteger, limit > 0 else { return .integer(0) }
      return .integer(Int64.random(in: 0..<limit))
    default: throw .unsupported(function.rawValue)
    }
  }

  /// Returns a rounded number: `value` if it's an integer, or `result` otherwise.
  private static func rounded(_ value: PredicateValue, _ result: Double) -> PredicateValue {
    if let integer = value.exactInteger { return .integer(integer) }
    return Int64(exactly: result).map(PredicateValue.integer) ?? .real(result)
  }

  // MARK: Strings

  private static func text(
    _ function: PredicateFunction, _ value: PredicateValue
  ) throws(PredicateEvaluationError) -> PredicateValue {
    if value.isNull { return .null }
    guard let text = value.searchText else {
      throw .wrongOperand(value.kindText, operator: function.rawValue)
    }
    switch function {
    case .uppercase: return .string(text.uppercased())
    case .lowercase: return .string(text.lowercased())
    case .length: return .integer(Int64(text.utf16.count))
    default:
      return .string(
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
    }
  }

  /// Returns the value as another type, or `nil`, as in SQL, if it can't be converted to that type.
  private static func cast(
    _ value: PredicateValue, _ type: PredicateValue
  ) throws(PredicateEvaluationError) -> PredicateValue {
    guard let target = type.string.flatMap(CastTarget.init) else {
      throw .wrongOperand(type.kindText, operator: "CAST")
    }
    return target.cast(value) ?? .null
  }

  // MARK: Locations

  /// Returns the great-circle distance between two locations on earth, in meters.
  private static func distance(
    _ first: PredicateValue, _ second: PredicateValue
  ) throws(PredicateEvaluationError) -> PredicateValue {
    if first.isNull || second.isNull { return .null }
    let (start, end) = (try position(first), try position(second))
    let latitudes = (end.latitude - start.latitude) / 2
    let longitudes = (end.longitude - start.longitude) / 2
    let part =
      sin(latitudes) * sin(latitudes)
      + cos(start.latitude) * cos(end.latitude) * sin(longitudes) * sin(longitudes)
    return .double(2 * 6_371_008.8 * asin(Swift.min(1, part.squareRoot())))
  }

  /// Returns the latitude and longitude in radians of an object with these keys, or of an array of
  /// two numbers.
  private static func position(
    _ value: PredicateValue
  ) throws(PredicateEvaluationError) -> (latitude: Double, longitude: Double) {
    let numbers: [Double?]
    switch value {
    case .collection(let pair): numbers = pair.elements.map(\.nearestDouble)
    case .object, .dictionary:
      var found: [Double?] = []
      for key in ["latitude", "longitude"] {
        found.append(
          try KeyPathReader.value(of: PredicateKeyPath(key), from: value.original).nearestDouble)
      }
      numbers = found
    default: numbers = []
    }
    guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1] else {
      throw .wrongOperand(value.kindText, operator: PredicateFunction.distance.rawValue)
    }
    return (latitude * .pi / 180, longitude * .pi / 180)
  }

  // MARK: Many values

  /// Returns an aggregate of one collection, or of several values.
  private static func aggregate(
    _ function: PredicateFunction, _ arguments: [PredicateValue]
  ) throws(PredicateEvaluationError) -> PredicateValue {
    var values = arguments
    if arguments.count == 1 {
      if arguments[0].isNull { return .null }
      if case .collection(let collection) = arguments[0] { values = collection.elements }
    }
    if function == .count { return .integer(Int64(values.count)) }
    // A store saves NaN as NULL.
    let found = values.filter { !$0.isNull && !$0.isNotANumber }
    switch function {
    case .min: return try extreme(found, .orderedAscending, "min:")
    case .max: return try extreme(found, .orderedDescending, "max:")
    case .mode: return mode(found)
    case .sum: return try sum(found)
    default: break
    }
    if let wrong = found.first(where: { !$0.isNumber }) {
      throw .wrongOperand(wrong.kindText, operator: function.rawValue)
    }
    guard !found.isEmpty else { return .null }
    switch function {
    case .average: return try average(found)
    case .median:
      let sorted = found.sorted { PredicateValue.order($0, $1) == .orderedAscending }
      let middle = sorted.count / 2
      return sorted.count % 2 == 1
        ? sorted[middle] : try average([sorted[middle - 1], sorted[middle]])
    default:
      let numbers = found.compactMap(\.nearestDouble)
      let mean = numbers.reduce(0, +) / Double(numbers.count)
      let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
      return .real((squares / Double(numbers.count)).squareRoot())
    }
  }

  private static func sum(
    _ values: [PredicateValue]
  ) throws(PredicateEvaluationError) -> PredicateValue {
    var sum = PredicateValue.integer(0)
    for value in values {
      guard let next = PredicateValue.arithmetic(.add, sum, value) else {
        throw .wrongOperand(value.kindText, operator: "sum:")
      }
      sum = next
    }
    return sum
  }

  /// Returns the average, which is exact for decimals; all other numbers are averaged as `Double`.
  private static func average(
    _ values: [PredicateValue]
  ) throws(PredicateEvaluationError) -> PredicateValue {
    let sum = try sum(values)
    if case .decimal(let total) = sum { return .decimal(total / Decimal(values.count)) }
    return .real((sum.nearestDouble ?? .nan) / Double(values.count))
  }

  private static func extreme(
    _ values: [PredicateValue], _ wanted: ComparisonResult, _ name: String
  ) throws(PredicateEvaluationError) -> PredicateValue {
    guard var best = values.first else { return .null }
    for value in values.dropFirst() {
      guard let order = PredicateValue.compare(value, best) else {
        throw .incomparable(left: value.kindText, operator: name, right: best.kindText)
      }
      if order == wanted { best = value }
    }
    return best
  }

  /// Returns the most frequent values, in the order of their first occurrence.
  private static func mode(_ values: [PredicateValue]) -> PredicateValue {
    var counts: [PredicateValue: Int] = [:]
    for value in values { counts[value, default: 0] += 1 }
    let most = counts.values.max() ?? 0
    var seen: Set<PredicateValue> = []
    let modes = values.filter { counts[$0] == most && seen.insert($0).inserted }
    return .collection(PredicateCollection(modes))
  }
}
