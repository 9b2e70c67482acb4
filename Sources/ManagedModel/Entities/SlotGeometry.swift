/// Where the values of an entity lie in a row: for the framework, and for code that is generated.
///
/// From the root entity down to this one: the stored attributes of the level by name, then its to-one
/// relationships by name. A sub-entity's slots begin with its parent's.
package struct SlotGeometry {
  /// Bytes of a row before the bits that say nil.
  package static let headerSize = 24

  /// The properties that have a slot, in the order of the slots.
  package let properties: [NSPropertyDescription]
  /// Where each slot begins, in bytes from the row's base.
  package let offsets: [Int]
  /// Bytes of a row before its texts and blobs.
  package let fixedSize: Int

  /// Lays out one entity.
  package init(_ entity: NSEntityDescription) {
    properties = entity.slotProperties
    var offsets: [Int] = []
    var offset = SlotGeometry.headerSize + (properties.count + 63) / 64 * 8
    for property in properties {
      offsets.append(offset)
      offset += SlotGeometry.needsEntity(property) ? 16 : 8
    }
    self.offsets = offsets
    fixedSize = offset
  }

  /// Whether a slot has the destination's entity behind its key: that of a to-one whose destination
  /// has sub-entities.
  package static func needsEntity(_ property: NSPropertyDescription) -> Bool {
    (property as? NSRelationshipDescription)?.destinationEntity?.subentities.isEmpty == false
  }
}
