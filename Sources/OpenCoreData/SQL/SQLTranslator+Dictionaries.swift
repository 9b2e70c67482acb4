import ManagedModel
import SQLiteDriver

extension SQLTranslator {
  /// Returns the SELECT of a dictionary fetch.
  ///
  /// The select list has only the columns: no key, no version. A having predicate or an order that
  /// names a computed column makes it `… AS __var0`.
  ///
  /// - Parameter isCounted: Whether the dictionaries are only counted.
  func dictionaries(
    _ plan: DictionaryPlan, entity: SQLEntity, predicate: NSPredicate?, sort: [NSSortDescriptor],
    limit: Int, offset: Int, includesSubentities: Bool, isCounted: Bool = false
  ) throws(TranslationError) -> DictionaryQuery {
    try checkDepth(plan)
    let shape = PredicateShape(
      plan, entity: entity, predicate: predicate, sort: sort, limit: limit, offset: offset,
      includesSubentities: includesSubentities, isCounted: isCounted)
    if let shape, let known = cache.entry(shape),
      let query = known.query(shape.constants, for: self)
    {
      return DictionaryQuery(query: query, columns: known.columns)
    }
    let (entry, isReusable) = try dictionaries(
      plan, entity, predicate, sort, shape, limit: limit, offset: offset,
      filter: entityFilter(entity, includesSubentities: includesSubentities),
      isCounted: isCounted)
    cache.add(entry, shape: isReusable ? shape : nil)
    guard let query = entry.query(shape?.constants ?? [], for: self) else {
      fatalError("The number of constants must match the cached SQL text.")
    }
    return DictionaryQuery(query: query, columns: entry.columns)
  }

  /// Throws for a column, a group, or a having predicate that recursion must not enter.
  private func checkDepth(_ plan: DictionaryPlan) throws(TranslationError) {
    var depths = (plan.columns + plan.groups).map { ($0.name, $0.expression.depth) }
    if let having = plan.having { depths.append(("havingPredicate", having.depth)) }
    for (name, depth) in depths where depth > StoreLimits.conditionDepth {
      throw TranslationError(
        name,
        "It's nested \(depth) levels deep; the limit in SQL is \(StoreLimits.conditionDepth).")
    }
  }

  private func dictionaries(
    _ plan: DictionaryPlan, _ entity: SQLEntity, _ predicate: NSPredicate?,
    _ sort: [NSSortDescriptor], _ shape: PredicateShape?, limit: Int, offset: Int,
    filter: SQLCondition?, isCounted: Bool
  ) throws(TranslationError) -> (TranslationCache.Entry, isReusable: Bool) {
    let translation = PredicateTranslation(self, entity: entity, shape: shape)
    // Rows returned more than once would be counted more than once.
    translation.joinsToMany = false
    var conditions: [SQLCondition] = []
    if let predicate { conditions.append(try translation.condition(predicate)) }
    if let filter { conditions.append(filter) }
    translation.aggregatesRows = true
    let functions = plan.columns.flatMap(\.expression.rowFunctions)
    translation.mayMultiplyRows = functions.count == 1 && plan.having == nil
    var texts: [PredicateTranslation.ColumnText] = []
    for column in plan.columns { texts.append(try translation.column(column.expression)) }
    let groups = try grouping(plan, translation)
    try name(plan, texts, in: translation)
    let having = try plan.having.map { predicate throws(TranslationError) in
      try translation.condition(predicate, at: translation.columnSite)
    }
    let order = try translation.order(sort)
    var parts = select(plan, texts, translation.computed)
    parts.text.table = entity.table
    parts.text.isDistinct = plan.isDistinct
    parts.text.joins = translation.root.text
    parts.text.order = order
    parts.text.limit = limit
    parts.text.offset = offset
    parts.text.isNested = isCounted
    var binds = parts.binds
    switch SQLCondition.all(conditions) {
    case .constant(true): break
    case let condition:
      parts.text.condition = condition.fragment.sql
      binds += condition.fragment.binds
    }
    parts.text.grouping = groups.sql
    binds += groups.binds
    if let having {
      parts.text.having = having.fragment.sql
      binds += having.fragment.binds
    }
    let entry = TranslationCache.Entry(
      sql: parts.text.sql, binds: binds, intArrays: translation.intArrays,
      projection: Projection(entity: entity, extent: .identifiers), columns: parts.columns)
    return (entry, translation.isReusable)
  }

  /// Returns the terms of `GROUP BY`.
  private func grouping(
    _ plan: DictionaryPlan, _ translation: PredicateTranslation
  ) throws(TranslationError) -> SQLFragment {
    var groups: [SQLFragment] = []
    for group in plan.groups {
      if group.expression.aggregatesRows {
        throw TranslationError(group.name, "A group can't be determined by a function of its rows.")
      }
      groups.append(try translation.column(group.expression).fragment)
    }
    return .joined(groups, by: ", ")
  }

  /// Records the types of the computed columns, for having predicates and orders.
  private func name(
    _ plan: DictionaryPlan, _ texts: [PredicateTranslation.ColumnText],
    in translation: PredicateTranslation
  ) throws(TranslationError) {
    for (column, text) in zip(plan.columns, texts) where column.isComputed {
      guard case .value(let type) = text.kind else { continue }
      translation.computed.types[column.name] = StoredType(type)
      if column.expression.rowFunction == .sum { translation.computed.sums.insert(column.name) }
    }
  }

  /// Returns the select list and the conversion of its columns.
  private func select(
    _ plan: DictionaryPlan, _ texts: [PredicateTranslation.ColumnText],
    _ computed: ComputedColumns
  ) -> (text: SelectText, binds: [SQLBind], columns: [DictionaryQuery.Column]) {
    var list: [SQLFragment] = []
    var columns: [DictionaryQuery.Column] = []
    func append(_ fragment: SQLFragment) -> Int32 {
      var fragment = fragment
      if fragment.sql.first == " " { fragment.sql.removeFirst() }
      list.append(fragment)
      return Int32(list.count - 1)
    }
    for (column, text) in zip(plan.columns, texts) {
      var fragment = text.fragment
      if column.isComputed, let alias = computed.aliases[column.name] {
        fragment = "\(fragment) AS \(raw: alias)"
      }
      let source: DictionaryQuery.Source
      switch text.kind {
      case .value(let type): source = .value(append(fragment), type)
      case .object(let entity, let number):
        let key = append(fragment)
        source = .objectID(key: key, entity: entity, number: number.map(append))
      }
      columns.append(
        DictionaryQuery.Column(
          name: column.name, source: source, resultType: column.resultType))
    }
    let joined = SQLFragment.joined(list, by: ", ")
    return (SelectText(list: joined.sql, table: ""), joined.binds, columns)
  }
}

/// The contents of a fetch's dictionaries, read once from its request.
struct DictionaryPlan {
  /// An entry of each dictionary.
  struct Column {
    /// The entry's key.
    let name: String
    let expression: NSExpression
    /// The requested type; `nil` for the expression's own.
    let resultType: NSAttributeType?
    /// Whether the value is computed, so that having predicates and orders can name it.
    let isComputed: Bool
  }

  let columns: [Column]
  let groups: [Column]
  let having: NSPredicate?
  let isDistinct: Bool

  /// Whether a dictionary represents several rows.
  let isAggregated: Bool

  /// The composite attributes that are requested as a whole; their leaves are columns.
  let composites: [NSCompositeAttributeDescription]

  /// Returns a dictionary whose composite attributes are nested dictionaries.
  ///
  /// - Parameter entries: One for each column.
  func gathered(_ entries: [String: Any]) -> [String: Any] {
    guard !composites.isEmpty else { return entries }
    var result = entries
    for composite in composites {
      for leaf in composite.leaves { result[leaf.name] = nil }
      result[composite.name] = composite.gathered { entries[$0] }
    }
    return result
  }

  /// Returns the index of a computed entry by its name in a having predicate or an order.
  func computedColumn(named name: String) -> Int? {
    columns.firstIndex { $0.isComputed && $0.name == name }
  }

  /// Returns the expression of a computed entry by its name.
  func computedExpression(named name: String) -> NSExpression? {
    computedColumn(named: name).map { columns[$0].expression }
  }
}

extension NSExpression {
  /// Whether the value depends on an aggregate of several rows: a function such as `sum:(age)`, or
  /// the key path `@sum.age`.
  var aggregatesRows: Bool { !rowFunctions.isEmpty }

  /// The functions over several rows in the expression, except inside of one another.
  var rowFunctions: [PredicateFunction] {
    if let rowFunction { return [rowFunction] }
    switch node {
    // A function of a list is one of values of the row.
    case .function(let function, let arguments) where function.isAggregate && arguments.count == 1:
      return []
    case .conditional(let predicate, let yes, let no):
      return predicate.comparedExpressions.flatMap(\.rowFunctions) + yes.rowFunctions
        + no.rowFunctions
    case .path(let base, let path):
      if case .evaluatedObject = base.node { return path.rowFunctions }
      // An operator after another value, such as a SUBQUERY, is one over that value's elements.
      return base.rowFunctions
    default: return node.children.flatMap(\.rowFunctions)
    }
  }

  /// The function over several rows that the whole expression is; `nil` for any other expression.
  var rowFunction: PredicateFunction? {
    switch node {
    case .function(let function, let arguments) where function.isAggregate && arguments.count == 1:
      if case .aggregate = arguments[0].node { return nil }
      return function
    case .keyPath(let path):
      guard case .operator(let found)? = path.components.first else { return nil }
      return PredicateTranslation.function(of: found) ?? .count
    default: return nil
    }
  }

  /// Returns the first part whose value may differ between the rows of a group, outside of
  /// functions over its rows; `nil` if there's none.
  ///
  /// - Parameters:
  ///   - groups: The expressions that have one value in all rows of a group.
  ///   - names: The computed values and variables that have one, too.
  func part(notDeterminedBy groups: [NSExpression], names: Set<String> = []) -> NSExpression? {
    if isIndependentOfObject || rowFunction != nil || groups.contains(self) { return nil }
    func first(_ expressions: [NSExpression]) -> NSExpression? {
      expressions.lazy.compactMap { $0.part(notDeterminedBy: groups, names: names) }.first
    }
    switch node {
    case .function, .aggregate, .subscripted, .setOperation, .method:
      return first(node.children)
    case .conditional(let predicate, let yes, let no):
      return first(predicate.comparedExpressions + [yes, no])
    case .subquery(let collection, let variable, let predicate):
      return first([collection])
        ?? predicate.part(notDeterminedBy: groups, names: names.union([variable]))
    case .variable(let name): return names.contains(name) ? nil : self
    case .path(let base, let path):
      if case .evaluatedObject = base.node { return first([path]) }
      return first([base])
    case .keyPath(let path):
      if let key = path.onlyKey, names.contains(key) { return nil }
      // The values of an object that the rows of a group have in common are the same, too.
      let isOfGroup = groups.contains { group in
        guard case .keyPath(let start) = group.node else { return false }
        return path.components.starts(with: start.components)
      }
      return isOfGroup ? nil : self
    default: return self
    }
  }
}

extension NSPredicate {
  /// Returns the first part that isn't the same for all rows of a group, as of an expression.
  func part(notDeterminedBy groups: [NSExpression], names: Set<String>) -> NSExpression? {
    comparedExpressions.lazy.compactMap { $0.part(notDeterminedBy: groups, names: names) }.first
  }
}

extension NSPredicate {
  /// The expressions that the predicate's comparisons compare.
  fileprivate var comparedExpressions: [NSExpression] {
    switch self {
    case let comparison as NSComparisonPredicate:
      [comparison.leftExpression, comparison.rightExpression]
    case let compound as NSCompoundPredicate:
      compound.predicates.flatMap(\.comparedExpressions)
    default: []
    }
  }
}
