import ManagedModel
import SQLiteDriver
import Synchronization
import Testing

@testable import OpenCoreData

@Suite struct StoreFunctionsTests {
  private func connection(
    derivedValue: @escaping @Sendable (DerivedValueChange) -> Void = { _ in }
  ) throws -> Connection {
    let connection = try Connection(path: ":memory:", access: .writing)
    try StoreFunctions.register(on: connection, derivedValue: derivedValue)
    return connection
  }

  @Test(
    arguments: [
      // A plain BEGINSWITH, as in Core Data's log, is case-sensitive.
      ("NSCoreDataStringSearch('Maui beach', 'Maui', 8, 0)", 1),
      ("NSCoreDataStringSearch('Maui beach', 'maui', 8, 0)", 0),
      // 417: ignores case and diacritics.
      ("NSCoreDataStringSearch('plage de MAÜI', 'maui', 417, 1)", 1),
      ("NSCoreDataStringSearch('plage', 'maui', 417, 1)", 0),
      ("NSCoreDataStringSearch('plage', 'AGE', 301, 1)", 1),
      ("NSCoreDataStringSearch('agent', 'AGE', 301, 1)", 0),
      ("NSCoreDataStringSearch(NULL, 'a', 0, 0) IS NULL", 1),
      ("NSCoreDataStringCompare('É', 'e', 3) = 0", 1),
      ("NSCoreDataStringCompare('É', 'e', 1) = 0", 0),
      ("NSCoreDataLike('abc', 'a?c', 0)", 1),
      ("NSCoreDataMatches('aab', 'a+b', 0)", 1),
      ("NSCoreDataMatches('aabc', 'a+b', 0)", 0),
      ("abs(NSCoreDataNow() - (unixepoch() - 978307200)) < 5", 1),
      ("'b' < 'B' COLLATE NSCollateLocaleSensitive", 1),
      ("'b' = 'B' COLLATE NSCollateLocaleSensitiveNoCase", 1),
      ("'a10' > 'a9' COLLATE NSCollateFinderlike", 1),
      ("'Noël' < 'NÖ' COLLATE NSCollateNoCase", 1),
      ("'NÖ' > 'Noël' COLLATE NSCollateNoCase", 1),
      ("'straße' = 'STRASSE' COLLATE NSCollateNoCase", 1),
      ("NSCoreDataStringCompare('Aö', 'äpfel', 1) < 0", 1),
      ("NSCoreDataStringCompare('äpfel', 'Aö', 1) > 0", 1),
    ] as [(String, Int64)])
  func functionsAndCollationsReturnExpectedValues(expression: String, value: Int64) throws {
    #expect(try connection().values("SELECT \(expression)") == [[.integer(value)]])
  }

  @Test func invalidRegularExpressionIsAnError() throws {
    #expect(throws: SQLiteError.self) {
      try connection().values("SELECT NSCoreDataMatches('a', '(', 0)")
    }
  }

  @Test func wildcardsBeforeCombiningMarksArentPartOfAPrefix() {
    #expect(TextPrefix(like: "ab*")?.text == "ab")
    #expect(TextPrefix(like: "a*\u{301}*") == nil)
    #expect(TextPrefix(like: "a?\u{301}*") == nil)
    #expect(TextPrefix(like: "a*\u{301}") == nil)
  }

  @Test func decimalThatIsNotANumberIsBoundAsNull() throws {
    let value = try #require(PredicateValue.decimal(Decimal.nan).stored(as: .decimal))
    #expect(try connection().values("SELECT ? IS NULL", [value]) == [[.integer(1)]])
  }

  /// The trigger was created by Core Data and published in an article.
  @Test func derivedAttributeTriggersReportTheirWrites() throws {
    let box = Box()
    let connection = try connection { change in box.changes.withLock { $0.append(change) } }
    try connection.execute(
      """
      CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZUPDATE TIMESTAMP);
      CREATE TRIGGER IF NOT EXISTS Z_DA_ZITEM_Item_update_UPDATE AFTER UPDATE OF Z_OPT ON ZITEM
      FOR EACH ROW BEGIN UPDATE ZITEM SET ZUPDATE = NSCoreDataNow() WHERE Z_PK = NEW.Z_PK;
      SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZITEM', Z_ENT, Z_PK, 'update', ZUPDATE)
      FROM ZITEM WHERE Z_PK = NEW.Z_PK; END;
      INSERT INTO ZITEM VALUES (5, 2, 1, NULL);
      UPDATE ZITEM SET Z_OPT = 2 WHERE Z_PK = 5;
      """)
    let reported = box.changes.withLock { $0 }
    #expect(reported.map(\.property) == ["update"])
    #expect(reported.map(\.primaryKey) == [5])
    #expect(reported.map(\.entityNumber) == [2])
    let stored = try connection.values("SELECT ZUPDATE FROM ZITEM")
    #expect(stored == [[reported.first?.value ?? .null]])
  }

  private final class Box: Sendable {
    let changes = Mutex<[DerivedValueChange]>([])
  }
}
