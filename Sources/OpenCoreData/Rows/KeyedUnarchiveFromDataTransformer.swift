import ManagedModel

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
