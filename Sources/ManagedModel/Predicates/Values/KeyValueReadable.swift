/// An object whose values are read by name: what predicates and sort descriptors need.
///
/// It stands in for key-value coding, which Linux does not have.
public protocol KeyValueReadable {
  /// The value of one key; nil if it has none. What an unknown key does is the type's choice.
  func value(forKey key: String) -> Any?
  /// The value at the end of a path such as `country.moods.@count`. There is a default.
  func value(forKeyPath keyPath: String) -> Any?
}

extension KeyValueReadable {
  /// Follows the path with `value(forKey:)`: maps over collections, applies `@count` and the other
  /// operators.
  ///
  /// A single value is what `value(forKey:)` gave; what was computed is an `NSNumber`. Traps for a
  /// key that a Swift value on the way does not have.
  public func value(forKeyPath keyPath: String) -> Any? {
    resolve(keyPath: keyPath)
  }

  /// What the default `value(forKeyPath:)` does, for a type that has a faster way for plain paths.
  package func resolve(keyPath: String) -> Any? {
    do {
      return try KeyPathReader.plainValue(of: PredicateKeyPath(keyPath), from: self)
    } catch {
      preconditionFailure(error.description)
    }
  }
}

/// An object that has an order among others of its kind, for `<` and its relatives.
package protocol PredicateOrdered {
  /// Where this object is in relation to another; nil if neither is before the other.
  func order(besides other: Any) -> ComparisonResult?
}
