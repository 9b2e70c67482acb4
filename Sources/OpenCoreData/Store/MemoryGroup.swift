import ManagedModel

/// The rows that one dictionary of a store in memory stands for.
final class MemoryGroup: KeyValueReadable {
  /// The dictionary's entries in the order of its columns, nils included.
  let values: [PredicateValue]

  private let rows: [MemoryRecord]
  private let plan: DictionaryPlan

  init(rows: [MemoryRecord], _ plan: DictionaryPlan) throws(PredicateEvaluationError) {
    self.rows = rows
    self.plan = plan
    var values: [PredicateValue] = []
    for column in plan.columns {
      values.append(try Self.value(of: column.expression, rows, plan))
    }
    self.values = values
  }

  /// Whether the condition on groups holds.
  func matches() throws(PredicateEvaluationError) -> Bool {
    guard let having = plan.having else { return true }
    let computed = Dictionary(
      plan.columns.filter(\.isComputed).map { ($0.name, $0.expression as Any) },
      uniquingKeysWith: { first, _ in first })
    return try Self.folded(having.withSubstitutionVariables(computed), rows, plan)
      .evaluation(of: rows.first)
  }

  /// A computed value by its name, else what the rows of the group have in common.
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

  // MARK: Functions over rows

  private static func value(
    of expression: NSExpression, _ rows: [MemoryRecord], _ plan: DictionaryPlan
  ) throws(PredicateEvaluationError) -> PredicateValue {
    try folded(expression, rows, plan).value(for: rows.first)
  }

  /// An expression whose functions over the rows are constants.
  private static func folded(
    _ expression: NSExpression, _ rows: [MemoryRecord], _ plan: DictionaryPlan
  ) throws(PredicateEvaluationError) -> NSExpression {
    switch expression.node {
    case .keyPath(let path):
      if case .operator(let found)? = path.components.first {
        return try constant(function(found), path.argument, rows)
      }
      guard let key = path.onlyKey, let column = plan.computedColumn(named: key),
        plan.columns[column].expression !== expression
      else { return expression }
      return try folded(plan.columns[column].expression, rows, plan)
    case .function(let function, let arguments):
      if expression.aggregatesRows, function.isAggregate, arguments.count == 1 {
        return try constant(function, arguments[0], rows)
      }
      var changed: [NSExpression] = []
      for argument in arguments { changed.append(try folded(argument, rows, plan)) }
      return NSExpression(.function(function, changed))
    case .conditional(let predicate, let yes, let no):
      return NSExpression(
        .conditional(
          try folded(predicate, rows, plan), try folded(yes, rows, plan),
          try folded(no, rows, plan)))
    default: return expression
    }
  }

  private static func folded(
    _ predicate: NSPredicate, _ rows: [MemoryRecord], _ plan: DictionaryPlan
  ) throws(PredicateEvaluationError) -> NSPredicate {
    switch predicate {
    case let comparison as NSComparisonPredicate:
      return NSComparisonPredicate(
        like: comparison, left: try folded(comparison.leftExpression, rows, plan),
        right: try folded(comparison.rightExpression, rows, plan))
    case let compound as NSCompoundPredicate:
      var changed: [NSPredicate] = []
      for predicate in compound.predicates { changed.append(try folded(predicate, rows, plan)) }
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
    // As in SQL, nils are not counted.
    let found = PredicateCollection(values.filter { !$0.isNull })
    return NSExpression(
      .constant(try FunctionEvaluator.value(of: function, [.collection(found)])))
  }

  /// A key path over a to-many as one that gives a value for each object, as SQL joins them, not the
  /// set of the values.
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
