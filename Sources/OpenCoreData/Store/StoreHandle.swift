/// What object IDs hold of their store: one for all of them, so that an ID needs no weak reference of
/// its own.
///
/// Outlives the store, whose IDs go on being equal to each other.
final class StoreHandle: @unchecked Sendable {  // `store` is set once, by the store's initialiser
  /// `Z_UUID`.
  let identifier: String
  weak var store: NSPersistentStore?

  init(identifier: String) {
    self.identifier = identifier
  }
}
