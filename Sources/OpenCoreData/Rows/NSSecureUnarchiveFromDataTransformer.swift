import ManagedModel

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
