import CSQLite

/// Confines the statements of a connection to its store, as SQLite's authorizer.
///
/// It's called when a statement is prepared, not while it runs.
// Sendable is unchecked: only the connection's thread reads and writes it.
final class StatementAuthorizer: @unchecked Sendable {
  /// The actions that were rejected since the last error, with the reason.
  @exclusivity(unchecked) private var denial: String?

  /// Returns the actions that were rejected for the statement that failed, with the reason, or
  /// `nil` if it failed for another cause.
  func takeDenial() -> String? {
    defer { denial = nil }
    return denial
  }

  /// Registers the authorizer.
  func register(on handle: OpaquePointer) {
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, _, _ in
        guard let context else { return SQLITE_DENY }
        let authorizer = Retained.borrow(context, as: StatementAuthorizer.self)
        return authorizer.decide(action, first, second)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func decide(
    _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?
  ) -> Int32 {
    switch action {
    case SQLITE_ATTACH:
      // VACUUM attaches a temporary database, which has an empty name.
      if let first, first.pointee == 0 { return SQLITE_OK }
      return deny("ATTACH and VACUUM INTO aren't allowed")
    case SQLITE_FUNCTION:
      let name = second.map { String(cString: $0).lowercased() } ?? ""
      return Self.functions.contains(name) ? deny("\(name)() isn't allowed") : SQLITE_OK
    case SQLITE_CREATE_VTABLE:
      let name = second.map { String(cString: $0).lowercased() } ?? ""
      return Self.modules.contains(name)
        ? SQLITE_OK : deny("virtual tables of the module \(name) aren't allowed")
    case SQLITE_PRAGMA:
      let name = first.map { String(cString: $0) } ?? ""
      if name.lowercased() == "locking_mode", let value = second.map({ String(cString: $0) }) {
        guard value.lowercased() == "normal" else {
          denial = "PRAGMA locking_mode isn't allowed: other connections read the same store"
          return SQLITE_DENY
        }
      }
      return Self.allows(pragma: name) || name.lowercased() == "locking_mode"
        ? SQLITE_OK : deny("PRAGMA \(name) isn't allowed")
    default:
      return SQLITE_OK
    }
  }

  private func deny(_ reason: String) -> Int32 {
    denial = "\(reason): a statement can access only its own store"
    return SQLITE_DENY
  }

  /// Functions that load code, or read and write files.
  private static let functions: Set<String> = [
    "edit", "fts3_tokenizer", "load_extension", "readfile", "writefile",
  ]

  /// Modules whose tables are in the database itself.
  private static let modules: Set<String> = [
    "dbstat", "fts3", "fts3tokenize", "fts4", "fts4aux", "fts5", "fts5vocab", "geopoly", "rtree",
    "rtree_i32",
  ]

  /// Returns whether a pragma affects only the store and its connection.
  ///
  /// Other pragmas set paths, process-wide limits, or how far a schema is trusted, or lock out
  /// other connections of the store.
  static func allows(pragma name: String) -> Bool {
    pragmas.contains(name.lowercased())
  }

  /// The pragmas that can be set when a store is opened, in lowercase.
  static let pragmas: Set<String> = [
    "analysis_limit", "application_id", "auto_vacuum", "automatic_index", "busy_timeout",
    "cache_size", "cache_spill", "case_sensitive_like", "cell_size_check", "checkpoint_fullfsync",
    "collation_list", "compile_options", "count_changes", "data_version", "database_list",
    "default_cache_size", "defer_foreign_keys", "empty_result_callbacks", "encoding",
    "foreign_key_check", "foreign_key_list", "foreign_keys", "freelist_count",
    "full_column_names", "fullfsync", "function_list", "ignore_check_constraints",
    "incremental_vacuum", "index_info", "index_list", "index_xinfo", "integrity_check",
    "journal_mode", "journal_size_limit", "legacy_alter_table", "legacy_file_format",
    "max_page_count", "module_list", "optimize", "page_count", "page_size",
    "pragma_list", "query_only", "quick_check", "read_uncommitted", "recursive_triggers",
    "reverse_unordered_selects", "schema_version", "secure_delete", "short_column_names",
    "shrink_memory", "stats", "synchronous", "table_info", "table_list", "table_xinfo",
    "temp_store", "threads", "user_version", "wal_autocheckpoint", "wal_checkpoint",
  ]
}
