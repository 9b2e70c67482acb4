/// What a predicate needs to know of a managed object or an object ID.
struct ObjectKey: Hashable, Sendable {
  /// The `Z_PK`, nil for an object which was never saved: no row equals it.
  let primaryKey: Int64?

  /// The name of the object's entity, where it is known.
  let entityName: String?

  init(primaryKey: Int64?, entityName: String? = nil) {
    self.primaryKey = primaryKey
    self.entityName = entityName
  }
}
