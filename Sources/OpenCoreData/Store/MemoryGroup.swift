import ManagedModel

/// The rows that a dictionary of an in-memory store represents.
final class MemoryGroup: KeyValueReadable {
  /// The dictionary's values in the order of its columns, including nils.
  let values: [PredicateValue]

  private let rows: [MemoryRecord]
  private let plan: DictionaryPlan

  init(rows: [MemoryRecord], _ plan: DictionaryPlan) throws(PredicateEvaluationError) {
    self.rows = rows
    self.plan = plan
    var values: [PredicateValue] = []
    for column in plan.columns {
      values.append(try Self.folded(column.expression, rows).value(for: rows.first))
    }
    self.values = values
  }

  /// Returns whether the group satisfies the having predicate.
  func matches() throws(PredicateEvaluationError) -> Bool {
    guard let having = plan.having else { return true }
    var computed: [String: Any] = [:]
    for column in plan.columns where column.isComputed && computed[column.name] == nil {
      computed[column.name] = try Self.folded(column.expression, rows)
    }
    return try Self.folded(having, rows, naming: plan).withSubstitutionVariables(computed)
      .evaluation(of: rows.first)
  }

  /// Returns a computed value by name, or a value that the group's rows have in common.
  func value(forKey key: String) -> Any? {
    if let column = plan.computedColumn(named: key) { return values[column].original }
    return rows.first?.value(forKey: key)
  }

  /// The dictionary.
  var entries: [String: Any] {
    var entries: [String: Any] = [:]
    for (column, value) in zip(plan.columns, values) {
      if case .object(let object) = value {
        entries[column.name] = (object.base as? MemoryRecord)?.objectID ?? object.base
      } else {
        entries[column.name] = value.dictionaryValue(column.resultType)
      }
    }
    return plan.gathered(entries)
  }

  // MARK: Aggregate functions

  /// Returns an expression with its aggregate functions replaced by constants.
  ///
  /// - Parameter names: The plan whose computed values a key of a having predicate can name. A key
  ///   in a computed value is one of the rows, as in SQL.
  private static func folded(
    _ expression: NSExpression, _ rows: [MemoryRecord], naming names: DictionaryPlan? = nil
  ) throws(PredicateEvaluationError) -> NSExpression {
    switch expression.node {
    case .keyPath(let path):
      if case .operator(let found)? = path.components.first {
        return try constant(function(found), path.argument, rows)
      }
      guard let key = path.onlyKey, let computed = names?.computedExpression(named: key) else {
        return expression
      }
      return try folded(computed, rows)
    case .function(let function, let arguments):
      if function.isAggregate, arguments.count == 1 {
        // A function of a list is one of values of the row.
        return try expression.aggregatesRows ? constant(function, arguments[0], rows) : expression
      }
      return NSExpression(.function(function, try folded(arguments, rows, naming: names)))
    case .aggregate(let elements):
      return NSExpression(.aggregate(try folded(elements, rows, naming: names)))
    case .method(let operand, let name, let arguments):
      let operand = try folded(operand, rows, naming: names)
      return NSExpression(.method(operand, name, try folded(arguments, rows, naming: names)))
    case .path(let operand, let path):
      return NSExpression(.path(try folded(operand, rows, naming: names), path))
    case .conditional(let predicate, let yes, let no):
      return NSExpression(
        .conditional(
          try folded(predicate, rows, naming: names), try folded(yes, rows, naming: names),
          try folded(no, rows, naming: names)))
    default: return expression
    }
  }

  private static func folded(
    _ expressions: [NSExpression], _ rows: [MemoryRecord], naming names: DictionaryPlan?
  ) throws(PredicateEvaluationError) -> [NSExpression] {
    var changed: [NSExpression] = []
    for expression in expressions { changed.append(try folded(expression, rows, naming: names)) }
    return changed
  }

  private static func folded(
    _ predicate: NSPredicate, _ rows: [MemoryRecord], naming names: DictionaryPlan?
  ) throws(PredicateEvaluationError) -> NSPredicate {
    switch predicate {
    case let comparison as NSComparisonPredicate:
      return NSComparisonPredicate(
        like: comparison, left: try folded(comparison.leftExpression, rows, naming: names),
        right: try folded(comparison.rightExpression, rows, naming: names))
    case let compound as NSCompoundPredicate:
      var changed: [NSPredicate] = []
      for predicate in compound.predicates {
        changed.append(try folded(predicate, rows, naming: names))
      }
      return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: changed)
    default: return predicate
    }
  }

  private static func constant(
    _ function: PredicateFunction, _ argument: NSExpression, _ rows: [MemoryRecord]
  ) throws(PredicateEvaluationError) -> NSExpression {
    var values: [PredicateValue] = []
    let argument = rows.first.map { ofEachObject(argument, $0.row.layout.entity) } ?? argument
    for row in rows {
      let value = try argument.value(for: row)
      if case .collection(let collection) = value {
        values += collection.elements
      } else {
        values.append(value)
      }
    }
    // As in SQL, nils aren't counted.
    let found = PredicateCollection(values.filter { !$0.isNull })
    return NSExpression(
      .constant(try FunctionEvaluator.value(of: function, [.collection(found)])))
  }

  /// Returns a key path over a to-many with one value for each object, as in an SQL join, instead
  /// of distinct values.
  private static func ofEachObject(
    _ argument: NSExpression, _ entity: NSEntityDescription
  ) -> NSExpression {
    guard case .keyPath(let path) = argument.node else { return argument }
    let keys = path.keys
    guard keys.count == path.components.count else { return argument }
    var home: NSEntityDescription? = entity
    for (index, key) in keys.dropLast().enumerated() {
      guard let relationship = home?.relationshipsByName[key] else { return argument }
      if relationship.isToMany {
        let parts = keys[...index] + ["@unionOfObjects"] + keys[(index + 1)...]
        return NSExpression(forKeyPath: parts.joined(separator: "."))
      }
      home = relationship.destinationEntity
    }
    return argument
  }

  private static func function(
    _ found: CollectionOperator
  ) throws(PredicateEvaluationError) -> PredicateFunction {
    guard let function = PredicateTranslation.function(of: found) else {
      throw .unsupported(found.rawValue)
    }
    return function
  }
}
