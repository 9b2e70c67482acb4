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
}
