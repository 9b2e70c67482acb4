/// One part of an index: a property and how it is sorted.
///
/// Counterpart: `NSFetchIndexElementDescription`.
///
/// Unchecked sendable because a description is built by one thread and changes no more once its
/// model is in use; every setter traps from then on.
public final class NSFetchIndexElementDescription: NSObject, @unchecked Sendable {
  /// The property that is indexed.
  public let property: NSPropertyDescription?

  /// How the part is stored.
  public var collationType: NSFetchIndexElementType { willSet { requireMutable() } }

  /// Whether small values come first.
  ///
  /// True at first.
  public var isAscending = true { willSet { requireMutable() } }

  /// The index that the part belongs to.
  public package(set) weak var indexDescription: NSFetchIndexDescription?

  /// The name of the property that is indexed.
  public var propertyName: String? { property?.name }

  /// Makes a part of an index.
  ///
  /// - Parameters:
  ///   - property: The property to index.
  ///   - collationType: How the part is stored.
  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.property = property
    self.collationType = collationType
    super.init()
  }

  /// Whether another object is an element over an equal property with the same order and collation.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexElementDescription else { return false }
    return self === other
      || (property == other.property && isAscending == other.isAscending
        && collationType == other.collationType)
  }

  /// The hash of the property's name.
  public override var hash: Int { propertyName.hashValue }

  private func requireMutable() {
    if indexDescription?.isFrozen == true {
      preconditionFailure(
        "The index element \(propertyName ?? "?") belongs to a model that is in use. "
          + "Change a copy of the model.")
    }
  }
}
