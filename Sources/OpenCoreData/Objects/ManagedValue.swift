import ManagedModel

/// A type that a property of a managed object can be declared with.
///
/// A custom type implements the first two requirements; the others have default implementations.
public protocol ManagedValue {
  /// Creates a value from the result of `value(forKey:)`; `nil` if it has another type.
  init?(managedValue: Any?)
  /// The value to pass to `setValue(_:forKey:)`.
  var managedValue: Any? { get }

  /// The slots that the type reads directly; empty for a type that is created from `managedValue`.
  static var slotKinds: SlotKinds { get }
  /// Reads a property.
  ///
  /// - Parameters:
  ///   - object: Any object with the property, realized or a fault.
  ///   - position: The property's slot if it's known and one of `slotKinds`; `nil` to look it up by
  ///     name.
  ///   - name: The property's name, null-terminated.
  static func read(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self
  /// Reads a property that may be `nil`.
  static func readOptional(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self?
  /// Sets a property.
  func write(_ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>)
}

extension ManagedValue {
  /// The value itself.
  public var managedValue: Any? { self }

  /// Empty.
  @inlinable public static var slotKinds: SlotKinds { [] }

  /// Reads the result of `value(forKey:)`; stops with a fatal error if it has another type.
  public static func read(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self {
    guard let value = Self(managedValue: object.anyValue(at: position, name)) else {
      object.wrongType(name, Self.self)
    }
    return value
  }

  /// Reads the result of `value(forKey:)`; stops with a fatal error if it has another type.
  public static func readOptional(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self? {
    guard let found = object.anyValue(at: position, name) else { return nil }
    guard let value = Self(managedValue: found) else { object.wrongType(name, Self.self) }
    return value
  }

  /// Sets the property as `setValue(_:forKey:)` does.
  public func write(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) {
    object.setAny(managedValue, at: position, name)
  }
}

extension Optional: ManagedValue where Wrapped: ManagedValue {
  /// Creates `nil` from `nil`.
  public init?(managedValue: Any?) {
    guard let managedValue else {
      self = nil
      return
    }
    guard let wrapped = Wrapped(managedValue: managedValue) else { return nil }
    self = wrapped
  }

  /// The wrapped value, or `nil`.
  public var managedValue: Any? {
    self?.managedValue
  }

  /// The slot kinds of the wrapped type.
  @inlinable public static var slotKinds: SlotKinds { Wrapped.slotKinds }

  /// Reads the property, or `nil`.
  @inlinable @inline(__always)
  public static func read(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Wrapped? {
    Wrapped.readOptional(object, at: position, name)
  }

  /// Sets the wrapped value, or `nil`.
  @inlinable
  public func write(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) {
    if let self {
      self.write(object, at: position, name)
    } else {
      object.setAny(nil, at: position, name)
    }
  }
}

extension String: EmptyManagedValue {
  /// The empty string.
  public static var empty: String { "" }

  /// String slots.
  @inlinable public static var slotKinds: SlotKinds { .string }

  /// Reads the cached string, or decodes and caches it.
  @inlinable @inline(__always)
  public static func read(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> String {
    // Joining an optional string with a literal would retain the string; neither cell contains nil.
    let cell =
      position.flatMap { object.keptText(at: $0) } ?? object.presentText(at: position, name)
    return cell.pointee.unsafelyUnwrapped
  }

  /// Reads the cached string, or decodes and caches it.
  @inlinable @inline(__always)
  public static func readOptional(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> String? {
    // One load for both cases, which the compiler can borrow: a retain and release would cost more
    // than everything else.
    let cell = position.flatMap { object.keptText(at: $0) } ?? object.text(at: position, name)
    return cell.pointee
  }

  /// Sets a slot, or a property by name.
  @inlinable
  public func write(
    _ object: NSManagedObject, at position: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) {
    object.set(self, at: position, name)
  }
}

extension Decimal: EmptyManagedValue {
  /// Zero.
  public static var empty: Decimal { 0 }
}

extension Data: EmptyManagedValue {
  /// Empty data.
  public static var empty: Data { Data() }
}

extension UUID: ManagedValue {
  /// Creates a UUID; `nil` if the value is `nil` or has another type.
  public init?(managedValue: Any?) {
    guard let same = managedValue as? UUID else { return nil }
    self = same
  }
}

extension URL: ManagedValue {
  /// Creates a URL; `nil` if the value is `nil` or has another type.
  public init?(managedValue: Any?) {
    guard let same = managedValue as? URL else { return nil }
    self = same
  }
}

extension ManagedValue where Self: NSManagedObject {
  /// Returns the object if it's of this class; otherwise `nil`.
  public init?(managedValue: Any?) {
    guard let same = managedValue as? Self else { return nil }
    self = same
  }
}

extension NSManagedObject: ManagedValue {}

extension Set: ManagedValue where Element: NSManagedObject {
  /// Creates a set from the objects of a to-many relationship.
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

extension ManagedValue where Self: NSOrderedSet {
  /// Creates an ordered set from the objects of an ordered to-many relationship; `nil` for `nil`.
  public init?(managedValue: Any?) {
    guard let same = managedValue as? Self else { return nil }
    self = same
  }
}

extension NSOrderedSet: ManagedValue {}

/// Declares a property of a managed object class that isn't generated, instead of `@NSManaged`.
///
///     final class Mood: NSManagedObject {
///       @Managed("date") var date: Date
///       @Managed("country") var country: Country?
///     }
///
/// The name is the property's in the model. The entity caches the literal's slot, so that numbers,
/// dates, and strings are read without a lookup by name; a string is decoded when it's first read.
/// Other costs are those of `value(forKey:)` and `setValue(_:forKey:)`. Reading `nil` as a
/// nonoptional type returns the type's empty value (0, "", the reference date); for an object or a
/// UUID, which have none, it's a programmer error.
@propertyWrapper
public struct Managed<Value: ManagedValue> {
  /// The characters of the literal, null-terminated; 8 bytes in each object.
  @usableFromInline let name: UnsafePointer<UInt8>

  /// Declares a property with its name in the model.
  @inlinable
  public init(_ name: StaticString) {
    self.name = name.utf8Start
  }

  /// Unavailable outside of a managed object.
  @available(*, unavailable, message: "@Managed is for properties of NSManagedObject subclasses")
  public var wrappedValue: Value {
    get { fatalError("@Managed is for properties of NSManagedObject subclasses") }
    set { fatalError("@Managed is for properties of NSManagedObject subclasses") }
  }

  /// Reads and writes the property of the object that declares it.
  ///
  /// When inlined, the key path to the wrapper becomes a load.
  public static subscript<Object: NSManagedObject>(
    _enclosingInstance object: Object,
    wrapped wrappedKeyPath: ReferenceWritableKeyPath<Object, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Object, Self>
  ) -> Value {
    @inlinable @inline(__always)
    get {
      let name = object[keyPath: storageKeyPath].name
      return Value.read(object, at: object.cachedPosition(of: name, as: Value.slotKinds), name)
    }
    @inlinable @inline(__always)
    set {
      let name = object[keyPath: storageKeyPath].name
      newValue.write(object, at: object.cachedPosition(of: name, as: Value.slotKinds), name)
    }
  }
}

/// A type that represents `nil` by an empty value.
public protocol EmptyManagedValue: ManagedValue {
  /// The value that `nil` is read as.
  static var empty: Self { get }
}

extension EmptyManagedValue {
  /// Creates a value of exactly this type, or the empty value from `nil`.
  public init?(managedValue: Any?) {
    guard let managedValue else {
      self = Self.empty
      return
    }
    guard let same = managedValue as? Self else { return nil }
    self = same
  }
}

/// A property of generated code: its name, and the position of its value in the rows of its entity.
///
///     static let rank = PropertySlot<Int64>(3, offset: 56, "rank")
///
/// Only for generated code: a wrong index is detected only if the slot is declared with the class
/// (`registerClass(named:slots:)`). Without that, or if the loaded entity has other slots, the
/// property is looked up by name. No Apple counterpart.
public struct PropertySlot<Value: ManagedValue>: Sendable {
  @usableFromInline let position: SlotPosition
  @usableFromInline let name: StaticString

  /// Declares the position of a value.
  ///
  /// - Parameters:
  ///   - index: The index of the slot.
  ///   - offset: The offset in bytes from the start of a row.
  ///   - name: The property's name in the model.
  @inlinable @inline(__always)
  public init(_ index: Int, offset: Int, _ name: StaticString) {
    self.position = SlotPosition(index: index, offset: offset)
    self.name = name
  }

  /// The slot that the loaded entity is expected to have.
  public var declaration: SlotDeclaration {
    SlotDeclaration(name: name.description, position: position, kinds: Value.slotKinds)
  }
}
