import ManagedModel

/// Declares a property of a hand-written managed object class, in the place of `@NSManaged`.
///
///     final class Mood: NSManagedObject {
///       @Managed("date") var date: Date
///       @Managed("country") var country: Country?
///     }
///
/// The name is the property's in the model. Reading and writing cost what `value(forKey:)` and
/// `setValue(_:forKey:)` cost. Reading a nil into a type that is not optional gives the type's empty
/// value (0, "", the reference date); an object or a UUID has none and traps.
@propertyWrapper
public struct Managed<Value: ManagedValue> {
  private let name: String

  /// Names the property in the model.
  public init(_ name: String) {
    self.name = name
  }

  /// Not usable outside a managed object.
  @available(*, unavailable, message: "@Managed is for properties of NSManagedObject subclasses")
  public var wrappedValue: Value {
    get { preconditionFailure("@Managed is for properties of NSManagedObject subclasses") }
    set { preconditionFailure("@Managed is for properties of NSManagedObject subclasses") }
  }

  /// Reads and writes the property of the object that declares it.
  public static subscript<Object: NSManagedObject>(
    _enclosingInstance object: Object,
    wrapped wrappedKeyPath: ReferenceWritableKeyPath<Object, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Object, Self>
  ) -> Value {
    get {
      let name = object[keyPath: storageKeyPath].name
      guard let value = Value(managedValue: object.value(forKey: name)) else {
        preconditionFailure(
          "'\(name)' of '\(object.entity.name ?? "")' is no \(Value.self); check its declaration")
      }
      return value
    }
    set {
      object.setValue(newValue.managedValue, forKey: object[keyPath: storageKeyPath].name)
    }
  }
}

/// A type that a property of a managed object can be declared with.
public protocol ManagedValue {
  /// Takes what `value(forKey:)` gives; nil when it is of another type.
  init?(managedValue: Any?)
  /// What `setValue(_:forKey:)` takes.
  var managedValue: Any? { get }
}

extension ManagedValue {
  /// The value itself.
  public var managedValue: Any? { self }
}

extension Optional: ManagedValue where Wrapped: ManagedValue {
  /// Nil stays nil.
  public init?(managedValue: Any?) {
    guard let managedValue else {
      self = nil
      return
    }
    guard let wrapped = Wrapped(managedValue: managedValue) else { return nil }
    self = wrapped
  }

  /// The wrapped value, or nil.
  public var managedValue: Any? {
    self?.managedValue
  }
}

extension ManagedValue where Self: FixedWidthInteger {
  /// An integer of any width that fits; nil is 0.
  public init?(managedValue: Any?) {
    guard let managedValue else {
      self = 0
      return
    }
    if let same = managedValue as? Self {
      self = same
    } else if let integer = managedValue as? any BinaryInteger, let fitting = Self(exactly: integer)
    {
      self = fitting
    } else {
      return nil
    }
  }
}

extension Int: ManagedValue {}
extension Int16: ManagedValue {}
extension Int32: ManagedValue {}
extension Int64: ManagedValue {}

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

extension Bool: EmptyManagedValue {
  /// False.
  public static var empty: Bool { false }
}

extension Double: EmptyManagedValue {
  /// Zero.
  public static var empty: Double { 0 }
}

extension Float: EmptyManagedValue {
  /// Zero.
  public static var empty: Float { 0 }
}

extension Decimal: EmptyManagedValue {
  /// Zero.
  public static var empty: Decimal { 0 }
}

extension String: EmptyManagedValue {
  /// No characters.
  public static var empty: String { "" }
}

extension Date: EmptyManagedValue {
  /// The reference date, 2001-01-01 UTC.
  public static var empty: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension Data: EmptyManagedValue {
  /// No bytes.
  public static var empty: Data { Data() }
}

extension UUID: ManagedValue {
  /// A UUID; nil is none.
  public init?(managedValue: Any?) {
    guard let same = managedValue as? UUID else { return nil }
    self = same
  }
}

extension URL: ManagedValue {
  /// A URL; nil is none.
  public init?(managedValue: Any?) {
    guard let same = managedValue as? URL else { return nil }
    self = same
  }
}

extension ManagedValue where Self: NSManagedObject {
  /// The object when it is of this class; nil is none.
  public init?(managedValue: Any?) {
    guard let same = managedValue as? Self else { return nil }
    self = same
  }
}

extension NSManagedObject: ManagedValue {}

extension Set: ManagedValue where Element: NSManagedObject {
  /// The objects of a to-many.
  public init?(managedValue: Any?) {
    guard let objects = managedValue as? Set<NSManagedObject> else { return nil }
    if let same = objects as? Set<Element> {
      self = same
    } else {
      return nil
    }
  }

  /// The set as objects of any class.
  public var managedValue: Any? {
    Set<NSManagedObject>(map { $0 })
  }
}
