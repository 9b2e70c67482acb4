import ManagedModel

/// The column or columns which hold one slot of an entity's rows.
struct SQLColumn: @unchecked Sendable {
  // Unchecked: a description does not change once its model is in use.

  let property: NSPropertyDescription

  /// The column's name as the file spells it, such as `ZTITLE` or `ZTEXT1`.
  let name: String

  /// The column with the number of the destination's concrete entity, such as `Z3_OWNER`.
  ///
  /// Nil for an attribute, and for a to-one whose destination has no sub-entities.
  let entityColumn: String?

  /// The column with the place of this object in the inverse's ordered to-many.
  let orderColumn: String?
}
