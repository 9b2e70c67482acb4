import ManagedModel
import Synchronization

/// Converts the values of a transformable attribute to bytes and back.
///
/// Subclass it, override `transformedValue(_:)` (value to `Data`) and `reverseTransformedValue(_:)`
/// (`Data` to value), and register an instance under the name in the model, before the coordinator
/// is created. Bytes are decoded when an object is fulfilled, values encoded once per save. Any
/// thread may call a transformer. Apple counterpart: `ValueTransformer`, which Foundation lacks on
/// Linux; the book's chapter 5.
open class ValueTransformer: NSObject, RegisteredByName {
  /// Creates a transformer; a subclass implements the transformation.
  public override init() {
    super.init()
  }

  /// Returns the class of the result of `transformedValue(_:)`.
  open class func transformedValueClass() -> AnyClass {
    NSData.self
  }

  /// Returns whether the transformation is reversible; a transformable attribute requires it.
  open class func allowsReverseTransformation() -> Bool {
    true
  }

  /// Returns the transformed value; `nil` if there's none.
  open func transformedValue(_ value: Any?) -> Any? {
    value
  }

  /// Returns the original value; `nil` if there's none.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    value
  }

  // MARK: Names

  private static let registry = Mutex(
    Registry(transformers: [
      .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
      .keyedUnarchiveFromDataTransformerName: KeyedUnarchiveFromDataTransformer(),
    ]))

  private struct Registry: @unchecked Sendable {  // guarded by the lock; any thread may transform
    var transformers: [NSValueTransformerName: ValueTransformer]
  }

  /// Registers a transformer under a name, replacing any existing one; `nil` removes it.
  ///
  /// A model in use keeps the transformers that it started with. Any thread may call it.
  public class func setValueTransformer(
    _ transformer: ValueTransformer?, forName name: NSValueTransformerName
  ) {
    nonisolated(unsafe) let transformer = transformer
    registry.withLock { $0.transformers[name] = transformer }
  }

  /// Returns the registered names.
  public class func valueTransformerNames() -> [NSValueTransformerName] {
    registry.withLock { $0.transformers.keys.sorted { $0.rawValue < $1.rawValue } }
  }

  static func registered(_ name: NSValueTransformerName) -> ValueTransformer? {
    let registry = registry.withLock { $0 }
    return registry.transformers[name]
  }
}

/// Adds an initializer to `ValueTransformer` that returns a registered instance, which a class
/// itself can't have.
public protocol RegisteredByName {}

extension RegisteredByName where Self: ValueTransformer {
  /// Returns the transformer registered under a name; `nil` if there's none, or one of another
  /// class.
  public init?(forName name: NSValueTransformerName) {
    guard let found = ValueTransformer.registered(name) as? Self else { return nil }
    self = found
  }
}

/// The name that a value transformer is registered under and that a model uses for it.
///
/// Apple counterpart: `NSValueTransformerName`, which Foundation lacks on Linux.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name in the model.
  public let rawValue: String

  /// Creates a name.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Creates a name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Keyed archives of property-list values, registered by default.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSSecureUnarchiveFromData")

  /// Keyed archives of property-list values and of the program's own classes that conform to
  /// `NSCoding`, registered by default.
  ///
  /// It was Core Data's default before `secureUnarchiveFromDataTransformerName`.
  public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSKeyedUnarchiveFromData")
}

/// Stores values as keyed archives: strings, numbers, dates, data, URLs, UUIDs, and arrays, sets,
/// and dictionaries of these.
///
/// As in Core Data, it transforms *from* bytes: `transformedValue(_:)` reads an archive,
/// `reverseTransformedValue(_:)` writes one. Core Data uses it, and its subclasses, in the opposite
/// direction from other transformers. A value of a type that Foundation on Linux can't archive
/// returns `nil`.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes allowed for an archive's value: the property-list types, UUIDs, URLs, and sets.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self,
      NSData.self, NSURL.self, NSUUID.self, NSNull.self,
    ]
  }

  /// Returns the class of any archived object.
  open override class func transformedValueClass() -> AnyClass {
    NSObject.self
  }

  /// Returns the value of an archive; `nil` for other bytes, and for values of other classes.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = value.flatMap({ Data(value: $0) }), let archive = ArchiveCheck(data) else {
      return nil
    }
    return self.value(of: archive, data)
  }

  /// Returns the value of a checked archive; `nil` if it contains a class that isn't allowed.
  func value(of archive: ArchiveCheck, _ data: Data) -> Any? {
    let classes = type(of: self).allowedTopLevelClasses
    guard archive.containsOnly(classes) else { return nil }
    return (try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)).flatMap(native)
  }

  /// Returns a value's archive; `nil` for a value that can't be archived.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value, let object = archivable(value) else { return nil }
    return try? NSKeyedArchiver.archivedData(
      withRootObject: object, requiringSecureCoding: isSecure)
  }

  /// Whether only values that conform to `NSSecureCoding` are archived.
  var isSecure: Bool { true }

  /// Returns an unarchived object as Swift's value, if there is one.
  final func native(_ object: Any?) -> Any? {
    if let object, let data = Data(value: object) { return data }
    return switch object {
    case let value as NSNumber: value
    case let value as String: value
    case let value as Date: value
    case let value as URL: value
    case let value as UUID: value
    case let value as [Any]: value
    case let value as [AnyHashable: Any]: value
    case let value as Set<AnyHashable>: value
    default: object
    }
  }

  /// Returns a value as an object that the archiver supports; it crashes on others.
  private func archivable(_ value: Any) -> NSObject? {
    if let data = Data(value: value) { return NSData(data: data) }
    return switch value {
    case let value as NSString: value
    case let value as String: NSString(string: value)
    case let value as Date: NSDate(timeInterval: 0, since: value)
    case let value as URL: NSURL(string: value.absoluteString)
    case let value as UUID: NSUUID(uuidString: value.uuidString)
    case let value as [Any]: collected(value).map { NSArray(array: $0) }
    case let value as [AnyHashable: Any]: collected(value)
    case let value as Set<AnyHashable>: collected(value.map(\.base)).map { NSSet(array: $0) }
    case is Decimal: nil
    case let value as NSNumber: value
    case let value as any BinaryInteger: Int64(exactly: value).map { NSNumber(value: $0) }
    case let value as any BinaryFloatingPoint: NSNumber(value: Double(value))
    case let value as NSNull: value
    case let value as any NSObject & NSSecureCoding: value
    case let value as any NSObject & NSCoding: isSecure ? nil : value
    default: nil
    }
  }

  private func collected(_ values: [Any]) -> [NSObject]? {
    let objects = values.compactMap(archivable)
    return objects.count == values.count ? objects : nil
  }

  private func collected(_ values: [AnyHashable: Any]) -> NSDictionary? {
    var objects: [AnyHashable: Any] = [:]
    for (key, value) in values {
      guard let key = key.base as? String, let object = archivable(value) else { return nil }
      objects[key] = object
    }
    return NSDictionary(dictionary: objects)
  }
}

/// Stores values as keyed archives, including those of classes that only conform to `NSCoding`.
///
/// It's registered as `NSKeyedUnarchiveFromData`, the name that models use for Core Data's former
/// default transformer. Use `NSSecureUnarchiveFromData` in new models: this one creates objects of
/// any class of the program that an archive names.
final class KeyedUnarchiveFromDataTransformer: NSSecureUnarchiveFromDataTransformer {
  override var isSecure: Bool { false }

  override func value(of archive: ArchiveCheck, _ data: Data) -> Any? {
    let classes = Self.allowedTopLevelClasses
    if archive.containsOnly(classes) { return super.value(of: archive, data) }
    guard archive.containsOnlyCodable(classes),
      let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
    else { return nil }
    unarchiver.requiresSecureCoding = false
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    return native(unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey))
  }
}
