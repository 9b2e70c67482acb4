import SQLiteDriver
import Testing

@testable import StatementAnalysis

@Suite("Sampled values for placeholders")
struct BindSamplerTests {
  @Test(
    "A placeholder gets a value of the column that it's compared with, on either side",
    arguments: [
      ("t0.ZX = ? AND t0.ZY < ?", [10, 20]), ("? <= t0.ZX AND t0.ZX <= ?", [10, 10]),
      ("? <= t0.ZX AND t0.ZX <= ? AND ? <= t0.ZY AND t0.ZY <= ?", [10, 10, 20, 20]),
      ("t0.ZX IN (?,?) AND ? = t0.ZY", [10, 10, 20]),
    ] as [(String, [Int64])])
  func placeholdersGetValuesOfTheirColumns(condition: String, values: [Int64]) throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute(
      """
      CREATE TABLE ZA(Z_PK INTEGER PRIMARY KEY, ZX INTEGER, ZY INTEGER);
      INSERT INTO ZA VALUES (1, 10, 20)
      """)
    let sql = "SELECT 0, t0.Z_PK FROM ZA t0 WHERE \(condition)"
    #expect(BindSampler(connection).binds(of: sql) == values.map { SQLiteValue.integer($0) })
  }

  @Test("A column that's set gets a value of its own type")
  func assignedColumnsGetTheirValues() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute(
      """
      CREATE TABLE ZA(Z_PK INTEGER PRIMARY KEY, Z_OPT INTEGER, ZX INTEGER, ZS VARCHAR, ZN FLOAT);
      INSERT INTO ZA VALUES (1, 2, 10, 'a', NULL)
      """)
    let sql = "UPDATE ZA SET ZS = ?, ZN = ?, Z_OPT = (Z_OPT + 1) WHERE Z_PK IN "
    #expect(
      BindSampler(connection).binds(of: sql + "(SELECT t0.Z_PK FROM ZA t0 WHERE  t0.ZX = ?)")
        == [.text("a"), .null, .integer(10)])
  }

  @Test("An array of a statement that changes rows gets keys of the column without an alias")
  func arraysGetKeysOfTheirColumn() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    try connection.execute(
      """
      CREATE TABLE ZA(Z_PK INTEGER PRIMARY KEY, ZX INTEGER);
      INSERT INTO ZA VALUES (1, 10), (2, 20), (3, NULL)
      """)
    let sql = "DELETE FROM ZA WHERE ZX IN (SELECT * FROM _Z_intarray0)"
    try BindSampler(connection).bindArrays(of: sql)
    try connection.execute(sql)
    #expect(connection.changes == 2)
  }
}
