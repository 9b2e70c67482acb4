import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// The value of an operator on a to-many: `moods.@count`, `moods.@max.rating`.
  func aggregate(_ path: ToManyPath, at site: Site) throws(TranslationError) -> SQLOperand {
    guard case .operator(let found) = path.rest.first else {
      throw TranslationError(
        path.text, "A path through a to-many relationship needs ANY, ALL or @count.")
    }
    let rest = path.rest.dropFirst()
    let function: String
    switch found {
    case .count:
      guard rest.isEmpty else {
        throw TranslationError(path.text, "Nothing can follow @count.")
      }
      return try count(path, at: site)
    case .sum: function = "total"
    case .min: function = "MIN"
    case .max: function = "MAX"
    case .average: function = "AVG"
    default:
      throw TranslationError(path.text, "\(found.rawValue) has no SQL.")
    }
    var type = StoredType.real
    let fragment = try subselect(
      path, at: site,
      list: { position, inner throws(TranslationError) in
        let value = try self.walk(
          rest, from: position, in: inner.scope, at: inner.optional, text: path.text)
        guard case .attribute(let column, let attribute) = value else {
          throw TranslationError(path.text, "\(found.rawValue) takes a path to an attribute.")
        }
        if found == .min || found == .max { type = StoredType(attribute.attributeType) }
        return "\(raw: function)(\(column))"
      }, where: nil)
    return .computed(fragment, type)
  }

  /// How many objects are at the end of a path through a to-many relationship.
  func count(_ path: ToManyPath, at site: Site) throws(TranslationError) -> SQLOperand {
    .computed(try countFragment(path, at: site, where: nil), .integer)
  }

  /// The number of a collection's elements, for `count:(…)` and `[SIZE]`.
  func count(
    _ operand: SQLOperand, at site: Site, _ expression: NSExpression
  ) throws(TranslationError) -> SQLOperand {
    guard case .toMany(let path) = operand, path.rest.isEmpty else {
      throw TranslationError(
        expression.description, "Only a path that ends in a to-many relationship is counted.")
    }
    return try count(path, at: site)
  }

  /// A subselect with the number of elements that satisfy a condition.
  func countFragment(
    _ path: ToManyPath, at site: Site,
    where condition: ((TranslationPosition, Site) throws(TranslationError) -> SQLCondition)?
  ) throws(TranslationError) -> SQLFragment {
    try subselect(
      path, at: site,
      list: { position, inner throws(TranslationError) in
        // A plain count of a many-to-many needs the join table alone, so its own column is
        // counted; otherwise this is the element's key.
        "COUNT(\(raw: position.key))"
      }, where: condition)
  }
}
