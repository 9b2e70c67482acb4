import SQLiteDriver

/// How much persistent history a store keeps.
package struct InspectedHistory: Sendable, Equatable, Encodable {
  package var transactions: Int
  package var changes: Int
  /// Seconds since 2001-01-01 UTC of the first and the last transaction; nil without any.
  package var first: Double?
  package var last: Double?

  /// Nil for a store that tracks no history.
  ///
  /// Two statements.
  init?(reading connection: Connection, tables: some Collection<String>) throws {
    let names = Set(tables.map { $0.uppercased() })
    guard names.contains("ACHANGE"), names.contains("ATRANSACTION") else { return nil }
    changes = Self.integer(try connection.values("SELECT COUNT(*) FROM ACHANGE").first?[0])
    let row = try connection.values(
      "SELECT COUNT(*), MIN(ZTIMESTAMP), MAX(ZTIMESTAMP) FROM ATRANSACTION"
    ).first
    transactions = Self.integer(row?[0])
    first = Self.seconds(row?[1])
    last = Self.seconds(row?[2])
  }

  private static func integer(_ value: SQLiteValue?) -> Int {
    if case .integer(let number)? = value { Int(clamping: number) } else { 0 }
  }

  private static func seconds(_ value: SQLiteValue?) -> Double? {
    switch value {
    case .real(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }
}
