extension NSPropertyDescription {
  /// A hash of 32 bytes over what of the property affects stored data.
  ///
  /// Covers the name, whether it is optional and transient, the hash modifier, the type of an
  /// attribute, and destination, inverse, counts and order of a relationship. Indexes, default
  /// values, rules, delete rules, derivation and notes do not count. Computed at each call. Apple's
  /// property has the same name; the bytes are ours.
  public var versionHash: Data { Data(digest) }

  final var digest: [UInt8] {
    var text = DigestText("property 1")
    text.add(name)
    text.add(isOptional)
    text.add(isTransient)
    text.add(versionHashModifier)
    switch self {
    case let attribute as NSAttributeDescription:
      text.add("attribute")
      text.add(Int(attribute.attributeType.rawValue))
      if let composite = attribute as? NSCompositeAttributeDescription {
        for element in composite.elements.sorted(by: { $0.name < $1.name }) {
          text.add(element.digest)
        }
      }
    case let relationship as NSRelationshipDescription:
      text.add("relationship")
      text.add(relationship.destinationEntity?.name)
      text.add(relationship.inverseRelationship?.name)
      text.add(relationship.minCount)
      text.add(relationship.maxCount)
      text.add(relationship.isOrdered)
    default:
      text.add("other")
    }
    return text.digest
  }
}
