import ManagedModel

/// A type that a property of a managed object can be declared with.
///
/// A type of an application's own has the first two; the others follow from them.
public protocol ManagedValue {
  /// Takes what `value(forKey:)` gives; nil when it is of another type.
  init?(managedValue: Any?)
  /// What `setValue(_:forKey:)` takes.
  var managedValue: Any? { get }

  /// The slots that the type reads in place; none for a type that is made of `managedValue`.
  static var slotKinds: SlotKinds { get }
  /// Reads a property.
  ///
  /// - Parameters:
  ///   - object: Any object with the property, filled or not.
  ///   - place: Its slot when that is known and one of `slotKinds`; nil to go by name.
  ///   - name: The property's name, ending with a 0.
  static func read(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self
  /// Reads a property that may be nil.
  static func readOptional(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self?
  /// Sets a property.
  func write(_ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>)
}

extension ManagedValue {
  /// The value itself.
  public var managedValue: Any? { self }

  /// None.
  @inlinable public static var slotKinds: SlotKinds { [] }

  /// Reads what `value(forKey:)` gives; traps when it is of another type.
  public static func read(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self {
    guard let value = Self(managedValue: object.anyValue(at: place, name)) else {
      object.wrongType(name, Self.self)
    }
    return value
  }

  /// Reads what `value(forKey:)` gives; traps when it is of another type.
  public static func readOptional(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Self? {
    guard let found = object.anyValue(at: place, name) else { return nil }
    guard let value = Self(managedValue: found) else { object.wrongType(name, Self.self) }
    return value
  }

  /// Sets as `setValue(_:forKey:)` does.
  public func write(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) {
    object.setAny(managedValue, at: place, name)
  }
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

  /// Those of the wrapped type.
  @inlinable public static var slotKinds: SlotKinds { Wrapped.slotKinds }

  /// Reads nil as nil.
  @inlinable @inline(__always)
  public static func read(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> Wrapped? {
    Wrapped.readOptional(object, at: place, name)
  }

  /// Sets nil, or the wrapped value.
  @inlinable
  public func write(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) {
    if let self {
      self.write(object, at: place, name)
    } else {
      object.setAny(nil, at: place, name)
    }
  }
}

extension String: EmptyManagedValue {
  /// No characters.
  public static var empty: String { "" }

  /// Texts.
  @inlinable public static var slotKinds: SlotKinds { .string }

  /// Reads the text that is kept, and decodes it first where it is not.
  @inlinable @inline(__always)
  public static func read(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> String {
    readOptional(object, at: place, name) ?? ""
  }

  /// Reads the text that is kept, and decodes it first where it is not.
  @inlinable @inline(__always)
  public static func readOptional(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) -> String? {
    // One load for both ways, which the compiler can borrow: a count up and down costs more than
    // all the rest.
    let cell = place.flatMap { object.keptText(at: $0) } ?? object.text(at: place, name)
    return cell.pointee
  }

  /// Sets the slot of that place, or the property of that name.
  @inlinable
  public func write(
    _ object: NSManagedObject, at place: SlotPosition?, _ name: UnsafePointer<UInt8>
  ) {
    object.set(self, at: place, name)
  }
}

extension Decimal: EmptyManagedValue {
  /// Zero.
  public static var empty: Decimal { 0 }
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

extension ManagedValue where Self: NSOrderedSet {
  /// The objects of an ordered to-many; nil is none.
  public init?(managedValue: Any?) {
    guard let same = managedValue as? Self else { return nil }
    self = same
  }
}

extension NSOrderedSet: ManagedValue {}

/// Declares a property of a hand-written managed object class, in the place of `@NSManaged`.
///
///     final class Mood: NSManagedObject {
///       @Managed("date") var date: Date
///       @Managed("country") var country: Country?
///     }
///
/// The name is the property's in the model. The entity remembers the literal, so that numbers, dates
/// and texts are read without looking a name up; a text is decoded at its first reading. Cost
/// otherwise as that of `value(forKey:)` and `setValue(_:forKey:)`. Reading a nil into a type that is
/// not optional gives the type's empty value (0, "", the reference date); an object or a UUID has none
/// and traps.
@propertyWrapper
public struct Managed<Value: ManagedValue> {
  /// The characters of the literal, which end with a 0; 8 bytes in each object.
  @usableFromInline let name: UnsafePointer<UInt8>

  /// Names the property in the model.
  @inlinable
  public init(_ name: StaticString) {
    self.name = name.utf8Start
  }

  /// Not usable outside a managed object.
  @available(*, unavailable, message: "@Managed is for properties of NSManagedObject subclasses")
  public var wrappedValue: Value {
    get { preconditionFailure("@Managed is for properties of NSManagedObject subclasses") }
    set { preconditionFailure("@Managed is for properties of NSManagedObject subclasses") }
  }

  /// Reads and writes the property of the object that declares it.
  ///
  /// Inlined, the key path to the wrapper becomes a load.
  public static subscript<Object: NSManagedObject>(
    _enclosingInstance object: Object,
    wrapped wrappedKeyPath: ReferenceWritableKeyPath<Object, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Object, Self>
  ) -> Value {
    @inlinable @inline(__always)
    get {
      let name = object[keyPath: storageKeyPath].name
      return Value.read(object, at: object.rememberedPlace(name, as: Value.slotKinds), name)
    }
    @inlinable @inline(__always)
    set {
      let name = object[keyPath: storageKeyPath].name
      newValue.write(object, at: object.rememberedPlace(name, as: Value.slotKinds), name)
    }
  }
}

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

/// A property of generated code: its name, and where its value lies in the rows of its entity.
///
///     static let rank = PropertySlot<Int64>(3, offset: 56, "rank")
///
/// For generated code alone: a wrong number is found out only when the slot is declared with the
/// class (`registerClass(named:slots:)`). Without that, and where the loaded entity has other slots,
/// the property is found by name. No Apple counterpart.
public struct PropertySlot<Value: ManagedValue>: Sendable {
  @usableFromInline let place: SlotPosition
  @usableFromInline let name: StaticString

  /// Says where the value lies.
  ///
  /// - Parameters:
  ///   - index: The slot's number.
  ///   - offset: Bytes from the beginning of a row.
  ///   - name: The property's name in the model.
  @inlinable @inline(__always)
  public init(_ index: Int, offset: Int, _ name: StaticString) {
    self.place = SlotPosition(index: index, offset: offset)
    self.name = name
  }

  /// What is expected of the loaded entity.
  public var declaration: SlotDeclaration {
    SlotDeclaration(name: name.description, place: place, kinds: Value.slotKinds)
  }
}
