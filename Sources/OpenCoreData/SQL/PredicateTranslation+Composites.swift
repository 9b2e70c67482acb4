import ManagedModel

extension PredicateTranslation {
  /// The condition of a whole composite attribute that is compared with nil: nil is what all of its
  /// elements are.
  ///
  /// - Returns: Nil for every other comparison.
  func wholeGroup(
    _ comparison: NSComparisonPredicate, at site: Site
  ) throws(TranslationError) -> SQLCondition? {
    let type = comparison.predicateOperatorType
    guard type == .equalTo || type == .notEqualTo,
      comparison.comparisonPredicateModifier == .direct
    else { return nil }
    let (left, right) = (comparison.leftExpression, comparison.rightExpression)
    let (group, other) = left.isIndependentOfObject ? (right, left) : (left, right)
    guard case .keyPath(let path) = group.node, other.isIndependentOfObject,
      let entity = site.scopes[0].start?.entity.description,
      let elements = Self.elements(ofGroupAt: path, from: entity),
      try constant(other).value.isNull
    else { return nil }
    let inner = type == .equalTo ? site : site.optional
    var conditions: [SQLCondition] = []
    for element in elements {
      let test = NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: element), rightExpression: other,
        modifier: .direct, type: type)
      conditions.append(try condition(test, at: inner))
    }
    return type == .equalTo ? .all(conditions) : .any(conditions)
  }

  /// The key paths of the elements of a composite attribute, or of a group inside of one; nil when
  /// the path leads to something else.
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
