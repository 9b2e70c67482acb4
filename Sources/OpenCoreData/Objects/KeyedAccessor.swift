import ManagedModel

/// A property of a class that `value(forKey:)` and `setValue(_:forKey:)` reach by its name.
///
/// On Apple platforms, key-value coding finds a class's accessors in the Objective-C runtime. Here a
/// class lists the properties that it implements itself, such as a transient property that is computed:
///
///     final class Person: NSManagedObject {
///       var fullName: String { "\(first) \(last)" }
///
///       override class var keyedAccessors: [KeyedAccessor] {
///         super.keyedAccessors + [KeyedAccessor("fullName", \Person.fullName)]
///       }
///     }
///
/// Predicates and sort descriptors that are evaluated in memory read it too. An accessor must not call
/// `value(forKey:)` with its own key: it uses `primitiveValue(forKey:)`. No Apple counterpart.
public struct KeyedAccessor {
  let key: String
  /// The value; nil for an object that isn't of the class.
  let read: (NSManagedObject) -> Read?
  /// Sets the value; false for an object that isn't of the class, or a property that can't be set.
  let write: (NSManagedObject, Any?) -> Bool

  /// What an accessor returned.
  struct Read {
    let value: Any?
  }

  /// Registers a property under a key.
  ///
  /// - Parameters:
  ///   - key: The name in key paths: that of a property of the model, or any other.
  ///   - property: The property, which can be set by `setValue(_:forKey:)` if it has a setter. It's a
  ///     programmer error to set it to a value of another type.
  public init<Root: NSManagedObject, Value>(_ key: String, _ property: KeyPath<Root, Value>) {
    self.key = key
    read = { object in
      guard let root = object as? Root else { return nil }
      let value = root[keyPath: property]
      return Read(value: (value as? any Wrapping).map(\.wrappedValue) ?? value)
    }
    let settable = property as? ReferenceWritableKeyPath<Root, Value>
    write = { object, new in
      guard let settable, let root = object as? Root else { return false }
      guard let value = new as? Value ?? (new as? NSNumber) as? Value else {
        preconditionFailure("'\(key)' of \(Root.self) is a \(Value.self), not \(new ?? "nil")")
      }
      root[keyPath: settable] = value
      return true
    }
  }
}

/// Opens an optional whose type isn't known.
private protocol Wrapping {
  var wrappedValue: Any? { get }
}

extension Optional: Wrapping {
  fileprivate var wrappedValue: Any? { map { $0 } }
}
