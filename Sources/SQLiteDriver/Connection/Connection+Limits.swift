import CSQLite

// What a connection is never allowed, and what one that only reads is allowed less.

extension Connection {
  /// Turns off what no store needs and what a hostile schema could use.
  ///
  /// - Parameter isReadOnly: For a file that's opened read-only, which can come from anywhere. Views are
  ///   off there too: a store has none, and one in place of a table can be endless.
  static func harden(_ handle: OpaquePointer, isReadOnly: Bool) throws(SQLiteError) {
    var settings = [
      (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
      (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
    ]
    if isReadOnly {
      // A writer has to trust the schema: triggers of a range index write to an R-tree.
      settings += [
        (SQLITE_DBCONFIG_TRUSTED_SCHEMA, false), (SQLITE_DBCONFIG_DEFENSIVE, true),
        (SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
      ]
      for (limit, value) in readOnlyLimits { sqlite3_limit(handle, limit, value) }
    }
    for (option, isOn) in settings {
      let code = cdprof_db_config(handle, option, isOn ? 1 : 0)
      guard code == SQLITE_OK else { throw SQLiteError(handle: handle, code: code) }
    }
  }

  /// Keeps all statements that are prepared from now on inside of the store.
  ///
  /// Also turns on SQLite's defensive mode: no statement can write to the schema as if it were a table.
  /// No value can be longer than 256 MB.
  /// - Throws: `SQLITE_AUTH` from then on, with what isn't allowed: `ATTACH`, `VACUUM INTO`, functions
  ///   that load code, and pragmas that concern more than the store.
  package func confine() {
    guard confinement == nil else { return }
    let confinement = Confinement()
    confinement.serve(use())
    _ = cdprof_db_config(use(), SQLITE_DBCONFIG_DEFENSIVE, 1)
    sqlite3_limit(use(), SQLITE_LIMIT_LENGTH, Self.longestValue)
    self.confinement = confinement
  }

  /// Has statements that read a view fail from now on: one in place of a table can be endless.
  package func refuseViews() {
    _ = cdprof_db_config(use(), SQLITE_DBCONFIG_ENABLE_VIEW, 0)
  }

  /// Whether a pragma can be set when a store is opened: it concerns only the store.
  ///
  /// Opening a store with another one throws `SQLITE_MISUSE`.
  package static func allows(pragma name: String) -> Bool {
    Confinement.allows(pragma: name)
  }

  /// The names for which `allows(pragma:)` holds, in lowercase and in order.
  package static var allowedPragmas: [String] { Confinement.pragmas.sorted() }

  /// Bounds the memory that SQLite takes for all connections of the process.
  ///
  /// A statement that needs more fails with `SQLITE_NOMEM`, and its connection stays usable.
  package static func limitMemory(toBytes bytes: Int64) {
    sqlite3_hard_heap_limit64(bytes)
  }

  /// VM steps that a statement of a read-only connection may take: about a minute.
  static let readOnlySteps = 10_000_000_000

  /// Bytes of a value or a row; larger values are kept in files of their own.
  private static let longestValue: Int32 = 256 << 20

  private static let readOnlyLimits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_LENGTH, longestValue),
    (SQLITE_LIMIT_SQL_LENGTH, 16 << 20),
    (SQLITE_LIMIT_VDBE_OP, 10_000_000),
    // VACUUM, which fails there, attaches one.
    (SQLITE_LIMIT_ATTACHED, 1),
    (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10_000),
    (SQLITE_LIMIT_TRIGGER_DEPTH, 10),
    (SQLITE_LIMIT_WORKER_THREADS, 0),
  ]
}
