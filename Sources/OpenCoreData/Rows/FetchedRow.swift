import ManagedModel

/// An entity and a primary key, the result of an object ID fetch.
struct FetchedIdentity: @unchecked Sendable {  // layouts are immutable
  /// Not retained: the store retains its layouts.
  private let reference: Unmanaged<EntityLayout>
  let primaryKey: Int64

  init(layout: EntityLayout, primaryKey: Int64) {
    reference = .passUnretained(layout)
    self.primaryKey = primaryKey
  }

  var layout: EntityLayout { reference.takeUnretainedValue() }

  /// Returns whether it's of a layout, without retaining that.
  func isOf(_ layout: EntityLayout) -> Bool {
    reference.toOpaque() == Unmanaged.passUnretained(layout).toOpaque()
  }
}

/// A row read from the store.
///
/// Its holder owns one reference count of `row`.
struct FetchedRow {
  let identity: FetchedIdentity
  let row: Row

  var layout: EntityLayout { identity.layout }
  var primaryKey: Int64 { identity.primaryKey }

  init(layout: EntityLayout, primaryKey: Int64, row: Row) {
    identity = FetchedIdentity(layout: layout, primaryKey: primaryKey)
    self.row = row
  }
}

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
