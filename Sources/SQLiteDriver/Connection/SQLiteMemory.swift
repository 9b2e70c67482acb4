import CSQLite

/// The memory that SQLite has allocated for all connections of the process.
package enum SQLiteMemory {
  /// The bytes that are allocated now.
  package static var used: Int { Int(sqlite3_memory_used()) }

  /// The most bytes that were allocated at once since the last `resetPeak()`.
  package static var peak: Int { Int(sqlite3_memory_highwater(0)) }

  /// Sets the peak to the bytes that are allocated now.
  package static func resetPeak() { _ = sqlite3_memory_highwater(1) }
}
