import ManagedModel

/// A type whose nil reads as an empty value.
public protocol EmptyManagedValue: ManagedValue {
  /// What a nil reads as.
  static var empty: Self { get }
}

extension EmptyManagedValue {
  /// The value of exactly this type; nil is the empty value.
  public init?(managedValue: Any?) {
    guard let managedValue else {
      self = Self.empty
      return
    }
    guard let same = managedValue as? Self else { return nil }
    self = same
  }
}
