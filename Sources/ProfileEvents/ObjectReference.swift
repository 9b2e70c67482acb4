/// Names one object of a store, cheaply enough to be part of every fault event.
package struct ObjectReference: Hashable, Sendable {
  /// The store's identifier (`Z_UUID`).
  package var store: String
  /// The name of the object's own entity, not of the entity that was asked for.
  package var entity: String
  /// `Z_PK`.
  package var primaryKey: Int64

  package init(store: String, entity: String, primaryKey: Int64) {
    self.store = store
    self.entity = entity
    self.primaryKey = primaryKey
  }

  /// `x-coredata://STORE/Entity/p4`, the URI that Apple's framework prints for the same object.
  package var uri: String {
    "x-coredata://\(store)/\(entity)/p\(primaryKey)"
  }
}
