internal import Foundation

/// Evaluates predicates and expressions for one object, in memory.
///
/// `nil` equals `nil` and differs from everything else; nothing is less or greater than `nil`;
/// strings don't match `nil`. SQL differs for `!=`, which is never true for a NULL column.
package struct PredicateEvaluator {
  /// The value that the predicate is evaluated for, unless it's passed as a record.
  private let value: Any?
  /// The root object, cast once for all keys.
  ///
  /// `value` or the caller retains it: reference counting would take a tenth of the time of a short
  /// predicate.
  private unowned(unsafe) let record: (any PredicateRecord)?
  /// Whether the values are those of a record, whose columns have types.
  ///
  /// Testing `record` would count a reference to it.
  let isOfRecord: Bool
  /// The caller's variables with the current elements of subqueries, for block predicates.
  private var bindings: [String: Any]?
  /// The variables; `nil` if there are none, as in most predicates.
  private var variables: [String: PredicateValue]?
  /// The variables that `:=` has set, in order.
  private(set) var assigned: [String] = []

  package init(root: Any?, bindings: [String: Any]? = nil) {
    let record = root as? any PredicateRecord
    self.record = record
    isOfRecord = record != nil
    value = root
    self.bindings = bindings
    variables = bindings?.mapValues { PredicateValue($0) }
  }

  /// Creates an evaluator for a record that the caller retains.
  package init(record: any PredicateRecord) {
    value = nil
    self.record = record
    isOfRecord = true
    bindings = nil
    variables = nil
  }

  private var root: Any? { value ?? record }

  /// Returns whether the predicate is true.
  @inline(__always)
  package mutating func evaluate(
    _ predicate: NSPredicate
  ) throws(PredicateEvaluationError) -> Bool {
    try predicate.isTrue(for: record, &self)
  }

  /// Returns whether the predicate is true, if it isn't of a class with an implementation of its
  /// own.
  func evaluate(other predicate: NSPredicate) -> Bool {
    switch predicate.kind {
    case .constant(let value): value
    case .block(let block): block(root, bindings)
    case .comparison, .compound, .subclass:
      predicate.evaluate(with: root, substitutionVariables: bindings)
    }
  }

  /// Returns the value of an expression.
  ///
  /// Most expressions are a key of the record or a constant; only others require a call.
  @inline(__always)
  package mutating func value(
    of expression: NSExpression
  ) throws(PredicateEvaluationError) -> PredicateValue {
    if expression.hasOnlyKey, let record { return expression.valueOfOnlyKey(in: record) }
    if case .constant(let value) = expression.node {
      if case .placeholder(let text) = value { throw .missingArgument(text) }
      return value
    }
    return try computedValue(of: expression)
  }

  @inline(never)
  private mutating func computedValue(
    of expression: NSExpression
  ) throws(PredicateEvaluationError) -> PredicateValue {
    switch expression.node {
    case .constant(let value): return value
    case .evaluatedObject:
      if let record { return .object(PredicateObject(reference: record)) }
      return PredicateValue(root)
    case .variable(let name): return try variable(name)
    case .keyPath(let path):
      if let record { return try KeyPathReader.value(of: path, from: record) }
      return try KeyPathReader.value(of: path, from: root)
    case .path(let operand, let path):
      let object = try value(of: operand)
      let path = try keyPath(path)
      if case .object(let object) = object, let record = object.record {
        return try KeyPathReader.value(of: path, from: record)
      }
      return try KeyPathReader.value(of: path, from: object.carried)
    case .subscripted(let operand, let index): return try element(index, of: operand)
    case .function(let function, let arguments):
      return try FunctionEvaluator.value(of: function, try values(of: arguments))
    case .method(let operand, let name, let arguments):
      return try PredicateMethod.call(
        name, on: try value(of: operand), with: try values(of: arguments))
    case .aggregate(let elements):
      return .collection(PredicateCollection(try values(of: elements)))
    case .setOperation(let operation, let left, let right):
      return try combine(operation, try value(of: left), try value(of: right))
    case .subquery(let collection, let variable, let predicate):
      return try filter(try value(of: collection), variable, predicate)
    case .conditional(let predicate, let yes, let no):
      return try value(of: try evaluate(predicate) ? yes : no)
    case .anyKey: throw .unsupported("ANYKEY")
    case .assignment(let name, let expression):
      let value = try value(of: expression)
      variables = variables ?? [:]
      variables?[name] = value
      if !assigned.contains(name) { assigned.append(name) }
      return value
    case .fetch(let request, let context, let countOnly):
      return try fetch(
        try value(of: request), in: try value(of: context), countOnly: countOnly)
    case .block(let block, let arguments):
      let values = try values(of: arguments).map { $0.boxed ?? NSNull() }
      return PredicateValue(block.body(root, values, context))
    }
  }

  /// Returns the value of a variable in the form in which the public API returns values.
  func boxed(variable name: String) -> Any? {
    variables?[name]?.boxed
  }

  private func fetch(
    _ request: PredicateValue, in context: PredicateValue, countOnly: Bool
  ) throws(PredicateEvaluationError) -> PredicateValue {
    guard let request = request.original as? any FetchedByExpressions else {
      throw .wrongOperand(request.kindText, operator: "FETCH")
    }
    do {
      return PredicateValue(try request.result(in: context.original, countOnly: countOnly))
    } catch {
      throw .failed("FETCH", reason: "\(error)")
    }
  }

  private var context: NSMutableDictionary? {
    guard let bindings else { return nil }
    let context = NSMutableDictionary()
    for (name, value) in bindings { context[name] = value }
    return context
  }

  private mutating func values(
    of expressions: [NSExpression]
  ) throws(PredicateEvaluationError) -> [PredicateValue] {
    var values: [PredicateValue] = []
    values.reserveCapacity(expressions.count)
    // NaN is `nil`, as in a store.
    for expression in expressions { values.append(try value(of: expression).nilIfNotANumber) }
    return values
  }

  private mutating func variable(
    _ name: String
  ) throws(PredicateEvaluationError) -> PredicateValue {
    guard let value = variables?[name] else { throw .unboundVariable(name) }
    if case .object(let object) = value, let expression = object.base as? NSExpression {
      return try self.value(of: expression)
    }
    return value
  }

  /// Returns the key path after a dot: a literal one, or the value of a variable.
  private mutating func keyPath(
    _ expression: NSExpression
  ) throws(PredicateEvaluationError) -> PredicateKeyPath {
    if case .keyPath(let path) = expression.node { return path }
    let value = try value(of: expression)
    guard let text = value.string else {
      throw .wrongOperand(value.kindText, operator: "a path")
    }
    return PredicateKeyPath(text)
  }

  private func filter(
    _ value: PredicateValue, _ variable: String, _ predicate: NSPredicate
  ) throws(PredicateEvaluationError) -> PredicateValue {
    if value.isNull { return .null }
    guard case .collection(let collection) = value else {
      throw .wrongOperand(value.kindText, operator: "SUBQUERY")
    }
    var inner = self
    inner.variables = variables ?? [:]
    var found: [PredicateValue] = []
    for element in collection.elements {
      inner.variables?[variable] = element
      inner.bindings = (inner.bindings ?? [:]).merging([variable: element.original ?? NSNull()]) {
        $1
      }
      if try inner.evaluate(predicate) { found.append(element) }
    }
    return .collection(
      PredicateCollection(found, isOrdered: collection.isOrdered, isSet: collection.isSet))
  }

  private func combine(
    _ operation: NSExpression.SetOperation, _ left: PredicateValue, _ right: PredicateValue
  ) throws(PredicateEvaluationError) -> PredicateValue {
    guard case .collection(let first) = left else {
      throw .wrongOperand(left.kindText, operator: operation.rawValue)
    }
    guard case .collection(let second) = right else {
      throw .wrongOperand(right.kindText, operator: operation.rawValue)
    }
    var seen: Set<PredicateValue> = []
    let others = Set(second.elements)
    let elements =
      switch operation {
      case .union: (first.elements + second.elements).filter { seen.insert($0).inserted }
      case .intersect:
        first.elements.filter { others.contains($0) && seen.insert($0).inserted }
      case .minus: first.elements.filter { !others.contains($0) && seen.insert($0).inserted }
      }
    return .collection(PredicateCollection(elements, isOrdered: false))
  }

  /// Returns an element by its index, or a dictionary's entry by its key.
  private mutating func element(
    _ index: NSExpression.Index, of operand: NSExpression
  ) throws(PredicateEvaluationError) -> PredicateValue {
    let value = try value(of: operand)
    if case .null = value { return .null }
    if case .dictionary(let entries, _) = value {
      switch index {
      case .size: return .integer(Int64(entries.count))
      case .expression(let key):
        let key = try self.value(of: key)
        return key.string.flatMap { entries[$0] } ?? .null
      case .first, .last: throw .wrongOperand(value.kindText, operator: "[FIRST] or [LAST]")
      }
    }
    guard case .collection(let collection) = value else {
      throw .wrongOperand(value.kindText, operator: "[…]")
    }
    let elements = collection.elements
    switch index {
    case .first: return elements.first ?? .null
    case .last: return elements.last ?? .null
    case .size: return .integer(Int64(elements.count))
    case .expression(let expression):
      let position = try self.value(of: expression)
      guard let number = position.exactInteger else {
        throw .wrongOperand(position.kindText, operator: "[…]")
      }
      guard number >= 0, number < elements.count else { return .null }
      return elements[Int(number)]
    }
  }
}

/// The reason why a predicate can't be evaluated for an object.
///
/// Foundation raises an exception instead.
package enum PredicateEvaluationError: Error, Hashable, Sendable, CustomStringConvertible {
  case unknownKey(String, type: String)
  case unboundVariable(String)
  case missingArgument(String)
  /// The values can't be compared with the operator: `name < 3`.
  case incomparable(left: String, operator: String, right: String)
  /// An operand has the wrong kind for the operator or function.
  case wrongOperand(String, operator: String)
  case badPattern(String, reason: String)
  /// A regular expression takes more steps on a string than allowed.
  case tooManySteps(String, Int)
  /// A tree is deeper than allowed, with its depth and the limit.
  case tooDeep(Int, limit: Int)
  case unknownMethod(String, type: String)
  /// An error that occurred while a predicate was evaluated.
  case failed(String, reason: String)
  /// A feature of Apple platforms only.
  case unsupported(String)

  package var description: String {
    switch self {
    case .unknownKey(let key, let type): "\(type) has no value for the key “\(key)”"
    case .unboundVariable(let name): "the variable $\(name) has no value"
    case .missingArgument(let text): "the placeholder \(text) has no argument"
    case .incomparable(let left, let sign, let right):
      "\(left) can't be compared with \(right) by \(sign)"
    case .wrongOperand(let operand, let sign): "\(sign) can't be applied to \(operand)"
    case .badPattern(let pattern, let reason):
      "“\(pattern)” isn't a regular expression: \(reason)"
    case .tooManySteps(let pattern, let limit):
      "matching “\(pattern)” takes more than \(limit) steps on one string: avoid repetition within "
        + "repetition, such as (a+)+"
    case .tooDeep(let depth, let limit):
      "it's nested \(depth) levels deep, and the limit is \(limit): join many conditions with one "
        + "NSCompoundPredicate"
    case .unknownMethod(let name, let type):
      "FUNCTION doesn't support the method \(name) of \(type)"
    case .failed(let what, let reason): "\(what) failed: \(reason)"
    case .unsupported(let what): "\(what) can't be evaluated here"
    }
  }
}
