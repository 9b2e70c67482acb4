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
  /// The `Z_PK`; `nil` for an object that was never saved: no row equals it.
  let primaryKey: Int64?

  /// The name of the object's entity, if known.
  let entityName: String?

  init(primaryKey: Int64?, entityName: String? = nil) {
    self.primaryKey = primaryKey
    self.entityName = entityName
  }
}

/// Changes saved elsewhere, with the identities of one coordinator's contexts.
struct MergedChanges: Sendable {
  var inserted: [FetchedIdentity] = []
  var updated: [FetchedIdentity] = []
  var deleted: [FetchedIdentity] = []

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty
  }

  var all: [FetchedIdentity] {
    inserted + updated + deleted
  }

  /// The entity with the most objects; the first by name among several.
  var mostFrequentEntity: String? {
    let counts = all.reduce(into: [String: Int]()) { counts, identity in
      counts[identity.layout.entityName, default: 0] += 1
    }
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }

  /// Returns the changes in the store at an index.
  func of(_ storeIndex: Int) -> MergedChanges {
    func here(_ identities: [FetchedIdentity]) -> [FetchedIdentity] {
      identities.filter { $0.layout.storeIndex == storeIndex }
    }
    return MergedChanges(
      inserted: here(inserted), updated: here(updated), deleted: here(deleted))
  }
}
