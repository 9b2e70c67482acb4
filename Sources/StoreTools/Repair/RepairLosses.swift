/// The numbers of recovered rows, and what couldn't be recovered, by entity or table.
struct RepairLosses {
  var recovered: [String: Int] = [:]
  /// Recovered rows of pages in no b-tree.
  var detached: [String: Int] = [:]
  /// Values whose overflow pages are corrupt.
  var corruptValues: [String: Int] = [:]
  /// Rows that violate a uniqueness constraint.
  var refused: [String: Int] = [:]
  /// Records that can't be decoded, or whose entity ID isn't known, by table; empty for an unknown
  /// table.
  private(set) var undecoded: [String: Int] = [:]
  /// Corrupt pages, by table.
  var corruptPages: [String: Int] = [:]
  /// Rows of tables that the model doesn't have.
  var omitted: [String: Int] = [:]
  /// What the file doesn't state.
  var assumptions: [String] = []

  mutating func add(undecoded count: Int, in table: String) {
    undecoded[table, default: 0] += count
  }
}
