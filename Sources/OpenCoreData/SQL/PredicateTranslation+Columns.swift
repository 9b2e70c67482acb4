import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// A column of a dictionary fetch: its SQL, and the SQL of an object's entity number beside it.
  struct ColumnText {
    let fragment: SQLFragment
    let kind: Kind

    enum Kind {
      case value(NSAttributeType)
      case object(SQLEntity, number: SQLFragment?)
    }
  }

  /// The site of columns, groups, conditions on groups and orders: no row may go for them.
  var columnSite: Site { Site(scopes: [root], isRequired: false) }

  /// An expression as a column.
  func column(_ expression: NSExpression) throws(TranslationError) -> ColumnText {
    let site = columnSite
    let found = try operand(expression, at: site)
    switch found {
    case .attribute(let column, let attribute):
      return ColumnText(fragment: column, kind: .value(attribute.attributeType))
    case .object(let key, let entity):
      return ColumnText(
        fragment: key, kind: .object(entity, number: try entityNumber(of: expression, entity)))
    case .toMany(let path) where path.rest.isEmpty && path.filter == nil:
      throw TranslationError(
        path.text, "A dictionary holds no to-many relationship. Count it: \(path.text).@count.")
    case .entity:
      throw TranslationError(expression.description, "A dictionary holds no entity.")
    default:
      let (fragment, type) = try value(of: found, expression, at: site)
      return ColumnText(
        fragment: fragment,
        kind: .value(type.map { NSAttributeType($0) } ?? .undefinedAttributeType))
    }
  }

  /// The column with the number of an object's entity, nil where the table holds one entity.
  private func entityNumber(
    of expression: NSExpression, _ entity: SQLEntity
  ) throws(TranslationError) -> SQLFragment? {
    guard entity.hasHierarchy else { return nil }
    var components: [PredicateKeyPath.Component] = []
    if case .keyPath(let path) = expression.node { components = path.components }
    let text = expression.description
    let found = try walk(
      (components + [.key("entity")])[...], in: root, at: columnSite, text: text)
    guard case .entity(let column, _, _) = found else {
      throw TranslationError(text, "This is no path to an object.")
    }
    return column
  }

  /// A computed column by its name, nil for a name that none has.
  func computedColumn(_ name: String) -> SQLOperand? {
    guard let type = computed.types[name], let alias = computed.alias(of: name) else { return nil }
    return .computed("\(raw: alias)", type)
  }

  /// A function over the rows of the result or of a group, nil for one over something else.
  func rowAggregate(
    _ function: PredicateFunction, _ argument: NSExpression, at site: Site
  ) throws(TranslationError) -> SQLOperand? {
    guard aggregatesRows, site.scope === root, let name = Self.name(of: function) else {
      return nil
    }
    // The rows of rows are no rows.
    aggregatesRows = false
    defer { aggregatesRows = true }
    let found = try operand(argument, at: site)
    switch found {
    case .object(let key, _) where function == .count:
      return .computed("\(raw: name)(\(key))", .integer)
    case .toMany(let path) where function == .count && path.rest.isEmpty && path.filter == nil:
      return .computed(try countOfAll(path, at: site), .integer)
    case .toMany(let path):
      if case .operator = path.rest.first { break }
      // The sum of the sums is the sum; an average of averages is none.
      guard function != .average,
        case .computed(let each, let type) = try aggregate(
          function, [argument], at: site, argument, over: .objects)
      else {
        throw TranslationError(path.text, "An average over the objects of many rows has no SQL.")
      }
      return function == .count
        ? .computed("IFNULL(SUM(\(each)), 0)", .integer) : .computed("\(raw: name)(\(each))", type)
    case .list: return nil
    default: break
    }
    let (fragment, type) = try value(of: found, argument, at: site)
    let isOrder = function == .min || function == .max || function == .count
    if !isOrder, let type, !type.isNumber || type == .timestamp {
      throw TranslationError(argument.description, "This is no number.")
    }
    let result: StoredType? = function == .count ? .integer : function == .average ? .real : type
    return .computed("\(raw: name)(\(fragment))", result ?? .real)
  }

  /// How many objects all rows lead to.
  ///
  /// Joined as Apple's SQL has it where nothing else would see the rows multiplied.
  private func countOfAll(
    _ path: ToManyPath, at site: Site
  ) throws(TranslationError) -> SQLFragment {
    guard mayMultiplyRows else {
      return "IFNULL(SUM(\(try countFragment(path, at: site, where: nil))), 0)"
    }
    return "COUNT( \(raw: join(path, isRequired: false).key))"
  }

  /// `@sum.age` as a function over the rows.
  func rowAggregate(
    _ path: PredicateKeyPath, at site: Site
  ) throws(TranslationError) -> SQLOperand? {
    guard aggregatesRows, case .operator(let found)? = path.components.first else { return nil }
    guard let function = Self.function(of: found) else {
      throw TranslationError(path.text, "\(found.rawValue) makes a list; only memory can.")
    }
    return try rowAggregate(function, path.argument, at: site)
  }
}

extension PredicateKeyPath {
  /// What follows the operator that the path begins with: `age` in `@sum.age`, the object in `@count`.
  var argument: NSExpression {
    let dot = text.firstIndex(of: ".")
    guard let dot else { return NSExpression.expressionForEvaluatedObject() }
    return NSExpression(forKeyPath: String(text[text.index(after: dot)...]))
  }
}
