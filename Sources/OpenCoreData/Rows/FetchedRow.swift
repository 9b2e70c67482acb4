import ManagedModel

/// An entity and a key, as an identifier fetch gives them.
struct FetchedIdentity: @unchecked Sendable {  // layouts are immutable
  /// Not counted: the store holds its layouts.
  private let reference: Unmanaged<EntityLayout>
  let primaryKey: Int64

  init(layout: EntityLayout, primaryKey: Int64) {
    reference = .passUnretained(layout)
    self.primaryKey = primaryKey
  }

  var layout: EntityLayout { reference.takeUnretainedValue() }

  /// Whether it is of that layout, asked without counting.
  func isOf(_ layout: EntityLayout) -> Bool {
    reference.toOpaque() == Unmanaged.passUnretained(layout).toOpaque()
  }
}

/// A row as it came from the store.
///
/// Whoever holds it owns one count of `row`.
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
