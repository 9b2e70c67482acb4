internal import Synchronization

/// An object whose values are in numbered slots, so that a predicate looks up a key once for all
/// objects of an entity.
package protocol PredicateRecord: AnyObject, KeyValueReadable, ManagedObjectReference {
  /// A nonzero number that's shared only by records with the same positions.
  var placesNumber: UInt32 { get }
  /// Returns the position of a key's value, or `nil` if the record doesn't have the key.
  func position(ofKey key: String) -> UInt32?
  /// Returns the value of a key with numbers in their own types; `value(forKey:)` can return an
  /// `NSNumber`.
  func storedValue(forKey key: String) -> Any?
  /// Returns the value of a slot that the record has resolved.
  ///
  /// Fires the same faults as reading the property.
  func predicateValue(at position: UInt32) -> PredicateValue
}

extension PredicateRecord {
  /// Returns the value of `value(forKey:)`, for a type that doesn't box numbers.
  package func storedValue(forKey key: String) -> Any? {
    value(forKey: key)
  }
}

/// The position of a key in the last record, which is looked up once for records with the same
/// positions.
struct LastPosition: ~Copyable {
  /// The record's `placesNumber`, followed by the position.
  private let word = Atomic<UInt64>(0)

  /// Returns the value of a key, which is always the same one.
  @inline(__always)
  func value(of key: @autoclosure () -> String, in record: any PredicateRecord) -> PredicateValue {
    let last = word.load(ordering: .relaxed)
    if UInt32(truncatingIfNeeded: last >> 32) == record.placesNumber {
      return record.predicateValue(at: UInt32(truncatingIfNeeded: last))
    }
    return find(key(), in: record)
  }

  @inline(never)
  private func find(_ key: String, in record: any PredicateRecord) -> PredicateValue {
    guard let position = record.position(ofKey: key) else {
      return PredicateValue(record.storedValue(forKey: key))
    }
    word.store(UInt64(record.placesNumber) << 32 | UInt64(position), ordering: .relaxed)
    return record.predicateValue(at: position)
  }
}
