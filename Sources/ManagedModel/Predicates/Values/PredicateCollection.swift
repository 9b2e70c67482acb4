internal import Foundation

/// The elements of an array or a set.
package struct PredicateCollection: Hashable {
  package let elements: [PredicateValue]
  /// Whether the collection is ordered; false for sets.
  ///
  /// A constant set of scalar values is sorted, so that it's printed consistently, and equals an
  /// array of the same elements in that order.
  package let isOrdered: Bool
  /// Whether the collection is a set, ordered or not.
  ///
  /// A key path over it returns a set without `nil`.
  package let isSet: Bool
  /// A hash table for long constant collections, so that IN takes constant time.
  private let lookup: Set<PredicateValue>?
  /// The family of all elements of a long constant list; `nil` for others.
  private let onlyFamily: PredicateValue.Family?

  /// Creates a collection.
  ///
  /// - Parameter isSet: Whether an ordered collection is a set. Unordered collections always are.
  package init(_ elements: [PredicateValue], isOrdered: Bool = true, isSet: Bool = false) {
    self.elements = elements
    self.isOrdered = isOrdered
    self.isSet = isSet || !isOrdered
    lookup = nil
    onlyFamily = nil
  }

  /// Creates an immutable collection for a predicate.
  init(constant elements: [PredicateValue], isOrdered: Bool, isSet: Bool = false) {
    let isPlain = elements.allSatisfy(\.isScalar)
    self.isSet = isSet || !isOrdered
    self.elements =
      isOrdered || !isPlain
      ? elements : elements.sorted { PredicateValue.order($0, $1) == .orderedAscending }
    self.isOrdered = isOrdered
    lookup =
      elements.count > 8 && elements.allSatisfy(\.isStable)
      ? Set(elements.lazy.map(\.nilIfNotANumber)) : nil
    let family = elements.first?.family
    onlyFamily =
      lookup != nil && elements.allSatisfy { $0.family == family } ? family : nil
  }

  /// The collection as key-value coding returns it: a `Set`, an `NSOrderedSet`, or an array, with
  /// numbers as `NSNumber`.
  ///
  /// A set with values that aren't hashable, such as the arrays of a transformable attribute, is an
  /// array.
  var boxed: Any {
    let values = elements.map { $0.boxed ?? NSNull() }
    if !isSet { return values }
    if isOrdered { return NSOrderedSet(array: values) }
    let members = values.compactMap { $0 as? AnyHashable }
    return members.count == values.count ? Set(members) : values
  }

  /// Returns whether a value can be compared with each element without conversion.
  func fits(_ value: PredicateValue) -> Bool {
    switch value.family {
    case .null, .other: true
    case let family:
      if let onlyFamily { onlyFamily == family } else { elements.allSatisfy { $0.fits(value) } }
    }
  }

  /// Returns whether the collection contains an equal element, without string options; NaN is
  /// `nil`.
  func contains(_ value: PredicateValue) -> Bool {
    lookup?.contains(value)
      ?? (elements.contains(value) || value.isNull && elements.contains(where: \.isNotANumber))
  }

  /// The collection with `nil` instead of NaN, as a store saves the elements.
  package var nilIfNotNumbers: PredicateCollection {
    guard elements.contains(where: \.isNotANumber) else { return self }
    return PredicateCollection(
      constant: elements.map(\.nilIfNotANumber), isOrdered: isOrdered, isSet: isSet)
  }

  /// Returns whether both collections contain the same elements, in the same order if both are
  /// ordered.
  func sameElements(as other: PredicateCollection) -> Bool {
    if isOrdered, other.isOrdered { return elements == other.elements }
    return elements.count == other.elements.count && Set(elements) == Set(other.elements)
  }

  /// Returns whether two collections are equal; two unordered sets are equal in any order.
  package static func == (left: Self, right: Self) -> Bool {
    left.isOrdered || right.isOrdered
      ? left.elements == right.elements : left.sameElements(as: right)
  }

  package func hash(into hasher: inout Hasher) {
    // The hash doesn't depend on the order, because a set equals an array of its elements in some
    // order.
    hasher.combine(elements.count)
    hasher.combine(elements.reduce(0) { $0 ^ $1.hashValue })
  }
}

/// A value that predicates can only test for equality: a managed object, its ID, or any Swift
/// value.
package struct PredicateObject: Hashable {
  package let base: Any
  private let identity: Identity

  private enum Identity {
    case reference(any ManagedObjectReference)
    case value(AnyHashable)
    case instance(ObjectIdentifier)
    case none
  }

  /// The object as a record whose values can be read by slot, or `nil` if it isn't one.
  var record: (any PredicateRecord)? {
    guard case .reference(let reference) = identity else { return nil }
    return reference as? any PredicateRecord
  }

  /// The reference, if the value is a managed object or an object ID.
  package var reference: (any ManagedObjectReference)? {
    guard case .reference(let reference) = identity else { return nil }
    return reference
  }

  /// Creates a value from a managed object or its ID without a dynamic cast.
  package init(reference: any ManagedObjectReference) {
    base = reference
    identity = .reference(reference)
  }

  init(_ base: Any) {
    self.base = base
    if let reference = base as? any ManagedObjectReference {
      identity = .reference(reference)
    } else if let entity = base as? NSEntityDescription, let name = entity.name {
      // As in SQL, an entity of another instance of the model is equal.
      identity = .value(AnyHashable("entity \(name)"))
    } else if let value = base as? AnyHashable {
      identity = .value(value)
    } else if type(of: base) is AnyClass {
      identity = .instance(ObjectIdentifier(base as AnyObject))
    } else {
      identity = .none
    }
  }

  package static func == (left: Self, right: Self) -> Bool {
    switch (left.identity, right.identity) {
    case (.reference(let left), .reference(let right)):
      left.referenceIdentity == right.referenceIdentity
    case (.value(let left), .value(let right)): left == right
    case (.instance(let left), .instance(let right)): left == right
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch identity {
    case .reference(let reference): hasher.combine(reference.referenceIdentity)
    case .value(let value): hasher.combine(value)
    case .instance(let identifier): hasher.combine(identifier)
    case .none: hasher.combine(0)
    }
  }
}

/// An object with values by name, for predicates and sort descriptors.
///
/// It replaces key-value coding, which isn't available on Linux.
public protocol KeyValueReadable {
  /// Returns the value of a key, or `nil`. The type decides what happens for an unknown key.
  func value(forKey key: String) -> Any?
  /// Returns the value of a key path such as `country.moods.@count`. There's a default
  /// implementation.
  func value(forKeyPath keyPath: String) -> Any?
}

extension KeyValueReadable {
  /// Returns the value of a key path, which can contain collections and operators such as `@count`.
  ///
  /// A single value is returned as `value(forKey:)` returns it; computed numbers are `NSNumber`s.
  /// Traps for a key that a Swift value along the path doesn't have.
  public func value(forKeyPath keyPath: String) -> Any? {
    resolve(keyPath: keyPath)
  }

  /// Returns the result of the default `value(forKeyPath:)`, for a type with a faster
  /// implementation for plain paths.
  package func resolve(keyPath: String) -> Any? {
    do {
      return try KeyPathReader.plainValue(of: PredicateKeyPath(keyPath), from: self)
    } catch {
      fatalError(error.description)
    }
  }
}

/// An object that's ordered among others of its kind, for `<` and the other operators.
package protocol PredicateOrdered {
  /// Returns the order of this object and another, or `nil` if they have none.
  func order(relativeTo other: Any) -> ComparisonResult?
}

/// An object that represents a row: a managed object or its ID.
///
/// Predicates treat the two as equal.
package protocol ManagedObjectReference {
  /// The identity, which is equal for an object and its ID.
  var referenceIdentity: AnyHashable { get }
  /// Whether the identity is final; false for temporary IDs.
  var hasStableIdentity: Bool { get }
  /// The position in an order by object IDs, which is that of the primary keys in SQL.
  var positionByID: UInt64 { get }
}

/// An object that is printed as a URI: a managed object or its ID.
package protocol URIRepresentable {
  /// The URI of the ID, such as `x-coredata://UUID/Mood/p7`.
  var uri: String { get }
}
