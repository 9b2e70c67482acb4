import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// The value of an operator on a to-many: `moods.@count`, `moods.@max.rating`.
  ///
  /// - Parameter keepsWhole: Whether the sum of whole numbers is one: `total` gives a real number,
  ///   which divides otherwise.
  func aggregate(
    _ path: ToManyPath, at site: Site, keepsWhole: Bool = false
  ) throws(TranslationError) -> SQLOperand {
    guard case .operator(let found) = path.rest.first else {
      throw TranslationError(
        path.text, "A path through a to-many relationship needs ANY, ALL or @count.")
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
        path.text, "\(found.rawValue) makes a list for each row; only memory can.")
    }
    return try aggregate(function, of: rest, path, at: site, keepsWhole: keepsWhole)
  }

  /// The function on the rows of a group that an operator stands for.
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

  /// The function in SQL.
  ///
  /// A sum is `total`, which is 0 for no rows, as Apple's SQL has it.
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

  /// A function over the values at the end of a path through a to-many.
  private func aggregate(
    _ function: PredicateFunction, of keys: ArraySlice<PredicateKeyPath.Component>,
    _ path: ToManyPath, at site: Site, keepsWhole: Bool
  ) throws(TranslationError) -> SQLOperand {
    guard let name = Self.name(of: function) else {
      throw TranslationError(path.text, "The function \(function.rawValue) has no SQL.")
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
        type = try self.resultType(of: function, attribute, path.text)
        return "\(raw: name)(\(column))"
      }, where: nil)
    guard keepsWhole, function == .sum, type == .integer else { return .computed(fragment, type) }
    return .computed("CAST(\(fragment) AS INTEGER)", type)
  }

  /// The type of a function's result; sums and averages are those of numbers only.
  func resultType(
    of function: PredicateFunction, _ attribute: NSAttributeDescription, _ text: String
  ) throws(TranslationError) -> StoredType {
    let type = StoredType(attribute.attributeType)
    if function == .count { return .integer }
    if function == .min || function == .max { return type }
    guard type.isNumber, type != .timestamp else {
      throw TranslationError(text, "\(attribute) is no number, so it has no \(function.rawValue)")
    }
    return function == .sum ? type : .real
  }

  /// `max:(…)` and its kin: over the objects of one to-many, or over several values.
  func aggregate(
    _ function: PredicateFunction, _ arguments: [NSExpression], at site: Site,
    _ expression: NSExpression
  ) throws(TranslationError) -> SQLOperand {
    var values = arguments
    if arguments.count == 1 {
      if let found = try rowAggregate(function, arguments[0], at: site) { return found }
      switch try operand(arguments[0], at: site) {
      case .toMany(let path):
        if case .operator = path.rest.first { break }
        return function == .count && path.rest.isEmpty
          ? try count(path, at: site)
          : try aggregate(function, of: path.rest[...], path, at: site, keepsWhole: true)
      case .list(let elements): values = elements
      default: break
      }
    }
    guard let name = Self.name(of: function) else {
      throw TranslationError(
        expression.description, "The function \(function.rawValue) has no SQL.")
    }
    if function == .count { return .computed("\(raw: values.count)", .integer) }
    var found: [(fragment: SQLFragment, type: StoredType?)] = []
    for value in values {
      found.append(
        function == .min || function == .max
          ? try self.value(of: value, at: site) : try number(value, at: site))
    }
    let (fragments, type) = Self.unified(found)
    let rows = fragments.enumerated().map { position, fragment -> SQLFragment in
      position == 0 ? "SELECT \(fragment) AS value" : "SELECT \(fragment)"
    }
    // `SUM` keeps whole numbers whole, which `total` does not.
    let call = function == .sum ? "IFNULL(SUM(value), 0)" : "\(name)(value)"
    return .computed(
      "(SELECT \(raw: call) FROM (\(.joined(rows, by: " UNION ALL "))))",
      function == .average ? .real : type ?? .integer)
  }

  /// How many objects are at the end of a path through a to-many relationship.
  func count(_ path: ToManyPath, at site: Site) throws(TranslationError) -> SQLOperand {
    .computed(try countFragment(path, at: site, where: nil), .integer)
  }

  /// The number of a collection's elements, for `[SIZE]`.
  func count(
    _ operand: SQLOperand, at site: Site, _ expression: NSExpression
  ) throws(TranslationError) -> SQLOperand {
    guard case .toMany(let path) = operand, path.rest.isEmpty else {
      throw TranslationError(
        expression.description, "Only a path that ends in a to-many relationship is counted.")
    }
    return try count(path, at: site)
  }

  /// A subselect with the number of elements that satisfy a condition.
  func countFragment(
    _ path: ToManyPath, at site: Site,
    where condition: ((TranslationPosition, Site) throws(TranslationError) -> SQLCondition)?
  ) throws(TranslationError) -> SQLFragment {
    try subselect(
      path, at: site,
      list: { position, inner throws(TranslationError) in
        // A plain count of a many-to-many needs the join table alone, so its own column is
        // counted; otherwise this is the element's key.
        "COUNT(\(raw: position.key))"
      }, where: condition)
  }
}
