import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// Returns the value of an operator on a to-many: `moods.@count`, `moods.@max.rating`.
  ///
  /// - Parameter keepsWhole: Whether a sum of integers is an integer: `total` returns a real
  ///   number, which divides differently.
  func aggregate(
    _ path: ToManyPath, at site: Site, keepsWhole: Bool = false
  ) throws(TranslationError) -> SQLOperand {
    guard case .operator(let found) = path.rest.first else {
      throw TranslationError(path.text, path.reason)
    }
    let rest = path.rest.dropFirst()
    if found == .count {
      guard rest.isEmpty else {
        throw TranslationError(path.text, "Nothing can follow @count.")
      }
      return try count(path, at: site)
    }
    guard let function = Self.function(of: found) else {
      throw TranslationError(
        path.text,
        "\(found.rawValue) returns a list for each row, which can be evaluated only in memory.")
    }
    return try aggregate(
      function, of: rest, path, at: site, over: .objects, keepsWhole: keepsWhole)
  }

  /// The values that a function of a to-many uses.
  ///
  /// As in key-value coding: an operator reads the key path of each object, and a key path over a
  /// set returns the set of its values, without nils.
  enum Values {
    /// The value of each object, for an operator: `pets.@sum.age`.
    case objects
    /// Each value once, for a function of a key path: `sum:(pets.age)`.
    case distinct
  }

  /// Returns the aggregate function of a group for an operator.
  static func function(of found: CollectionOperator) -> PredicateFunction? {
    switch found {
    case .count: .count
    case .sum: .sum
    case .min: .min
    case .max: .max
    case .average: .average
    default: nil
    }
  }

  /// Returns the function's name in SQL.
  ///
  /// A sum is `total`, which is 0 for no rows, as in Core Data's SQL.
  static func name(of function: PredicateFunction) -> String? {
    switch function {
    case .count: "COUNT"
    case .sum: "total"
    case .min: "MIN"
    case .max: "MAX"
    case .average: "AVG"
    default: nil
    }
  }

  /// Returns a function over the values at the end of a path across a to-many.
  private func aggregate(
    _ function: PredicateFunction, of keys: ArraySlice<PredicateKeyPath.Component>,
    _ path: ToManyPath, at site: Site, over values: Values, keepsWhole: Bool
  ) throws(TranslationError) -> SQLOperand {
    guard let name = Self.name(of: function) else {
      throw TranslationError(
        path.text, "The function \(function.rawValue) can't be translated to SQL.")
    }
    var type = StoredType.real
    let fragment = try subselect(
      path, at: site,
      list: { position, inner throws(TranslationError) in
        let value = try self.walk(
          keys, from: position, in: inner.scope, at: inner.optional, text: path.text)
        guard case .attribute(let column, let attribute) = value else {
          throw TranslationError(path.text, "\(function.rawValue) takes a path to an attribute.")
        }
        if function != .count || values == .distinct {
          try self.requireValueInColumn(attribute, path.text)
        }
        type = try self.resultType(of: function, attribute, path.text)
        switch values {
        case .distinct: return "\(raw: name)(DISTINCT\(column))"
        // An operator counts a nil as 0, and returns 0 for no objects.
        case .objects where function == .average:
          // Not IFNULL: an average that isn't a number is NULL, too.
          return "CASE COUNT(*) WHEN 0 THEN 0 ELSE AVG(IFNULL(\(column), 0)) END"
        case .objects: return "\(raw: name)(\(column))"
        }
      }, where: nil)
    let isWhole = keepsWhole && function == .sum && type == .integer
    let value = isWhole ? Self.whole(fragment) : fragment
    // The others are nil for no rows.
    let hasValueOfNothing =
      function == .sum || function == .count || values == .objects && function == .average
    return .computed(hasValueOfNothing ? present(value, path) : value, type)
  }

  /// Returns the total of integers as an integer, or as a real number if it exceeds their range.
  static func whole(_ total: SQLFragment) -> SQLFragment {
    "\(raw: ValueFunction.truncate.rawValue)(\(total))"
  }

  /// Returns a value at the end of a path of to-ones: `nil` if one of them is `nil`, like the rest
  /// of a key path after a `nil`.
  private func present(_ value: SQLFragment, _ path: ToManyPath) -> SQLFragment {
    guard case .reference = path.source.location, path.source.key != path.scope.start?.key else {
      return value
    }
    return "CASE WHEN \(raw: path.source.key) IS NOT NULL THEN \(value) END"
  }

  /// Returns the type of a function's result; sums and averages require numbers.
  func resultType(
    of function: PredicateFunction, _ attribute: NSAttributeDescription, _ text: String
  ) throws(TranslationError) -> StoredType {
    let type = StoredType(attribute.attributeType)
    if function == .count { return .integer }
    if function == .min || function == .max { return type }
    guard type.isNumber, type != .timestamp else {
      throw TranslationError(text, "\(attribute) isn't a number, so it has no \(function.rawValue)")
    }
    return function == .sum ? type : .real
  }

  /// Returns `max:(…)` and similar functions: over the objects of one to-many, or over several
  /// values.
  ///
  /// - Parameter values: The values that a function of one key path over a to-many uses.
  func aggregate(
    _ function: PredicateFunction, _ arguments: [NSExpression], at site: Site,
    _ expression: NSExpression, over given: Values = .distinct
  ) throws(TranslationError) -> SQLOperand {
    var values = arguments
    if arguments.count == 1 {
      if let found = try rowAggregate(function, arguments[0], at: site) { return found }
      switch try operand(arguments[0], at: site) {
      case .toMany(let path):
        if case .operator = path.rest.first { break }
        return function == .count && path.rest.isEmpty
          ? try count(path, at: site)
          : try aggregate(
            function, of: path.rest[...], path, at: site, over: given, keepsWhole: true)
      case .list(let elements): values = elements
      case let only: return try aggregate(function, ofOnly: only, arguments[0], at: site)
      }
    }
    guard let name = Self.name(of: function) else {
      throw TranslationError(
        expression.description, "The function \(function.rawValue) can't be translated to SQL.")
    }
    if function == .count { return .computed("\(raw: values.count)", .integer) }
    var found: [(fragment: SQLFragment, type: StoredType?)] = []
    // A nil is left out, so a row without one of the values has a result, too.
    for value in values {
      found.append(
        function == .min || function == .max
          ? try self.value(of: value, at: site.optional) : try number(value, at: site.optional))
    }
    let (fragments, type) = Self.unified(found)
    if function == .sum { return .computed(Self.sum(fragments), type ?? .integer) }
    // The affinity of the first value would apply to the others, and round integers: a plus has
    // none.
    let isMixed = Set(found.compactMap(\.type)).count > 1
    let rows = fragments.enumerated().map { position, fragment -> SQLFragment in
      let value: SQLFragment = isMixed ? "+\(fragment)" : fragment
      return position == 0 ? "SELECT \(value) AS value" : "SELECT \(value)"
    }
    return .computed(
      "(SELECT \(raw: name)(value) FROM (\(.joined(rows, by: " UNION ALL "))))",
      function == .average ? .real : type ?? .integer)
  }

  /// Returns the sum of several values.
  ///
  /// An addition keeps integers, unlike `total`, and returns a real number if the sum exceeds their
  /// range, for which `SUM` is an error.
  private static func sum(_ values: [SQLFragment]) -> SQLFragment {
    values.isEmpty ? "0" : "(\(.joined(values.map { "IFNULL(\($0), 0)" }, by: " + ")))"
  }

  /// Returns a function of one value that isn't a collection: that value, or 1 for its count.
  private func aggregate(
    _ function: PredicateFunction, ofOnly operand: SQLOperand, _ expression: NSExpression,
    at site: Site
  ) throws(TranslationError) -> SQLOperand {
    try refuseElements(of: operand)
    guard Self.name(of: function) != nil else {
      throw TranslationError(
        expression.description, "The function \(function.rawValue) can't be translated to SQL.")
    }
    if function == .count, case .attribute(let column, _) = operand {
      return .computed("CASE WHEN \(column) IS NOT NULL THEN 1 END", .integer)
    }
    let (fragment, type) = try value(of: operand, expression, at: site)
    switch function {
    case .count: return .computed("CASE WHEN \(fragment) IS NOT NULL THEN 1 END", .integer)
    case .min, .max: return .computed(fragment, type ?? .integer)
    default:
      if let type, !type.isNumber {
        throw TranslationError(expression.description, "This isn't a number.")
      }
      return function == .average
        ? .computed("CAST(\(fragment) AS REAL)", .real) : .computed(fragment, type ?? .integer)
    }
  }

  /// Throws for elements of a transformable value: a column contains only its bytes.
  func refuseElements(of operand: SQLOperand) throws(TranslationError) {
    guard case .attribute(_, let attribute) = operand,
      StoredType(attribute.attributeType) == .transformable
    else { return }
    throw TranslationError(
      "\(attribute)",
      "This is a transformable attribute: the store has its bytes and can't read the elements. "
        + "Filter the fetched objects instead.")
  }

  /// Returns the number of objects at the end of a path across a to-many relationship.
  func count(_ path: ToManyPath, at site: Site) throws(TranslationError) -> SQLOperand {
    .computed(present(try countFragment(path, at: site, where: nil), path), .integer)
  }

  /// Returns the number of a collection's elements, for `[SIZE]`.
  func count(
    _ operand: SQLOperand, at site: Site, _ expression: NSExpression
  ) throws(TranslationError) -> SQLOperand {
    guard case .toMany(let path) = operand, path.rest.isEmpty else {
      throw TranslationError(
        expression.description, "@count requires a key path that ends in a to-many relationship.")
    }
    return try count(path, at: site)
  }

  /// Returns a subselect with the number of elements that satisfy a condition.
  func countFragment(
    _ path: ToManyPath, at site: Site,
    where condition: ((TranslationPosition, Site) throws(TranslationError) -> SQLCondition)?
  ) throws(TranslationError) -> SQLFragment {
    try subselect(
      path, at: site,
      list: { position, inner throws(TranslationError) in
        // A plain count of a many-to-many needs only the join table, so its own column is counted;
        // otherwise this is the element's key.
        "COUNT(\(raw: position.key))"
      }, where: condition)
  }
}
