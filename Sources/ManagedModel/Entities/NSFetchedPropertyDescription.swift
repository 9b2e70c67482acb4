/// Describes a fetched property: a list of objects that a stored fetch request finds.
///
/// Counterpart: `NSFetchedPropertyDescription`.
public final class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
  /// The request as the model states it: entity name and predicate text.
  package var template: FetchRequestTemplate? { willSet { requireMutable() } }
}
