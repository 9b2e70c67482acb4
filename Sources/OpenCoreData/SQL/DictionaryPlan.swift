import ManagedModel

/// What the dictionaries of a fetch hold, read once from its request.
struct DictionaryPlan {
  /// An entry of each dictionary.
  struct Column {
    /// The entry's key.
    let name: String
    let expression: NSExpression
    /// The type asked for, nil for the expression's own.
    let resultType: NSAttributeType?
    /// Whether the value is computed, so that conditions and orders may name it.
    let isComputed: Bool
  }

  let columns: [Column]
  let groups: [Column]
  let having: NSPredicate?
  let isDistinct: Bool

  /// Whether a dictionary stands for several rows.
  let isAggregated: Bool

  /// The composite attributes that are asked for as a whole; their leaves are columns.
  private let composites: [NSCompositeAttributeDescription]

  init<T>(_ request: NSFetchRequest<T>, entity: NSEntityDescription) throws {
    let asked = request.propertiesToFetch ?? []
    let wanted =
      asked.isEmpty ? Self.attributes(of: entity) : try asked.map { try Self.column($0) }
    columns = wanted.flatMap { Self.leaves(of: $0, entity) }
    composites = wanted.compactMap { Self.composite($0, entity) }
    groups = try (request.propertiesToGroupBy ?? []).map { try Self.column($0) }
      .flatMap { Self.leaves(of: $0, entity) }
    having = request.havingPredicate
    isDistinct = request.returnsDistinctResults
    if having != nil, groups.isEmpty {
      throw NSError.fetch(
        "A condition on groups needs groups: set propertiesToGroupBy, or use predicate.")
    }
    isAggregated = !groups.isEmpty || columns.contains { $0.expression.aggregatesRows }
    if isAggregated {
      let grouped = Set(groups.map(\.expression))
      for column in columns
      where !column.expression.aggregatesRows && !grouped.contains(column.expression) {
        throw NSError.fetch(
          "'\(column.name)' is neither grouped nor a function of the group's rows: "
            + "add it to propertiesToGroupBy.")
      }
    }
  }

  /// A dictionary whose composite attributes are dictionaries themselves.
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

  /// The composite attribute that a column names, nil for another column.
  private static func composite(
    _ column: Column, _ entity: NSEntityDescription
  ) -> NSCompositeAttributeDescription? {
    column.isComputed
      ? nil : entity.attributesByName[column.name] as? NSCompositeAttributeDescription
  }

  /// The columns of a composite attribute; any other column is itself.
  private static func leaves(of column: Column, _ entity: NSEntityDescription) -> [Column] {
    composite(column, entity)?.leaves.map { Self.column(named: $0.name) } ?? [column]
  }

  /// A computed entry by the name that a condition or an order calls it by.
  func computedColumn(named name: String) -> Int? {
    columns.firstIndex { $0.isComputed && $0.name == name }
  }

  private static func attributes(of entity: NSEntityDescription) -> [Column] {
    entity.propertiesByName.values
      .filter { $0 is NSAttributeDescription && !$0.isTransient }
      .map(\.name).sorted().map { column(named: $0) }
  }

  private static func column(named name: String) -> Column {
    Column(
      name: name, expression: NSExpression(forKeyPath: name), resultType: nil, isComputed: false)
  }

  private static func column(_ property: Any) throws -> Column {
    switch property {
    case let name as String: return column(named: name)
    case let description as NSExpressionDescription:
      guard let expression = description.expression else {
        throw NSError.fetch(
          "The expression description '\(description.name)' has no expression: set one.")
      }
      let type = description.expressionResultType
      return Column(
        name: description.name, expression: expression,
        resultType: type == .undefinedAttributeType ? nil : type, isComputed: true)
    case let description as NSPropertyDescription: return column(named: description.name)
    default:
      throw NSError.fetch(
        "A property to fetch or to group by is a name, a key path or a property description, not "
          + "\(property).")
    }
  }
}

extension NSExpression {
  /// Whether the value is one of several rows: a function such as `sum:(age)`, or the key path
  /// `@sum.age`.
  var aggregatesRows: Bool {
    switch node {
    case .function(let function, let arguments) where function.isAggregate && arguments.count == 1:
      if case .aggregate = arguments[0].node { return false }
      return true
    case .keyPath(let path):
      if case .operator = path.components.first { return true }
      return false
    default: return node.children.contains(where: \.aggregatesRows)
    }
  }
}
