import ManagedModel

/// One row of a store in memory; it holds one count.
final class MemoryRow: Sendable {
  let layout: EntityLayout
  let primaryKey: Int64
  let row: Row

  /// Takes over the count that comes with the row.
  init(layout: EntityLayout, primaryKey: Int64, row: Row) {
    self.layout = layout
    self.primaryKey = primaryKey
    self.row = row
  }

  deinit {
    row.release()
  }

  /// The row with a count for the caller.
  var fetched: FetchedRow {
    row.retain()
    return FetchedRow(layout: layout, primaryKey: primaryKey, row: row)
  }

  var identity: FetchedIdentity {
    FetchedIdentity(layout: layout, primaryKey: primaryKey)
  }
}
