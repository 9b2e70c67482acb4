import CSQLite

/// A counter SQLite keeps for each connection.
///
/// See <https://www.sqlite.org/c3ref/c_dbstatus_options.html>.
package enum ConnectionStatus: Sendable, CaseIterable {
  /// Pages found in the page cache.
  case cacheHits
  /// Pages read from the file.
  case cacheMisses
  /// Pages written to the file or its log.
  case cacheWrites
  /// Pages written before the end of a transaction because the cache was full.
  case cacheSpills
  /// Bytes the page cache occupies now. Never reset.
  case cacheBytes
  /// Bytes the parsed schema occupies now. Never reset.
  case schemaBytes
  /// Bytes all prepared statements occupy now. Never reset.
  case statementBytes

  var code: Int32 {
    switch self {
    case .cacheHits: SQLITE_DBSTATUS_CACHE_HIT
    case .cacheMisses: SQLITE_DBSTATUS_CACHE_MISS
    case .cacheWrites: SQLITE_DBSTATUS_CACHE_WRITE
    case .cacheSpills: SQLITE_DBSTATUS_CACHE_SPILL
    case .cacheBytes: SQLITE_DBSTATUS_CACHE_USED
    case .schemaBytes: SQLITE_DBSTATUS_SCHEMA_USED
    case .statementBytes: SQLITE_DBSTATUS_STMT_USED
    }
  }
}
