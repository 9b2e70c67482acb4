/// A value that predicates know only by equality: a managed object, its ID, any Swift value.
package struct PredicateObject: Hashable {
  package let base: Any
  private let identity: Identity

  private enum Identity {
    case reference(any ManagedObjectReference)
    case value(AnyHashable)
    case instance(ObjectIdentifier)
    case none
  }

  /// The record whose values can be read by place, if it is one.
  var record: (any PredicateRecord)? {
    guard case .reference(let reference) = identity else { return nil }
    return reference as? any PredicateRecord
  }

  /// The reference, if the value is a managed object or an object ID.
  package var reference: (any ManagedObjectReference)? {
    guard case .reference(let reference) = identity else { return nil }
    return reference
  }

  /// Takes a managed object or its ID without asking what it is.
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
