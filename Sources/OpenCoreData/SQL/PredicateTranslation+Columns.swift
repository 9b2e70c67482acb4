import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// A column of a dictionary fetch: its SQL, and the SQL of an object's entity ID.
  struct ColumnText {
    let fragment: SQLFragment
    let kind: Kind

    enum Kind {
      case value(NSAttributeType)
      case object(SQLEntity, number: SQLFragment?)
    }
  }

  /// The site of columns, groups, having predicates, and orders, which must not remove rows.
  var columnSite: Site { Site(scopes: [root], isRequired: false) }

  /// Returns an expression as a column.
  func column(_ expression: NSExpression) throws(TranslationError) -> ColumnText {
    let site = columnSite
    // A sum that is a whole column is converted when it's read.
    castsSums = expression.rowFunction == nil
    defer { castsSums = true }
    let found = try operand(expression, at: site)
    switch found {
    case .attribute(let column, let attribute):
      return ColumnText(fragment: column, kind: .value(attribute.attributeType))
    case .object(let key, let entity):
      return ColumnText(
        fragment: key, kind: .object(entity, number: try entityNumber(of: expression, entity)))
    case .toMany(let path) where path.rest.isEmpty && path.filter == nil:
      throw TranslationError(
        path.text,
        "A dictionary can't contain a to-many relationship. Count it: \(path.text).@count.")
    case .entity:
      throw TranslationError(expression.description, "A dictionary can't contain an entity.")
    default:
      let (fragment, type) = try value(of: found, expression, at: site)
      // Several types are stored in the same way, such as strings and URLs.
      let source = sourceType(of: expression).flatMap { StoredType($0) == type ? $0 : nil }
      return ColumnText(
        fragment: fragment,
        kind: .value(source ?? type.map { NSAttributeType($0) } ?? .undefinedAttributeType))
    }
  }

  /// Returns the type of the attributes of which an expression returns a value, such as the
  /// greatest one; `nil` for other expressions, and for attributes of several types.
  private func sourceType(of expression: NSExpression) -> NSAttributeType? {
    switch expression.node {
    case .keyPath(let path): return sourceType(of: path)
    case .function(let function, let arguments)
    where [.min, .max, .noIndex].contains(function):
      return commonType(of: arguments)
    case .aggregate(let elements): return commonType(of: elements)
    default: return nil
    }
  }

  private func commonType(of expressions: [NSExpression]) -> NSAttributeType? {
    let types = Set(expressions.map { sourceType(of: $0) })
    return types.count == 1 ? types.first ?? nil : nil
  }

  private func sourceType(of path: PredicateKeyPath) -> NSAttributeType? {
    var entity: NSEntityDescription? = root.entity.description
    for component in path.components {
      switch component {
      case .operator(.min), .operator(.max): continue
      case .operator, .placeholder: return nil
      case .key(let key):
        let property = entity?.propertiesByName[key]
        guard let relationship = property as? NSRelationshipDescription else {
          return (property as? NSAttributeDescription)?.attributeType
        }
        entity = relationship.destinationEntity
      }
    }
    return nil
  }

  /// Returns the column with the ID of an object's entity; `nil` if the table contains one entity.
  private func entityNumber(
    of expression: NSExpression, _ entity: SQLEntity
  ) throws(TranslationError) -> SQLFragment? {
    guard entity.hasHierarchy else { return nil }
    let text = expression.description
    guard let components = Self.keys(to: expression) else {
      throw TranslationError(
        text, "A dictionary can contain only objects at the end of key paths.")
    }
    let found = try walk(
      (components + [.key("entity")])[...], in: root, at: columnSite, text: text)
    guard case .entity(let column, _, _) = found else {
      throw TranslationError(text, "The key path must end at an object.")
    }
    return column
  }

  /// Returns the keys from the row's own object to the object that an expression returns; `nil` for
  /// an expression of another form.
  private static func keys(to object: NSExpression) -> [PredicateKeyPath.Component]? {
    switch object.node {
    case .evaluatedObject: return []
    case .keyPath(let path): return path.components
    case .path(let base, let rest):
      guard let start = keys(to: base), case .keyPath(let path) = rest.node else { return nil }
      return start + path.components
    case .function(.noIndex, let arguments) where arguments.count == 1:
      return keys(to: arguments[0])
    default: return nil
    }
  }

  /// Returns a computed column by name; `nil` for an unknown name.
  func computedColumn(_ name: String) -> SQLOperand? {
    guard let type = computed.types[name], let alias = computed.alias(of: name) else { return nil }
    return computed.sums.contains(name)
      ? sum("\(raw: alias)", type) : .computed("\(raw: alias)", type)
  }

  /// Returns a sum over rows, which SQL computes as a real number: one of integers is an integer
  /// for the rest of the expression, as in memory.
  private func sum(_ total: SQLFragment, _ type: StoredType) -> SQLOperand {
    .computed(castsSums && type == .integer ? Self.whole(total) : total, type)
  }

  /// Returns a function over the rows of the result or of a group; `nil` for a function over
  /// something else.
  func rowAggregate(
    _ function: PredicateFunction, _ argument: NSExpression, at site: Site
  ) throws(TranslationError) -> SQLOperand? {
    guard aggregatesRows, site.scope === root, let name = Self.name(of: function) else {
      return nil
    }
    // A nested function isn't over the rows.
    aggregatesRows = false
    defer { aggregatesRows = true }
    let found = try operand(argument, at: site)
    switch found {
    case .object(let key, _) where function == .count,
      .attribute(let key, _) where function == .count:
      return .computed("\(raw: name)(\(key))", .integer)
    case .toMany(let path) where function == .count && path.rest.isEmpty && path.filter == nil:
      return .computed(try countOfAll(path, at: site), .integer)
    case .toMany(let path):
      if case .operator = path.rest.first { break }
      // A sum of sums is a sum; an average of averages isn't an average.
      guard function != .average,
        case .computed(let each, let type) = try aggregate(
          function, [argument], at: site, argument, over: .objects)
      else {
        throw TranslationError(
          path.text, "An average over the objects of many rows can't be translated to SQL.")
      }
      let value: SQLFragment = "\(raw: name)(\(each))"
      return switch function {
      case .count: .computed("IFNULL(SUM(\(each)), 0)", .integer)
      case .sum: sum(value, type)
      default: .computed(value, type)
      }
    case .list: return nil
    default: break
    }
    let (fragment, type) = try value(of: found, argument, at: site)
    let isOrder = function == .min || function == .max || function == .count
    if !isOrder, let type, !type.isNumber || type == .timestamp {
      throw TranslationError(argument.description, "This isn't a number.")
    }
    let result: StoredType? = function == .count ? .integer : function == .average ? .real : type
    let value: SQLFragment = "\(raw: name)(\(fragment))"
    return function == .sum ? sum(value, result ?? .real) : .computed(value, result ?? .real)
  }

  /// Returns the number of destinations of all rows.
  ///
  /// Joined as in Core Data's SQL, if the multiplied rows have no other effect.
  private func countOfAll(
    _ path: ToManyPath, at site: Site
  ) throws(TranslationError) -> SQLFragment {
    guard mayMultiplyRows else {
      return "IFNULL(SUM(\(try countFragment(path, at: site, where: nil))), 0)"
    }
    return "COUNT( \(raw: join(path, isRequired: false).key))"
  }

  /// Returns `@sum.age` as a function over the rows.
  func rowAggregate(
    _ path: PredicateKeyPath, at site: Site
  ) throws(TranslationError) -> SQLOperand? {
    guard aggregatesRows, case .operator(let found)? = path.components.first else { return nil }
    guard let function = Self.function(of: found) else {
      throw TranslationError(
        path.text, "\(found.rawValue) returns a list, which can be evaluated only in memory.")
    }
    return try rowAggregate(function, path.argument, at: site)
  }
}

extension PredicateKeyPath {
  /// The argument of the operator at the start of the path: `age` in `@sum.age`, the object in
  /// `@count`.
  var argument: NSExpression {
    let dot = text.firstIndex(of: ".")
    guard let dot else { return NSExpression.expressionForEvaluatedObject() }
    return NSExpression(forKeyPath: String(text[text.index(after: dot)...]))
  }
}
