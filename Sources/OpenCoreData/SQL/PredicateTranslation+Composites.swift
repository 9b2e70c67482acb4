import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// Returns the condition that compares a whole composite attribute with `nil`, which means all of
  /// its elements.
  ///
  /// - Returns: `nil` for every other comparison.
  func wholeGroup(
    _ comparison: NSComparisonPredicate, at site: Site
  ) throws(TranslationError) -> SQLCondition? {
    let type = comparison.predicateOperatorType
    let modifier = comparison.comparisonPredicateModifier
    guard type == .equalTo || type == .notEqualTo else { return nil }
    let (left, right) = (comparison.leftExpression, comparison.rightExpression)
    // A modifier applies to the left side.
    let isOnLeft = modifier != .direct || !left.isIndependentOfObject
    let (group, other) = isOnLeft ? (left, right) : (right, left)
    guard other.isIndependentOfObject, let (variable, path) = Self.path(of: group) else {
      return nil
    }
    let home: TranslationScope? =
      if let variable { site.scopes.last { $0.variable == variable } } else { site.scopes.first }
    guard let scope = home, let entity = scope.start?.entity.description,
      let (elements, isToMany) = Self.elements(ofGroupAt: path, from: entity),
      try constant(other).value.isNull
    else { return nil }
    if modifier == .direct {
      if isToMany { return nil }
    } else if isToMany {
      return try wholeGroups(elements, in: scope, ComparisonRules(comparison), modifier, at: site)
    } else if (type == .equalTo) == (modifier == .any) {
      // A path over to-ones has one value, which isn't compared if it's nil.
      return .constant(type == .notEqualTo)
    }
    let inner = type == .equalTo ? site : site.optional
    var conditions: [SQLCondition] = []
    for element in elements {
      let keyPath = NSExpression(forKeyPath: element)
      let value = variable.map { NSExpression(.path(NSExpression(forVariable: $0), keyPath)) }
      let test = NSComparisonPredicate(
        leftExpression: value ?? keyPath, rightExpression: other, modifier: .direct, type: type)
      conditions.append(try condition(test, at: inner))
    }
    return type == .equalTo ? .all(conditions) : .any(conditions)
  }

  /// Returns the condition that compares the composite attributes of a to-many's objects with
  /// `nil`: `ANY planes.colors == nil`.
  ///
  /// `ANY` finds objects without a value. `ALL` compares only values, of which none is `nil`.
  private func wholeGroups(
    _ elements: [String], in scope: TranslationScope, _ rules: ComparisonRules,
    _ modifier: NSComparisonPredicate.Modifier, at site: Site
  ) throws(TranslationError) -> SQLCondition? {
    let isAny = modifier == .any
    if !isAny, rules.type == .notEqualTo { return .constant(true) }
    let paths = elements.map { PredicateKeyPath($0).components[...] }
    let operand = try walk(
      paths[0], in: scope, at: isAny ? site : site.optional, text: elements[0])
    guard case .toMany(let path) = operand else { return nil }
    let consumed = paths[0].count - path.rest.count
    let count = try count(
      of: path, whereGroups: paths.map { $0.dropFirst(consumed) },
      isAny ? rules : rules.with(.notEqualTo), at: site)
    return .sql("\(count) \(raw: isAny ? ">" : "=") \(bind: .integer(0))")
  }

  /// Returns the number of a to-many's objects whose composite attribute is `nil`, or isn't.
  ///
  /// - Parameter elements: The paths of the attribute's elements from an object.
  private func count(
    of path: ToManyPath, whereGroups elements: [ArraySlice<PredicateKeyPath.Component>],
    _ rules: ComparisonRules, at site: Site
  ) throws(TranslationError) -> SQLFragment {
    try countFragment(path, at: site) { position, inner throws(TranslationError) in
      var conditions: [SQLCondition] = []
      for element in elements {
        let found = try self.walk(
          element, from: position, in: inner.scope, at: inner.optional, text: path.text)
        if case .toMany(let next) = found {
          let consumed = element.count - next.rest.count
          let count = try self.count(
            of: next, whereGroups: elements.map { $0.dropFirst(consumed) }, rules,
            at: inner.optional)
          return .sql("\(count) > \(bind: .integer(0))")
        }
        conditions.append(.sql(try self.nullTest(found, rules)))
      }
      return rules.type == .equalTo ? .all(conditions) : .any(conditions)
    }
  }

  /// Returns the key path of an expression, and the subquery's variable at which it starts, if any;
  /// `nil` for another expression.
  private static func path(
    of expression: NSExpression
  ) -> (variable: String?, path: PredicateKeyPath)? {
    switch expression.node {
    case .keyPath(let path): return (nil, path)
    case .path(let base, let rest):
      guard case .variable(let name) = base.node, case .keyPath(let path) = rest.node else {
        return nil
      }
      return (name, path)
    default: return nil
    }
  }

  /// Returns the key paths of the elements of a composite attribute, or of a nested group, and
  /// whether they cross a to-many relationship; `nil` for another path.
  private static func elements(
    ofGroupAt path: PredicateKeyPath, from entity: NSEntityDescription
  ) -> (paths: [String], isToMany: Bool)? {
    var (home, before, isToMany) = (entity, [String](), false)
    let keys = path.keys
    guard keys.count == path.components.count else { return nil }
    for (index, key) in keys.enumerated() {
      switch home.propertiesByName[key] {
      case let composite as NSCompositeAttributeDescription:
        let inside = keys[index...].joined(separator: ".") + "."
        let elements = composite.leaves.map(\.name).filter { $0.hasPrefix(inside) }
        guard !elements.isEmpty else { return nil }
        return (elements.map { (before + [$0]).joined(separator: ".") }, isToMany)
      case let relationship as NSRelationshipDescription:
        guard let destination = relationship.destinationEntity else { return nil }
        home = destination
        before.append(key)
        isToMany = isToMany || relationship.isToMany
      default: return nil
      }
    }
    return nil
  }
}
