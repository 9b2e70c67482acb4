import ManagedModel

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
