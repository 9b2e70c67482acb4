import CFloor

/// The traced statements of a save that inserts moods, and their execution by the floor.
struct SaveStatements {
  let pragmas: [String]
  private let begin, readKeys, reserve, insert, commit: String
  private let columns: cfloor_columns
  /// The entity ID of Mood in the store.
  ///
  /// Entities are numbered by name, starting at 1.
  private let entity: Int64 = 2

  init(_ trace: StatementTrace) throws {
    pragmas = trace.pragmas
    begin = try trace.statement("BEGIN EXCLUSIVE")
    readKeys = try trace.statement("SELECT Z_MAX")
    reserve = try trace.statement("UPDATE OR FAIL Z_PRIMARYKEY")
    insert = try trace.statement("INSERT INTO ZMOOD")
    commit = try trace.statement("COMMIT")
    columns = try SaveStatements.columns(of: insert)
  }

  /// Runs a transaction that reserves primary keys and one that inserts rows.
  func run(_ rows: FloorRows, on database: FloorDatabase) throws {
    try database.run(begin)
    try database.run(readKeys, [entity])
    try database.run(reserve, [Int64(rows.count), entity, 0])
    try database.run(commit)
    try database.run(begin)
    guard cfloor_insert(database.handle, insert, [columns], entity, rows.rows, rows.count) == 0
    else { throw BenchError("the floor can't insert: \(insert)") }
    try database.run(commit)
  }

  private static func columns(of sql: String) throws -> cfloor_columns {
    guard let open = sql.firstIndex(of: "("), let close = sql.firstIndex(of: ")") else {
      throw BenchError("no columns in \(sql)")
    }
    let names = sql[sql.index(after: open)..<close].split(separator: ",").map {
      $0.filter { $0 != " " && $0 != "\"" }
    }
    func place(_ name: String) throws -> Int32 {
      guard let index = names.firstIndex(of: name) else {
        throw BenchError("no column \(name) in \(sql)")
      }
      return Int32(index + 1)
    }
    return cfloor_columns(
      key: try place("Z_PK"), entity: try place("Z_ENT"), version: try place("Z_OPT"),
      rank: try place("ZRANK"), stamp: try place("ZSTAMP"), country: try place("ZCOUNTRY"),
      votes: try place("ZVOTES"), flags: try place("ZFLAGS"), kind: try place("ZKIND"),
      latitude: try place("ZLATITUDE"), longitude: try place("ZLONGITUDE"),
      name: try place("ZNAME"), note: try place("ZNOTE"))
  }
}
