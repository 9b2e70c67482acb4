import Foundation
import SQLiteDriver

@testable import ManagedModel

/// Corrupts a copy of a store.
struct StoreCorruptor {
  /// The part of the store that is corrupted.
  enum Kind: String, CaseIterable {
    case bytes, pages, model, metadata, rows, tables
  }

  let url: URL
  var generator: FuzzGenerator

  /// Corrupts the store; statements that SQLite rejects are ignored.
  mutating func apply(_ kind: Kind) throws {
    var corruptor = ByteCorruptor(generator: generator)
    switch kind {
    case .bytes:
      // The first bytes don't change, so that SQLite still opens the file.
      let bytes = corruptor.changed(Array(try Data(contentsOf: url)), from: 18)
      try Data(bytes).write(to: url)
    case .pages:
      try Data(corruptor.changedPages(Array(try Data(contentsOf: url)))).write(to: url)
    case .model:
      try replace("Z_MODELCACHE", "Z_CONTENT") { bytes in
        let inflated = try? RawDeflate.inflate(bytes, limit: 64 << 20)
        guard let inflated, corruptor.generator.below(5) > 0 else {
          return corruptor.changed(bytes)
        }
        return RawDeflate.deflate(corruptor.changed(inflated))
      }
    case .metadata: try replace("Z_METADATA", "Z_PLIST") { corruptor.changed($0) }
    case .rows, .tables:
      let connection = try Connection(path: url.path, access: .writing)
      defer { connection.close() }
      for _ in 0..<generator.randomElement(of: [1, 1, 2, 4]) {
        guard let target = try randomColumn(on: connection) else { return }
        let sql = kind == .rows ? rowStatement(target) : tableStatement(target)
        try? connection.execute(sql)
      }
    }
  }

  private func replace(
    _ table: String, _ column: String, _ change: ([UInt8]) -> [UInt8]
  ) throws {
    let connection = try Connection(path: url.path, access: .writing)
    defer { connection.close() }
    guard
      case .blob(let bytes)?? = try? connection.values("SELECT \(column) FROM \(table)")
        .first?.first
    else { return }
    _ = try connection.values("UPDATE \(table) SET \(column) = ?", [.blob(change(bytes))])
  }

  /// Returns a table and one of its columns.
  private mutating func randomColumn(
    on connection: Connection
  ) throws -> (table: String, column: String)? {
    let found = try connection.values(
      "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
        + "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'")
    let columns = found.compactMap { row -> (String, String)? in
      guard case .text(let table) = row[0], case .text(let column) = row[1] else { return nil }
      return (table, column)
    }
    return columns.isEmpty ? nil : generator.randomElement(of: columns)
  }

  private mutating func rowStatement(_ target: (table: String, column: String)) -> String {
    let (table, column) = ("\"\(target.table)\"", "\"\(target.column)\"")
    let some =
      "rowid IN (SELECT rowid FROM \(table) ORDER BY rowid * 7919 % 101 "
      + "LIMIT \(generator.randomElement(of: [1, 1, 5, 1_000])))"
    switch generator.below(6) {
    case 0...3: return "UPDATE \(table) SET \(column) = \(value()) WHERE \(some)"
    case 4: return "DELETE FROM \(table) WHERE \(some)"
    default: return "INSERT INTO \(table) SELECT * FROM \(table) LIMIT 2"
    }
  }

  private mutating func value() -> String {
    if generator.below(5) == 0 { return "\(generator.below(45) - 5)" }
    if generator.below(5) == 0 { return "randomblob(\(generator.below(60)))" }
    return generator.randomElement(of: [
      "NULL", "0", "-1", "9223372036854775807", "-9223372036854775808", "2147483648", "1e308",
      "9e999", "-9e999", "1e-320", "''", "'x'", "'\(String(repeating: "9", count: 400))'",
      "'1e999'", "'nan'", "x''", "x'00'", "x'01'", "x'02'", "x'03616263'", "x'FFFE'", "4.5",
      "x'02' || CAST('\(String(repeating: "A", count: 36))' AS BLOB)",
      "x'02' || CAST('../../../etc/passwd' AS BLOB)", "x'62706C6973743030'", "'../..'",
      "CAST(x'C3' AS TEXT)", "char(0)", "16001", "2", "3",
    ])
  }

  private mutating func tableStatement(_ target: (table: String, column: String)) -> String {
    let (table, column) = ("\"\(target.table)\"", "\"\(target.column)\"")
    let names = [
      "Z_", "ZX", "Z9_9", "Z_FOK_1", "Z_ENT1", "z_pk1", "é", "Z_5", "Z99999999999999999999X",
      "Z_99999999999999999999X", "Z\(String(repeating: "A", count: 300))",
    ]
    let number = generator.below(9)
    switch generator.below(10) {
    case 0: return "DROP TABLE \(table)"
    case 1: return "ALTER TABLE \(table) DROP COLUMN \(column)"
    case 2:
      return
        "ALTER TABLE \(table) RENAME COLUMN \(column) TO \"\(generator.randomElement(of: names))\""
    case 3: return "ALTER TABLE \(table) RENAME TO \"\(generator.randomElement(of: names))\""
    case 4:
      let added = generator.randomElement(of: ["Z", "Z_", "Z3", "Z3_", "Z_FOK_", "Z1_X", "ZNAME1"])
      let type = generator.randomElement(of: ["", "INTEGER", "BLOB", "TIMESTAMP", "JUNK(3)"])
      return "ALTER TABLE \(table) ADD COLUMN \"\(added)\" \(type)"
    case 5: return "CREATE VIEW ZV\(number) AS SELECT * FROM \(table)"
    case 6:
      let kind = generator.randomElement(of: ["VIEW", "TABLE"])
      return "CREATE TABLE kept AS SELECT * FROM \(table); DROP TABLE \(table); "
        + "CREATE \(kind) \(table) AS SELECT * FROM kept"
    case 7: return "DELETE FROM Z_MODELCACHE"
    case 8:
      return "CREATE TABLE Z_\(number)ODD ( Z_\(number)ODD INTEGER, Z_3B INTEGER, Z_FOK_1 BLOB )"
    default:
      let column = generator.randomElement(of: ["Z_NAME", "Z_SUPER", "Z_ENT", "Z_MAX"])
      return "UPDATE Z_PRIMARYKEY SET \(column) = \(value()) WHERE Z_ENT = \(1 + number % 5)"
    }
  }
}
