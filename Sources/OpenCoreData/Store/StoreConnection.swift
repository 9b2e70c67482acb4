package import SQLiteDriver

/// Opens a store's file for those who ask SQLite itself, with what Core Data's SQL takes for granted.
package enum StoreConnection {
  /// A connection with the SQL functions and collations that captured statements, triggers and
  /// indexes name; without them they neither run nor explain.
  ///
  /// Its statements can't reach outside of the store: see `Connection.confine()`. Each takes at most
  /// 1,000,000,000 VM steps, about ten seconds; one that goes beyond it throws.
  ///
  /// The caller closes it. Cost: no statement; nothing is reported as an event.
  /// - Parameters:
  ///   - access: `looking` for a store nobody writes now, `reading` beside one who does.
  ///   - pragmas: run on the connection; a writing one turns to WAL unless `journal_mode` is among them.
  /// - Throws: when the file cannot be opened.
  package static func open(
    path: String, access: Connection.Access, pragmas: [(String, String)] = []
  ) throws(SQLiteError) -> Connection {
    let connection = try Connection(
      path: path, access: access, options: Connection.Options(pragmas: pragmas))
    do {
      connection.confine()
      connection.limitSteps(steps)
      try StoreFunctions.register(on: connection)
    } catch {
      connection.close()
      throw error
    }
    return connection
  }

  /// VM steps that a statement may take.
  private static let steps = 1_000_000_000
}
