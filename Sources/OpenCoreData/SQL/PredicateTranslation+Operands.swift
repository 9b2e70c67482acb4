import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// What an expression stands for at a place in the statement.
  func operand(_ expression: NSExpression, at site: Site) throws(TranslationError) -> SQLOperand {
    if expression.isIndependentOfObject { return .constant(try constant(expression)) }
    switch expression.node {
    case .evaluatedObject:
      return try walk([], in: site.scopes[0], at: site, text: "SELF")
    case .variable(let name):
      if let column = computedColumn(name) { return column }
      return try walk([], in: try scope(of: name, at: site), at: site, text: "$\(name)")
    case .keyPath(let path):
      if let key = path.onlyKey, let column = computedColumn(key) { return column }
      if let found = try rowAggregate(path, at: site) { return found }
      return try walk(path.components[...], in: site.scopes[0], at: site, text: path.text)
    case .path(let base, let path):
      return try pathOperand(base, path, at: site, text: expression.description)
    case .subscripted(let collection, .size):
      return try count(try operand(collection, at: site), at: site, expression)
    case .function(let function, let arguments):
      return try functionOperand(function, arguments, at: site, expression)
    case .aggregate(let elements):
      return .list(elements)
    case .subquery(let collection, let variable, let predicate):
      return .toMany(try subquery(collection, variable, predicate, at: site))
    case .conditional(let predicate, let yes, let no):
      return try conditional(predicate, yes, no, at: site)
    case .constant, .subscripted, .method, .setOperation, .anyKey, .block, .assignment, .fetch:
      throw TranslationError(expression.description, Self.reason(expression))
    }
  }

  /// Why an expression that depends on the row has no SQL.
  private static func reason(_ expression: NSExpression) -> String {
    switch expression.node {
    case .subscripted: "Rows have no places in a list; only memory can take one out."
    case .method: "Only memory can call a method; the store needs SQL."
    case .setOperation: "Only memory can combine collections; the store needs SQL."
    case .anyKey: "ANYKEY is for dictionaries; objects have no SQL for it."
    case .block: "Only memory can run a block; the store needs SQL."
    default: "This expression has no SQL."
    }
  }

  private func pathOperand(
    _ base: NSExpression, _ path: NSExpression, at site: Site, text: String
  ) throws(TranslationError) -> SQLOperand {
    guard case .keyPath(let keyPath) = path.node else {
      throw TranslationError(text, "A key path that is only known at run time has no SQL.")
    }
    switch base.node {
    case .variable(let name):
      return try walk(
        keyPath.components[...], in: try scope(of: name, at: site), at: site, text: text)
    case .evaluatedObject:
      return try walk(keyPath.components[...], in: site.scopes[0], at: site, text: text)
    case .keyPath(let first):
      return try walk(
        (first.components + keyPath.components)[...], in: site.scopes[0], at: site, text: text)
    case .subquery(let collection, let variable, let predicate):
      let found = try subquery(collection, variable, predicate, at: site)
      return .toMany(
        ToManyPath(
          scope: found.scope, source: found.source, relationship: found.relationship,
          rest: keyPath.components, text: text, filter: found.filter))
    default:
      throw TranslationError(text, Self.reason(base))
    }
  }

  /// The scope whose variable has a name.
  private func scope(
    of variable: String, at site: Site
  ) throws(TranslationError) -> TranslationScope {
    if let scope = site.scopes.last(where: { $0.variable == variable }) { return scope }
    throw TranslationError("$\(variable)", "The variable has no value.")
  }

  private func subquery(
    _ collection: NSExpression, _ variable: String, _ predicate: NSPredicate, at site: Site
  ) throws(TranslationError) -> ToManyPath {
    guard case .toMany(let path) = try operand(collection, at: site), path.rest.isEmpty,
      path.filter == nil
    else {
      throw TranslationError(
        collection.description, "SUBQUERY takes a path that ends in a to-many relationship.")
    }
    return ToManyPath(
      scope: path.scope, source: path.source, relationship: path.relationship, rest: [],
      text: path.text, filter: (variable, predicate))
  }

  private func conditional(
    _ predicate: NSPredicate, _ yes: NSExpression, _ no: NSExpression, at site: Site
  ) throws(TranslationError) -> SQLOperand {
    let condition = try condition(predicate, at: site.optional).fragment
    let (values, type) = Self.unified([
      try value(of: yes, at: site.optional), try value(of: no, at: site.optional),
    ])
    return .computed(
      "CASE WHEN \(condition) THEN \(values[0]) ELSE \(values[1]) END", type ?? .text)
  }
}
