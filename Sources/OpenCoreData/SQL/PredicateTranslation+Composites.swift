import ManagedModel

extension PredicateTranslation {
  /// Returns the condition that compares a whole composite attribute with `nil`, which means all of
  /// its elements.
  ///
  /// - Returns: `nil` for every other comparison.
  func wholeGroup(
    _ comparison: NSComparisonPredicate, at site: Site
  ) throws(TranslationError) -> SQLCondition? {
    let type = comparison.predicateOperatorType
    guard type == .equalTo || type == .notEqualTo,
      comparison.comparisonPredicateModifier == .direct
    else { return nil }
    let (left, right) = (comparison.leftExpression, comparison.rightExpression)
    let (group, other) = left.isIndependentOfObject ? (right, left) : (left, right)
    guard other.isIndependentOfObject, let (variable, path) = Self.path(of: group) else {
      return nil
    }
    let scope: TranslationScope? =
      if let variable { site.scopes.last { $0.variable == variable } } else { site.scopes.first }
    guard let entity = scope?.start?.entity.description,
      let elements = Self.elements(ofGroupAt: path, from: entity),
      try constant(other).value.isNull
    else { return nil }
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

  /// Returns the key paths of the elements of a composite attribute, or of a nested group; `nil`
  /// for another path.
  private static func elements(
    ofGroupAt path: PredicateKeyPath, from entity: NSEntityDescription
  ) -> [String]? {
    var (home, before) = (entity, [String]())
    let keys = path.keys
    guard keys.count == path.components.count else { return nil }
    for (index, key) in keys.enumerated() {
      switch home.propertiesByName[key] {
      case let composite as NSCompositeAttributeDescription:
        let inside = keys[index...].joined(separator: ".") + "."
        let elements = composite.leaves.map(\.name).filter { $0.hasPrefix(inside) }
        return elements.isEmpty ? nil : elements.map { (before + [$0]).joined(separator: ".") }
      case let relationship as NSRelationshipDescription where !relationship.isToMany:
        guard let destination = relationship.destinationEntity else { return nil }
        home = destination
        before.append(key)
      default: return nil
      }
    }
    return nil
  }
}
