/// A managed object or an object ID in a predicate.
struct ObjectKey: Hashable, Sendable {
  /// The `Z_PK`; nil for an object that was never saved: no row equals it.
  let primaryKey: Int64?

  /// The name of the object's entity, if known.
  let entityName: String?

  init(primaryKey: Int64?, entityName: String? = nil) {
    self.primaryKey = primaryKey
    self.entityName = entityName
  }
}
