/// Describes an attribute whose value the store computes from other properties.
///
/// SQLite stores have it as a column that triggers keep up to date. Counterpart:
/// `NSDerivedAttributeDescription`.
public final class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  /// What the value is computed from.
  ///
  /// A key path over to-one relationships (`owner.name`); `@count` or `@sum` over a to-many
  /// relationship (`pages.@count`, `pages.@sum.words`, `pages.words.@sum`, or the functions
  /// `count:(pages)` and `sum:(pages.words)`); `canonical:`, `uppercase:`, or `lowercase:` of a
  /// string; `now()`. With any other expression the value stays nil, and the model's `validate()`
  /// reports it.
  public var derivationExpression: NSExpression? { willSet { requireMutable() } }
}

extension NSAttributeDescription {
  /// Whether the store computes the value.
  package final var isDerived: Bool { self is NSDerivedAttributeDescription }

  /// What a derived attribute is computed from, as text; nil for the others.
  ///
  /// It is empty where the model does not say it, or not in a form that can be read.
  package final var derivationText: String? {
    (self as? NSDerivedAttributeDescription).map { $0.derivationExpression?.description ?? "" }
  }
}
