import ManagedModel

extension String: EmptyManagedValue {
  /// No characters.
  public static var empty: String { "" }

  /// Texts.
  @inlinable public static var slotKinds: SlotKinds { .string }

  /// Reads the text that is kept, and decodes it first where it is not.
  @inlinable @inline(__always)
  public static func read(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> String {
    readOptional(object, at: place, name) ?? ""
  }

  /// Reads the text that is kept, and decodes it first where it is not.
  @inlinable @inline(__always)
  public static func readOptional(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
  ) -> String? {
    // One load for both ways, which the compiler can borrow: a count up and down costs more than
    // all the rest.
    let cell = place.flatMap { object.keptText(at: $0) } ?? object.text(at: place, name)
    return cell.pointee
  }

  /// Sets the slot of that place, or the property of that name.
  @inlinable
  public func write(
    _ object: NSManagedObject, at place: SlotPlace?, _ name: UnsafePointer<UInt8>
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
