package import ManagedModel

/// The column or columns which hold one slot of an entity's rows.
package struct SQLColumn: @unchecked Sendable {
  // Unchecked: a description does not change once its model is in use.

  /// The attribute or to-one relationship.
  package let property: NSPropertyDescription

  /// The column's name as the file spells it, such as `ZTITLE` or `ZTEXT1`.
  package let name: String

  /// The column with the number of the destination's concrete entity, such as `Z3_OWNER`.
  ///
  /// Nil for an attribute, and for a to-one whose destination has no sub-entities.
  package let entityColumn: String?

  /// The column with the place of this object in the inverse's ordered to-many.
  package let orderColumn: String?
}
