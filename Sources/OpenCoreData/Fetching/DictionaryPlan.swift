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

  init<T>(_ request: NSFetchRequest<T>, entity: NSEntityDescription) throws {
    let asked = request.propertiesToFetch ?? []
    columns =
      asked.isEmpty ? Self.attributes(of: entity) : try asked.map { try Self.column($0) }
    groups = try (request.propertiesToGroupBy ?? []).map { try Self.column($0) }
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
