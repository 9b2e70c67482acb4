import CSQLite

/// The SQLite library this process runs with, which may differ from the header it was built with.
package enum SQLiteLibrary {
  /// The version, as in `3.40.1`.
  package static var version: String { String(cString: sqlite3_libversion()) }
}
