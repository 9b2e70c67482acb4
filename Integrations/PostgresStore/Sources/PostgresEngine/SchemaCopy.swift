import OpenCoreData
import PostgresDriver

/// Copies the tables of a store, with their rows, indexes, and constraints, into another schema.
struct SchemaCopy {
  private let source: String
  private let target: String

  init(from source: String, to target: String) {
    (self.source, self.target) = (source, target)
  }

  /// Copies everything, in a transaction that is open.
  func run(on connection: PostgresConnection) throws {
    let tables = try names(
      "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::text::regnamespace "
        + "ORDER BY 1", connection)
    for table in tables {
      let (from, to) = (qualified(source, table), qualified(target, table))
      try connection.execute(
        "CREATE TABLE \(to) (LIKE \(from) INCLUDING ALL); INSERT INTO \(to) SELECT * FROM \(from)")
    }
    let sequences = try names(
      "SELECT relname::text FROM pg_class WHERE relkind = 'S' AND relnamespace = $1::text::regnamespace "
        + "ORDER BY 1", connection)
    for sequence in sequences {
      let settings = try connection.query(
        "SELECT increment_by, start_value FROM pg_sequences WHERE schemaname = $1 AND sequencename = $2",
        [.text(source), .text(sequence)])
      let (step, start) = (settings.integer(0, 0) ?? 1, settings.integer(0, 1) ?? 1)
      let to = qualified(target, sequence)
      try connection.execute("CREATE SEQUENCE \(to) INCREMENT BY \(step) START WITH \(start)")
      try connection.query(
        "SELECT setval($1::text::regclass, last_value, is_called) FROM \(qualified(source, sequence))",
        [.text(to)])
    }
  }

  /// Updates the statistics of all tables of a schema.
  static func analyze(_ schema: String, on connection: PostgresConnection) throws {
    let copy = SchemaCopy(from: schema, to: schema)
    let tables = try copy.names(
      "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::text::regnamespace",
      connection)
    guard !tables.isEmpty else { return }
    try connection.execute(
      "ANALYZE " + tables.map { copy.qualified(schema, $0) }.joined(separator: ", "))
  }

  private func names(_ sql: String, _ connection: PostgresConnection) throws -> [String] {
    let result = try connection.query(sql, [.text(QuotedIdentifier.of(source))])
    return (0..<result.rowCount).compactMap { result.text($0, 0) }
  }

  private func qualified(_ schema: String, _ name: String) -> String {
    QuotedIdentifier.of(schema) + "." + QuotedIdentifier.of(name)
  }
}
