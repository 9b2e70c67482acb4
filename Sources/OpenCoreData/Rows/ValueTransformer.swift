import ManagedModel
import Synchronization

/// Turns the values of a transformable attribute into bytes and back.
///
/// Subclass it, override `transformedValue(_:)` (value to `Data`) and `reverseTransformedValue(_:)`
/// (`Data` to value), and register an instance under the name that the model gives, before the
/// coordinator is made. Bytes are turned back when an object is filled, values into bytes once a
/// save. Any thread may call a transformer. Apple counterpart: `ValueTransformer`, which Foundation
/// lacks on Linux; the book's chapter 5.
open class ValueTransformer: NSObject, RegisteredByName {
  /// Makes a transformer; a subclass says what it does.
  public override init() {
    super.init()
  }

  /// The class of what `transformedValue(_:)` gives.
  open class func transformedValueClass() -> AnyClass {
    NSData.self
  }

  /// Whether there is a way back; a transformable attribute needs one.
  open class func allowsReverseTransformation() -> Bool {
    true
  }

  /// The other form of a value; nil when it has none.
  open func transformedValue(_ value: Any?) -> Any? {
    value
  }

  /// The value again; nil when the other form makes none.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    value
  }

  // MARK: Names

  private static let registry = Mutex(
    Registry(transformers: [
      .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
      .keyedUnarchiveFromDataTransformerName: KeyedUnarchiveFromDataTransformer(),
    ]))

  private struct Registry: @unchecked Sendable {  // behind the lock; any thread may transform
    var transformers: [NSValueTransformerName: ValueTransformer]
  }

  /// Registers a transformer under a name, in the place of one that has it; nil takes that away.
  ///
  /// A model that is in use keeps the transformers it was begun with. Any thread may call it.
  public class func setValueTransformer(
    _ transformer: ValueTransformer?, forName name: NSValueTransformerName
  ) {
    nonisolated(unsafe) let transformer = transformer
    registry.withLock { $0.transformers[name] = transformer }
  }

  /// The names that are registered.
  public class func valueTransformerNames() -> [NSValueTransformerName] {
    registry.withLock { $0.transformers.keys.sorted { $0.rawValue < $1.rawValue } }
  }

  static func registered(_ name: NSValueTransformerName) -> ValueTransformer? {
    let registry = registry.withLock { $0 }
    return registry.transformers[name]
  }
}

/// Gives `ValueTransformer` an initializer that finds an instance, which a class's own cannot do.
public protocol RegisteredByName {}

extension RegisteredByName where Self: ValueTransformer {
  /// The transformer that is registered under a name; nil when there is none, or one of another class.
  public init?(forName name: NSValueTransformerName) {
    guard let found = ValueTransformer.registered(name) as? Self else { return nil }
    self = found
  }
}

/// The name that a value transformer is registered under and that a model names it by.
///
/// Apple counterpart: `NSValueTransformerName`, which Foundation lacks on Linux.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name as the model writes it.
  public let rawValue: String

  /// Makes a name.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes a name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Keyed archives of property-list values, registered from the start.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSSecureUnarchiveFromData")

  /// Keyed archives of property-list values and of the program's own classes that have `NSCoding`,
  /// registered from the start.
  ///
  /// It was Core Data's default before `secureUnarchiveFromDataTransformerName`.
  public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSKeyedUnarchiveFromData")
}

/// Keeps values as keyed archives: texts, numbers, dates, data, URLs, UUIDs, and arrays, sets and
/// dictionaries of these.
///
/// As with Apple's, bytes are what it transforms *from*: `transformedValue(_:)` reads an archive,
/// `reverseTransformedValue(_:)` writes one. Core Data uses it, and its subclasses, the other way
/// round than other transformers. A value of a type that Foundation on Linux cannot archive gives
/// nil.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes that an archive's value may be of; the property-list types, UUIDs, URLs and sets.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self,
      NSData.self, NSURL.self, NSUUID.self, NSNull.self,
    ]
  }

  /// Anything that an archive holds.
  open override class func transformedValueClass() -> AnyClass {
    NSObject.self
  }

  /// The value of an archive; nil for other bytes, and for values of other classes.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data, let archive = ArchiveCheck(data) else { return nil }
    return self.value(of: archive, data)
  }

  /// The value of an archive that was checked; nil if it contains a class that isn't allowed.
  func value(of archive: ArchiveCheck, _ data: Data) -> Any? {
    let classes = type(of: self).allowedTopLevelClasses
    guard archive.holdsOnly(classes) else { return nil }
    return (try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)).flatMap(native)
  }

  /// A value's archive; nil for a value that cannot be archived.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value, let object = archivable(value) else { return nil }
    return try? NSKeyedArchiver.archivedData(
      withRootObject: object, requiringSecureCoding: isSecure)
  }

  /// Whether only values that have `NSSecureCoding` are archived.
  var isSecure: Bool { true }

  /// An unarchived object as Swift's value, where there is one.
  final func native(_ object: Any?) -> Any? {
    switch object {
    case let value as NSNumber: value
    case let value as String: value
    case let value as Date: value
    case let value as Data: value
    case let value as URL: value
    case let value as UUID: value
    case let value as [Any]: value
    case let value as [AnyHashable: Any]: value
    case let value as Set<AnyHashable>: value
    default: object
    }
  }

  /// A value as an object that the archiver takes; it crashes on those that it does not know.
  private func archivable(_ value: Any) -> NSObject? {
    switch value {
    case let value as NSString: value
    case let value as String: NSString(string: value)
    case let value as Date: NSDate(timeInterval: 0, since: value)
    case let value as Data: NSData(data: value)
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

/// Stores values as keyed archives, also those of classes that have `NSCoding` only.
///
/// It's registered as `NSKeyedUnarchiveFromData`, the name that models use for Core Data's former
/// default transformer. Use `NSSecureUnarchiveFromData` in new models: this one creates objects of
/// whichever classes of the program an archive names.
final class KeyedUnarchiveFromDataTransformer: NSSecureUnarchiveFromDataTransformer {
  override var isSecure: Bool { false }

  override func value(of archive: ArchiveCheck, _ data: Data) -> Any? {
    let classes = Self.allowedTopLevelClasses
    if archive.holdsOnly(classes) { return super.value(of: archive, data) }
    guard archive.holdsOnlyCodable(classes),
      let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
    else { return nil }
    unarchiver.requiresSecureCoding = false
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    return native(unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey))
  }
}
