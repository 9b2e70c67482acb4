/// The layout of an entity's values in a row, for the framework and for generated code.
///
/// From the root entity to this one, each level has its stored attributes by name, followed by its
/// to-one relationships by name. A subentity's slots begin with those of its superentity.
package struct SlotGeometry {
  /// The size in bytes of a row's header, before the bits for `nil`.
  package static let headerSize = 24

  /// The properties that have a slot, in the order of the slots.
  package let properties: [NSPropertyDescription]
  /// The offset of each slot, in bytes from the start of the row.
  package let offsets: [Int]
  /// The size in bytes of a row before its strings and binary data.
  package let fixedSize: Int

  /// Creates the layout of an entity.
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

  /// Returns whether a slot stores the destination's entity next to its primary key, as that of a
  /// to-one relationship does if the destination has subentities.
  package static func needsEntity(_ property: NSPropertyDescription) -> Bool {
    (property as? NSRelationshipDescription)?.destinationEntity?.subentities.isEmpty == false
  }
}
