/// Describes an attribute that is a group of named values, such as an address.
///
/// Its type is composite from the start. Counterpart: `NSCompositeAttributeDescription`.
public final class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  /// The attributes of the group, which may be composite again.
  ///
  /// They belong to no entity: a value of one is reached through the value of the group.
  public var elements: [NSAttributeDescription] = [] { willSet { requireMutable() } }

  /// Makes a group without a name and without elements.
  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  override func freeze() {
    for element in elements { element.freeze() }
    super.freeze()
  }
}
