import OpenCoreData
import PostgresDriver

/// The names of the schemas that one process makes, and the statements that make and drop them.
struct SchemaNames: Sendable {
  /// `cdprof_` and a random number, which no other process has.
  let prefix: String

  private static let beginning = "cdprof_"
  private static let digits = 16
  /// The comment of each schema: one without it isn't dropped, whatever its name is.
  private static let comment = "Data of a scenario that cdprof runs. It is dropped at the end."

  init() {
    let number = String(UInt64.random(in: 0 ... .max), radix: 16)
    prefix =
      Self.beginning + String(repeating: "0", count: Self.digits - number.utf8.count) + number
  }

  /// Returns the name of a schema.
  func name(_ number: Int) -> String { "\(prefix)_\(number)" }

  /// Returns whether a schema was made by this process.
  func isOwn(_ schema: String) -> Bool {
    schema.hasPrefix(prefix + "_") && schema.dropFirst(prefix.utf8.count + 1).allSatisfy(\.isNumber)
  }

  /// Returns the script that creates a schema.
  func creation(of schema: String) -> String {
    let name = QuotedIdentifier.of(schema)
    return "CREATE SCHEMA \(name); COMMENT ON SCHEMA \(name) IS '\(Self.comment)'"
  }

  /// Returns the statement that drops a schema.
  func removal(of schema: String) -> String {
    guard schema.hasPrefix(Self.beginning) else {
      fatalError("only the program's own schemas are dropped")
    }
    return "DROP SCHEMA IF EXISTS \(QuotedIdentifier.of(schema)) CASCADE"
  }

  // MARK: Removing what is left

  /// Keeps others from dropping the schemas of this process, as long as a connection is open.
  func claim(_ connection: PostgresConnection) throws {
    // Without waiting for a connection that this process has lost, but the server hasn't.
    try connection.query("SELECT pg_try_advisory_lock(hashtextextended($1, 0))", [.text(prefix)])
  }

  /// Drops the user's schemas of processes that have no connection any more.
  func dropAbandoned(_ connection: PostgresConnection) throws {
    for (owner, schemas) in Dictionary(grouping: try all(connection), by: Self.owner) {
      let claim = try connection.query(
        "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", [.text(owner)])
      guard owner != prefix, claim.boolean(0, 0) == true else { continue }
      for schema in schemas { try connection.execute(removal(of: schema)) }
      try connection.query("SELECT pg_advisory_unlock(hashtextextended($1, 0))", [.text(owner)])
    }
  }

  /// Drops all schemas of this process, after ending its other connections, which might use them.
  func dropAll(_ connection: PostgresConnection) {
    do {
      let own = try all(connection).filter(isOwn)
      guard !own.isEmpty else { return }
      try connection.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 "
          + "AND usename = current_user AND pid <> pg_backend_pid()", [.text(prefix)])
      for schema in own { try connection.execute(removal(of: schema)) }
    } catch {
      // The next process drops what is left.
    }
  }

  /// Returns all schemas with such a name and the comment that the user may drop, of any process.
  private func all(_ connection: PostgresConnection) throws -> [String] {
    let result = try connection.query(
      "SELECT nspname::text FROM pg_namespace WHERE nspname ~ $1 "
        + "AND obj_description(oid, 'pg_namespace') = $2 AND pg_has_role(nspowner, 'USAGE') ORDER BY 1",
      [
        .text("^\(Self.beginning)[0-9a-f]{\(Self.digits)}_[0-9]+$"), .text(Self.comment),
      ])
    return (0..<result.rowCount).compactMap { result.text($0, 0) }
  }

  private static func owner(of schema: String) -> String {
    String(schema.prefix(beginning.utf8.count + digits))
  }
}
