import Foundation
import SQLiteDriver

@testable import ManagedModel

/// Damages a copy of a store: its bytes, its pages, its model, its metadata, its rows, its tables.
struct StoreDamage {
  /// What is damaged.
  enum Kind: String, CaseIterable {
    case bytes, pages, model, metadata, rows, tables
  }

  let url: URL
  var numbers: FuzzNumbers

  /// Does the damage; what SQLite refuses is left undone.
  mutating func apply(_ kind: Kind) throws {
    var damage = ByteDamage(numbers: numbers)
    switch kind {
    case .bytes:
      // The first bytes say that it is a database, which is not to be doubted.
      let bytes = damage.changed(Array(try Data(contentsOf: url)), from: 18)
      try Data(bytes).write(to: url)
    case .pages:
      try Data(damage.changedPages(Array(try Data(contentsOf: url)))).write(to: url)
    case .model:
      try replace("Z_MODELCACHE", "Z_CONTENT") { bytes in
        let inflated = try? RawDeflate.inflate(bytes, limit: 64 << 20)
        guard let inflated, damage.numbers.below(5) > 0 else { return damage.changed(bytes) }
        return RawDeflate.deflate(damage.changed(inflated))
      }
    case .metadata: try replace("Z_METADATA", "Z_PLIST") { damage.changed($0) }
    case .rows, .tables:
      let connection = try Connection(path: url.path, access: .writing)
      defer { connection.close() }
      for _ in 0..<numbers.one(of: [1, 1, 2, 4]) {
        guard let place = try place(on: connection) else { return }
        let sql = kind == .rows ? rowStatement(place) : tableStatement(place)
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

  /// A table and one of its columns.
  private mutating func place(
    on connection: Connection
  ) throws -> (table: String, column: String)? {
    let found = try connection.values(
      "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
        + "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'")
    let places = found.compactMap { row -> (String, String)? in
      guard case .text(let table) = row[0], case .text(let column) = row[1] else { return nil }
      return (table, column)
    }
    return places.isEmpty ? nil : numbers.one(of: places)
  }

  private mutating func rowStatement(_ place: (table: String, column: String)) -> String {
    let (table, column) = ("\"\(place.table)\"", "\"\(place.column)\"")
    let some =
      "rowid IN (SELECT rowid FROM \(table) ORDER BY rowid * 7919 % 101 "
      + "LIMIT \(numbers.one(of: [1, 1, 5, 1_000])))"
    switch numbers.below(6) {
    case 0...3: return "UPDATE \(table) SET \(column) = \(value()) WHERE \(some)"
    case 4: return "DELETE FROM \(table) WHERE \(some)"
    default: return "INSERT INTO \(table) SELECT * FROM \(table) LIMIT 2"
    }
  }

  private mutating func value() -> String {
    if numbers.below(5) == 0 { return "\(numbers.below(45) - 5)" }
    if numbers.below(5) == 0 { return "randomblob(\(numbers.below(60)))" }
    return numbers.one(of: [
      "NULL", "0", "-1", "9223372036854775807", "-9223372036854775808", "2147483648", "1e308",
      "9e999", "-9e999", "1e-320", "''", "'x'", "'\(String(repeating: "9", count: 400))'",
      "'1e999'", "'nan'", "x''", "x'00'", "x'01'", "x'02'", "x'03616263'", "x'FFFE'", "4.5",
      "x'02' || CAST('\(String(repeating: "A", count: 36))' AS BLOB)",
      "x'02' || CAST('../../../etc/passwd' AS BLOB)", "x'62706C6973743030'", "'../..'",
      "CAST(x'C3' AS TEXT)", "char(0)", "16001", "2", "3",
    ])
  }

  private mutating func tableStatement(_ place: (table: String, column: String)) -> String {
    let (table, column) = ("\"\(place.table)\"", "\"\(place.column)\"")
    let names = [
      "Z_", "ZX", "Z9_9", "Z_FOK_1", "Z_ENT1", "z_pk1", "é", "Z_5", "Z99999999999999999999X",
      "Z_99999999999999999999X", "Z\(String(repeating: "A", count: 300))",
    ]
    let number = numbers.below(9)
    switch numbers.below(10) {
    case 0: return "DROP TABLE \(table)"
    case 1: return "ALTER TABLE \(table) DROP COLUMN \(column)"
    case 2: return "ALTER TABLE \(table) RENAME COLUMN \(column) TO \"\(numbers.one(of: names))\""
    case 3: return "ALTER TABLE \(table) RENAME TO \"\(numbers.one(of: names))\""
    case 4:
      let added = numbers.one(of: ["Z", "Z_", "Z3", "Z3_", "Z_FOK_", "Z1_X", "ZNAME1"])
      let type = numbers.one(of: ["", "INTEGER", "BLOB", "TIMESTAMP", "JUNK(3)"])
      return "ALTER TABLE \(table) ADD COLUMN \"\(added)\" \(type)"
    case 5: return "CREATE VIEW ZV\(number) AS SELECT * FROM \(table)"
    case 6:
      let kind = numbers.one(of: ["VIEW", "TABLE"])
      return "CREATE TABLE kept AS SELECT * FROM \(table); DROP TABLE \(table); "
        + "CREATE \(kind) \(table) AS SELECT * FROM kept"
    case 7: return "DELETE FROM Z_MODELCACHE"
    case 8:
      return "CREATE TABLE Z_\(number)ODD ( Z_\(number)ODD INTEGER, Z_3B INTEGER, Z_FOK_1 BLOB )"
    default:
      let column = numbers.one(of: ["Z_NAME", "Z_SUPER", "Z_ENT", "Z_MAX"])
      return "UPDATE Z_PRIMARYKEY SET \(column) = \(value()) WHERE Z_ENT = \(1 + number % 5)"
    }
  }
}
