import CSQLite

/// A counter SQLite keeps for each connection.
///
/// See <https://www.sqlite.org/c3ref/c_dbstatus_options.html>.
enum ConnectionStatus {
  /// Pages read from the file.
  case cacheMisses
  /// Pages written to the file or its log.
  case cacheWrites

  var code: Int32 {
    switch self {
    case .cacheMisses: SQLITE_DBSTATUS_CACHE_MISS
    case .cacheWrites: SQLITE_DBSTATUS_CACHE_WRITE
    }
  }
}
