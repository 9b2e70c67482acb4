import OpenCoreData

/// The versions of the rows that the row cache has, which a save compares with those of the database.
struct RowVersions {
  private struct Entry {
    /// Nil until the row is read.
    var version: Int64?
    /// The number of contexts that have registered the object.
    var owners = 0
    /// Whether a save found no row, and whether it was then looked up.
    var isMissing = false
    var isLookedUp = false
  }

  private var entries: [Int64: Entry] = [:]

  /// Records the version of a row that the row cache gets.
  mutating func set(_ version: Int64, of key: Int64) {
    let owners = entries[key]?.owners ?? 0
    entries[key] = Entry(version: version, owners: owners)
  }

  /// Returns the version; nil if the row wasn't read.
  func version(of key: Int64) -> Int64? { entries[key]?.version }

  /// Records that a save found no row.
  mutating func setMissing(_ key: Int64) { entries[key, default: Entry()].isMissing = true }

  /// Records that a row was looked up and not found.
  mutating func setLookedUp(_ key: Int64) {
    if entries[key]?.isMissing == true { entries[key]?.isLookedUp = true }
  }

  /// Returns whether a save is to insert a row again: the merge policy has looked for it after a conflict, and kept
  /// the object.
  func isRestored(_ key: Int64) -> Bool {
    entries[key].map { $0.isMissing && $0.isLookedUp } ?? false
  }

  /// Records that a context has registered an object.
  mutating func addOwner(_ key: Int64) { entries[key, default: Entry()].owners += 1 }

  /// Forgets a row when no context has its object.
  mutating func removeOwner(_ key: Int64) {
    guard let owners = entries[key]?.owners else { return }
    if owners > 1 { entries[key]?.owners = owners - 1 } else { entries[key] = nil }
  }

  /// Forgets a deleted row.
  mutating func remove(_ key: Int64) { entries[key]?.version = nil }
}
