/// An object whose values lie in numbered places: what lets a predicate look up a key once for all
/// objects of an entity.
package protocol PredicateRecord: AnyObject, KeyValueReadable, ManagedObjectReference {
  /// A number that only the records with the same places share; above 0.
  var placesNumber: UInt32 { get }
  /// The number of the place that has the key's value; nil for a key that the record does not have.
  func placeNumber(ofKey key: String) -> UInt32?
  /// The value of a key with numbers as their own types: `value(forKey:)` may return an `NSNumber`.
  func storedValue(forKey key: String) -> Any?
  /// The value at a place that the record itself has named.
  ///
  /// Fires what reading the property fires.
  func predicateValue(at place: UInt32) -> PredicateValue
}

extension PredicateRecord {
  /// What `value(forKey:)` returns, where that boxes no number.
  package func storedValue(forKey key: String) -> Any? {
    value(forKey: key)
  }
}
