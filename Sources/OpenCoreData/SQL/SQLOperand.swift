import ManagedModel

/// One side of a comparison.
enum SQLOperand {
  /// A value that does not depend on the row.
  case constant(PredicateConstant)
  /// The column of an attribute.
  case attribute(SQLFragment, NSAttributeDescription)
  /// The key of an object.
  case object(SQLFragment, SQLEntity)
  /// The number of an object's entity, which stands for the entity or for its name.
  case entity(SQLFragment, SQLEntity, isName: Bool)
  /// Something computed, of a type that constants are brought to.
  case computed(SQLFragment, StoredType)
  /// The objects, or their values, at the end of a path through a to-many relationship.
  case toMany(ToManyPath)
  /// A list which depends on the row.
  case list([NSExpression])

  /// Whether it is the constant nil.
  var isNull: Bool {
    if case .constant(let constant) = self { constant.isNull } else { false }
  }
}

/// A key path up to its first to-many relationship, and what follows.
struct ToManyPath {
  let scope: TranslationScope
  let source: TranslationPosition
  let relationship: SQLToMany
  let rest: [PredicateKeyPath.Component]

  /// The whole path, for messages.
  let text: String

  /// The condition on the elements and the variable it names them by, for a `SUBQUERY`.
  var filter: (variable: String, predicate: NSPredicate)?
}
