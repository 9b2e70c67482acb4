import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StoreTools
@testable import WorkbenchText

@Suite("The doctor finds each kind of corruption")
struct StoreDoctorTests {
  /// A corruption of a valid store, and the rule that finds it.
  enum Corruption: String, CaseIterable, Sendable {
    case corruptIndex, noMetadata, unreadableMetadata, noUUID, unreadableModel, missingTable
    case wrongEntity, noEntity, lowKeyCounter, noKeyCounter, lowHistoryKeyCounter
    case stringForInteger, missingDestination, wrongDestination, wrongConcreteEntity, orphanedJoin
    case oneSided, missingFile, unownedFile, missingRelationshipIndex, missingFetchIndex
    case missingUniqueIndex, redundantIndex, duplicate, wrongCount, wrongSum, wrongCopy
    case wrongString, zeroPrimaryKey, exhaustedKeys, wrongParent, ownParent, duplicateEntity
    case integerOutOfRange, noVersion, missingTrigger, noJoinOrderKey, duplicateJoinOrderKey
    case noOrderKey, duplicateOrderKey, noValue, noOwner, noExternalMarker, noFileName
    case changeWithoutTransaction, deletionOfExistingRow, insertionOfMissingRow
    case missingTransactionString

    var rule: DoctorRuleName {
      switch self {
      case .corruptIndex: .integrity
      case .noMetadata, .unreadableMetadata, .noUUID: .metadata
      case .unreadableModel, .missingTable: .model
      case .wrongEntity, .noEntity: .entityID
      case .wrongParent, .ownParent, .duplicateEntity: .entityList
      case .lowKeyCounter, .noKeyCounter, .lowHistoryKeyCounter, .zeroPrimaryKey, .exhaustedKeys:
        .primaryKeyCounter
      case .stringForInteger, .integerOutOfRange, .noVersion: .valueType
      case .missingTrigger: .triggerMissing
      case .missingDestination, .wrongDestination, .wrongConcreteEntity: .danglingKey
      case .orphanedJoin: .orphanedJoin
      case .oneSided: .oneSidedInverse
      case .missingFile: .externalFileMissing
      case .unownedFile: .externalFileUnowned
      case .noJoinOrderKey, .duplicateJoinOrderKey, .noOrderKey, .duplicateOrderKey: .orderKey
      case .noValue, .noOwner: .missingValue
      case .noExternalMarker, .noFileName: .externalPrefix
      case .missingRelationshipIndex, .missingFetchIndex, .missingUniqueIndex: .indexMissing
      case .redundantIndex: .indexRedundant
      case .duplicate: .duplicateValues
      case .wrongCount, .wrongSum, .wrongCopy, .wrongString: .derivedValue
      case .changeWithoutTransaction, .deletionOfExistingRow, .insertionOfMissingRow,
        .missingTransactionString:
        .history
      }
    }

    /// Rules that may also find it, because one error can cause others.
    var others: Set<DoctorRuleName> {
      switch self {
      // Queries that use the corrupt index read wrong columns.
      case .corruptIndex: [.indexMissing, .valueType]
      case .duplicate: [.indexMissing]
      case .noOwner: [.oneSidedInverse]
      case .oneSided: [.missingValue]
      case .missingDestination: [.oneSidedInverse, .derivedValue]
      case .unreadableModel: [.oneSidedInverse]
      case .zeroPrimaryKey: [.history]
      default: []
      }
    }

    var sql: String {
      switch self {
      case .corruptIndex:
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, '(ZNAME', "
          + "'(Z_OPT') WHERE name = 'Z_Party_byName'"
      case .noMetadata: "DELETE FROM Z_METADATA"
      case .unreadableMetadata: "UPDATE Z_METADATA SET Z_PLIST = x'00'"
      case .noUUID: "UPDATE Z_METADATA SET Z_UUID = NULL"
      case .unreadableModel: "UPDATE Z_MODELCACHE SET Z_CONTENT = x'010203'"
      case .missingTable: "DROP TABLE ZNOTE"
      case .wrongEntity: "UPDATE ZNOTE SET Z_ENT = 77 WHERE Z_PK = 1"
      case .noEntity: "UPDATE ZNOTE SET Z_ENT = NULL WHERE Z_PK = 1"
      case .lowKeyCounter: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'"
      case .noKeyCounter: "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION'"
      case .lowHistoryKeyCounter: "UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME = 'CHANGE'"
      case .stringForInteger: "UPDATE ZPASSPORT SET ZNUMBER = 'seven' WHERE Z_PK = 1"
      case .exhaustedKeys: "UPDATE Z_PRIMARYKEY SET Z_MAX = \(Int64.max) WHERE Z_NAME = 'Tag'"
      case .zeroPrimaryKey:
        "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT 0, Z_ENT, 1 FROM ZTAG LIMIT 1"
      case .wrongParent:
        "UPDATE Z_PRIMARYKEY SET Z_SUPER = 0 WHERE Z_NAME = 'Person'"
      case .ownParent: "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT WHERE Z_NAME = 'Tag'"
      case .duplicateEntity: "INSERT INTO Z_PRIMARYKEY VALUES (90, 'Tag', 0, 2)"
      case .integerOutOfRange: "UPDATE ZPASSPORT SET ZNUMBER = 3000000000 WHERE Z_PK = 1"
      case .noVersion: "UPDATE ZPASSPORT SET Z_OPT = NULL WHERE Z_PK = 1"
      case .missingTrigger: "DROP TRIGGER Z_DA_ZNOTE_Person_noteCount_PARAMETER_DELETE"
      case .missingDestination: "DELETE FROM ZPASSPORT WHERE Z_PK = 2"
      case .wrongDestination:
        "UPDATE ZNOTE SET ZPERSON = (SELECT Z_PK FROM ZPARTY WHERE ZNAME = 'Élan') WHERE Z_PK = 1"
      case .wrongConcreteEntity: "UPDATE ZPARTY SET Z2_HOUSE = 2 WHERE ZCODE = 'c1'"
      case .orphanedJoin: "INSERT INTO Z_4TAGS VALUES (99, 1, 2048)"
      case .oneSided: "UPDATE ZPASSPORT SET ZOWNER = NULL WHERE Z_PK = 2"
      case .missingFile:
        "UPDATE ZPARTY SET ZPHOTO = CAST(x'02' || '0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0' AS BLOB) "
          + "WHERE ZCODE = 'c1'"
      case .unownedFile: ""
      case .missingRelationshipIndex: "DROP INDEX ZNOTE_ZPERSON_INDEX"
      case .missingFetchIndex: "DROP INDEX Z_Party_byName"
      case .missingUniqueIndex: "DROP INDEX Z_Person_UNIQUE_code"
      case .redundantIndex: "CREATE INDEX EXTRA ON ZNOTE (ZPERSON)"
      case .duplicate:
        "DROP INDEX Z_Person_UNIQUE_code; UPDATE ZPARTY SET ZCODE = 'c1' WHERE ZCODE = 'c2'"
      case .wrongCount: "UPDATE ZPARTY SET ZNOTECOUNT = 9 WHERE ZCODE = 'c1'"
      case .wrongSum: "UPDATE ZPARTY SET ZHOURSSUM = 9.5 WHERE ZCODE = 'c3'"
      case .wrongCopy: "UPDATE ZPARTY SET ZHOUSENAME = NULL WHERE ZCODE = 'c1'"
      case .wrongString: "UPDATE ZPARTY SET ZKEY = 'other' WHERE ZCODE = 'c1'"
      case .noJoinOrderKey: "UPDATE Z_4TAGS SET Z_FOK_6TAGS = NULL WHERE rowid = 1"
      case .duplicateJoinOrderKey: "UPDATE Z_4TAGS SET Z_FOK_6TAGS = 2048"
      case .noOrderKey: "UPDATE ZNOTE SET Z_FOK_PERSON = NULL WHERE Z_PK = 2"
      case .duplicateOrderKey: "UPDATE ZNOTE SET Z_FOK_PERSON = 2048"
      case .noValue: "UPDATE ZPARTY SET ZCODE = NULL WHERE ZCODE = 'c2'"
      case .noOwner: "UPDATE ZPASSPORT SET ZOWNER = NULL WHERE Z_PK = 1"
      case .noExternalMarker: "UPDATE ZPARTY SET ZPHOTO = x'89504E47' WHERE ZCODE = 'c1'"
      case .noFileName: "UPDATE ZPARTY SET ZPHOTO = x'024142' WHERE ZCODE = 'c1'"
      case .changeWithoutTransaction: "UPDATE ACHANGE SET ZTRANSACTIONID = 5 WHERE Z_PK = 1"
      case .deletionOfExistingRow: "UPDATE ACHANGE SET ZENTITYPK = 1 WHERE Z_PK = 7"
      case .insertionOfMissingRow: "UPDATE ACHANGE SET ZENTITYPK = 98 WHERE Z_PK = 1"
      case .missingTransactionString: "DELETE FROM ATRANSACTIONSTRING"
      }
    }
  }

  /// The names of entities have no article, which would depend on the name.
  @Test(arguments: [Corruption.missingDestination, .orphanedJoin])
  func messagesNameObjectsOfAnEntity(corruption: Corruption) throws {
    let store = try OfficeStore()
    try store.run(corruption.sql)
    let finding = try StoreDoctor.examine(store.url).findings.first { $0.rule == corruption.rule }
    #expect(finding?.message.contains(" refers to an object of ") == true, "\(finding as Any)")
  }

  @Test(arguments: Corruption.allCases)
  func findsEachCorruption(corruption: Corruption) throws {
    let store = try OfficeStore()
    try store.run(corruption.sql)
    if corruption == .unownedFile { try store.addFile(UUID().uuidString) }
    let before = try FolderState(store.folder.url)
    let report = try StoreDoctor.examine(store.url)
    let rules = Set(report.findings.map(\.rule))
    #expect(rules.contains(corruption.rule))
    #expect(rules.subtracting(corruption.others) == [corruption.rule])
    for finding in report.findings {
      #expect(!finding.message.isEmpty && !finding.nextStep.isEmpty && finding.count > 0)
      if finding.rule == .history {
        // The examples are keys of the table.
        let isTransaction = corruption == .missingTransactionString
        #expect(finding.table == (isTransaction ? "ATRANSACTION" : "ACHANGE"))
      }
    }
    #expect(!report.isIntact)
    let text = DoctorText.lines(report).joined(separator: "\n")
    #expect(text.contains(corruption.rule.rawValue))
    let json = try JSONSerialization.jsonObject(with: try DoctorJSON.data(report))
    let findings = (json as? [String: Any])?["findings"] as? [[String: Any]]
    #expect(findings?.compactMap { $0["rule"] as? String } == report.findings.map(\.rule.rawValue))
    #expect(try FolderState(store.folder.url) == before)
  }

  @Test func externalFileThatIsTooLargeOrCannotBeOpenedIsFound() throws {
    let store = try OfficeStore()
    let name = UUID().uuidString
    try store.addFile(name)
    try store.run(
      "UPDATE ZPARTY SET ZPHOTO = CAST(x'02' || '\(name)' AS BLOB) WHERE ZCODE = 'c1'")
    let path = ExternalStorage(storeURL: store.url).folder.appendingPathComponent(name).path
    let limit = off_t(StoreLimits.externalFileSize)
    try #require(truncate(path, limit) == 0)
    #expect(try StoreDoctor.examine(store.url).findings == [])
    try #require(truncate(path, limit + 1) == 0)
    let findings = try StoreDoctor.examine(store.url).findings
    #expect(findings.map { $0.rule } == [.externalFileUnreadable])
    #expect(findings.first?.severity == .error && findings.first?.count == 1)
    let example = findings.first?.examples.first ?? ""
    #expect(example.hasPrefix("\(name) of p") && example.contains(": it has 2147483649 bytes"))
    let target = path + "-target"
    try #require(rename(path, target) == 0 && symlink(target, path) == 0)
    let linked = try StoreDoctor.examine(store.url).findings
      .filter { $0.rule != .externalFileUnowned }
    #expect(linked.map { $0.rule } == [.externalFileUnreadable])
    #expect(linked.first?.examples.first?.hasSuffix(": it's a symbolic link") == true)
    try #require(rename(target, path) == 0)
    try #require(truncate(path, 1) == 0 && chmod(path, 0) == 0)
    // Permissions don't apply to the superuser.
    let denied = try StoreDoctor.examine(store.url).findings.flatMap { $0.examples }
    #expect(geteuid() == 0 || denied.first?.hasSuffix(": Permission denied") == true)
  }

  @Test(arguments: ["x'010203'", "99", "'text'"])
  func anythingButAModelInTheModelCacheIsFound(content: String) throws {
    let store = try OfficeStore()
    try store.run("UPDATE Z_MODELCACHE SET Z_CONTENT = \(content)")
    #expect(try StoreDoctor.examine(store.url).findings.contains { $0.rule == .model })
  }

  @Test(arguments: [false, true])
  func validStoreHasNoFindings(hasHistory: Bool) throws {
    let store = try OfficeStore(hasHistory: hasHistory)
    #expect(try StoreDoctor.examine(store.url).findings == [])
  }

  /// Without a model, an index isn't redundant if its name is one that Core Data assigns.
  @Test func withoutAModelOnlyOtherIndexNamesAreRedundant() throws {
    let store = try OfficeStore()
    try store.run(
      "DELETE FROM Z_MODELCACHE; CREATE INDEX Z_Note_byPerson ON ZNOTE (ZPERSON)")
    #expect(try StoreDoctor.examine(store.url).findings.filter { $0.rule == .indexRedundant } == [])
    try store.run("CREATE INDEX EXTRA ON ZNOTE (ZPERSON)")
    #expect(
      try StoreDoctor.examine(store.url).findings.filter { $0.rule == .indexRedundant }
        .map(\.examples) == [["EXTRA"]])
  }

  @Test(.enabled(if: SharedData.moodyStores != nil), arguments: SharedData.stores)
  func appleStoresHaveNoFindings(path: String) throws {
    let report = try StoreDoctor.examine(SharedData.url(path))
    #expect(report.findings == [])
    #expect(report.isInferred == path.hasSuffix("Recipes.sqlite"))
  }

  /// Without `Z_MAX`, nothing can be inserted, even if the table is empty.
  @Test(arguments: [
    ("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION'", ", but its largest primary key is "),
    (
      "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTIONSTRING'; DELETE FROM ATRANSACTIONSTRING; "
        + "UPDATE ATRANSACTION SET ZAUTHORTS = NULL, ZBUNDLEIDTS = NULL, ZCONTEXTNAMETS = NULL, "
        + "ZPROCESSIDTS = NULL", "ATRANSACTIONSTRING has no Z_MAX; new objects can't be inserted"
    ),
    (
      "UPDATE Z_PRIMARYKEY SET Z_MAX = NULL WHERE Z_NAME = 'Tag'; DELETE FROM ZTAG; "
        + "DELETE FROM Z_4TAGS; DELETE FROM ACHANGE",
      "Tag has no Z_MAX; new objects can't be inserted"
    ),
    (
      "UPDATE Z_PRIMARYKEY SET Z_MAX = -7 WHERE Z_NAME = 'Tag'; DELETE FROM ZTAG; "
        + "DELETE FROM Z_4TAGS; DELETE FROM ACHANGE",
      "Z_MAX of Tag is -7; new objects would get keys below 1"
    ),
  ])
  func nextStepSetsAMissingKeyCounter(_ sql: String, message: String) throws {
    let store = try OfficeStore()
    try store.run(sql)
    let counters = try StoreDoctor.examine(store.url).findings.filter {
      $0.rule == .primaryKeyCounter
    }
    let finding = try #require(counters.first)
    #expect(counters.count == 1 && finding.message.contains(message), "\(finding.message)")
    try store.run(finding.nextStep)
    let rest = try StoreDoctor.examine(store.url).findings.filter { $0.rule == .primaryKeyCounter }
    #expect(rest == [])
  }

  /// The rows with primary keys below 1 are a finding of their own.
  @Test func nextStepOfExhaustedKeysIsNeverANegativeCounter() throws {
    let store = try OfficeStore()
    try store.run(
      "UPDATE Z_PRIMARYKEY SET Z_MAX = \(Int64.max) WHERE Z_NAME = 'Tag'; "
        + "UPDATE ZTAG SET Z_PK = -Z_PK")
    let steps = try StoreDoctor.examine(store.url).findings.filter {
      $0.rule == .primaryKeyCounter
    }.map { $0.nextStep }
    #expect(steps.contains { $0.hasPrefix("UPDATE Z_PRIMARYKEY SET Z_MAX = 0 ") }, "\(steps)")
  }

  /// SQLite stops after 20 problems.
  @Test func numberOfProblemsIsAMinimumAtTheLimit() throws {
    let store = try OfficeStore(hasHistory: false)
    try store.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
        + "INSERT INTO ZPARTY (Z_PK, Z_ENT, Z_OPT, ZNAME) "
        + "SELECT 1000 + i, (SELECT Z_ENT FROM ZPARTY LIMIT 1), 1, 'n' || i FROM n")
    try store.run(Corruption.corruptIndex.sql)
    let finding = try StoreDoctor.examine(store.url).findings.first { $0.rule == .integrity }
    #expect(finding?.message == "the file is corrupt: at least 20 problems")
  }

  /// A locked file isn't corrupt, and neither is one that SQLite can't check completely.
  @Test func otherErrorsOfTheIntegrityCheckAreNotCorruption() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.sqlite").path
    let writer = try Connection(
      path: path, access: .writing,
      options: Connection.Options(pragmas: [("journal_mode", "DELETE")]))
    defer { writer.close() }
    try writer.execute("CREATE TABLE t(a)")
    try writer.execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
        + "INSERT INTO t SELECT i FROM n")
    let reader = try Connection(
      path: path, access: .reading, options: Connection.Options(busyTimeoutMilliseconds: 1))
    defer { reader.close() }
    #expect(try IntegrityCheck.findings(on: reader) == [])
    try writer.execute("BEGIN EXCLUSIVE")
    let error = #expect(throws: SQLiteError.self) { try IntegrityCheck.findings(on: reader) }
    #expect(error?.code.primary == .busy)
    try writer.execute("ROLLBACK")
    reader.limitSteps(100)
    let findings = try IntegrityCheck.findings(on: reader)
    #expect(findings.map(\.message) == ["SQLite's integrity check can't be completed"])
    #expect(findings.first?.examples.first?.contains("VM steps") == true)
    #expect(!IntegrityCheck.isCorrupt(findings))
  }

  /// One call of a function is one VM step, however long it takes.
  @Test(arguments: [
    ("ZNOTE (length(hex(ZHOURS)))", true), ("ZNOTE (instr (ZHOURS, 'a'))", true),
    ("ZNOTE (\"hex\"(ZHOURS))", true), ("ZNOTE (hex/**/(ZHOURS))", true),
    ("ZNOTE (ZHOURS) WHERE (length(hex(ZHOURS)) > 1)", true),
    ("ZNOTE (ZHOURS) WHERE (ZHOURS > 1 AND NOT (ZHOURS = 3))", false),
    ("ZNOTE (abs(ZHOURS), coalesce(ZHOURS, 1))", false), ("ZNOTE (ZHOURS)", false),
  ])
  func entriesOfIndexesWithCostlyFunctionsAreNotCalculated(
    definition: String, isCostly: Bool
  ) throws {
    let store = try OfficeStore()
    try store.run("CREATE INDEX EXTRA ON \(definition)")
    let findings = try StoreDoctor.examine(store.url).findings.filter { $0.rule == .integrity }
    #expect(findings.map(\.severity) == (isCostly ? [.note] : []), "\(findings)")
    #expect(findings.flatMap(\.examples) == (isCostly ? ["EXTRA"] : []))
    #expect(!IntegrityCheck.isCorrupt(findings))
    try store.run(Corruption.corruptIndex.sql)
    let corrupt = try StoreDoctor.examine(store.url).findings.contains { finding in
      finding.rule == .integrity && finding.severity == .error
    }
    #expect(corrupt != isCostly)
  }

  @Test func generatedColumnThatMustHaveAValueIsNotCalculated() throws {
    let store = try OfficeStore()
    try store.run("CREATE TABLE other (a, b AS (hex(zeroblob(a))) NOT NULL)")
    let findings = try StoreDoctor.examine(store.url).findings.filter { $0.rule == .integrity }
    #expect(findings.map(\.message) == ["SQLite's integrity check can't be completed"])
    #expect(findings.first?.examples.first?.hasPrefix("other.b is generated") == true)
    try store.run("DROP TABLE other; CREATE TABLE other (a, b AS (hex(zeroblob(a))))")
    let others = try StoreDoctor.examine(store.url).findings
    #expect(!others.contains { $0.rule == .integrity })
  }

  /// SQLite applies any valid WAL, and so does a repair.
  @Test func corruptStoreWithAWALMayHaveThatOfAnotherDatabase() throws {
    let store = try OfficeStore()
    let path = store.folder.file("Other.sqlite").path
    let other = try Connection(path: path, access: .writing)
    defer { other.close() }
    try other.execute(
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(a); "
        + "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        + "INSERT INTO t SELECT i FROM n; PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET a = -a")
    try FileManager.default.copyItem(atPath: path + "-wal", toPath: store.url.path + "-wal")
    let findings = try StoreDoctor.examine(store.url).findings
    #expect(IntegrityCheck.isCorrupt(findings))
    let step = findings.first { $0.rule == .integrity }?.nextStep
    #expect(
      step?.contains("if Office.sqlite-wal belongs to another database, move it away") == true)
    try FileManager.default.removeItem(atPath: store.url.path + "-wal")
    #expect(try StoreDoctor.examine(store.url).isIntact)
  }

  @Test("Cycles of parent entities are found in linear time")
  func cyclesOfParentEntitiesAreFoundInLinearTime() throws {
    let store = try OfficeStore()
    try store.run(
      "WITH RECURSIVE n(i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i < 15100) "
        + "INSERT INTO Z_PRIMARYKEY SELECT i, 'E' || i, (i + 1) % 15101, 0 FROM n")
    let begin = threadTime()
    let valid = try StoreDoctor.examine(store.url).findings.filter { $0.rule == .entityList }
    #expect(valid == [])
    try store.run("UPDATE Z_PRIMARYKEY SET Z_SUPER = 15000 WHERE Z_ENT = 15100")
    let findings = try StoreDoctor.examine(store.url).findings.filter { $0.rule == .entityList }
    #expect(threadTime() - begin < 30)
    #expect(findings.map(\.count) == [15_000])
    #expect(findings.first?.examples.first == "Z_ENT 101 E101, Z_SUPER 102")
  }

  @Test(
    "a column that a table of Core Data's own lacks is a finding",
    arguments: [
      ("Z_METADATA", "Z_PLIST", DoctorRuleName.metadata), ("Z_METADATA", "Z_UUID", .metadata),
      ("Z_PRIMARYKEY", "Z_SUPER", .entityList), ("Z_PRIMARYKEY", "Z_MAX", .entityList),
      ("Z_PRIMARYKEY", "Z_NAME", .entityList),
    ])
  func missingColumnIsAFinding(table: String, column: String, rule: DoctorRuleName) throws {
    let store = try OfficeStore()
    try store.run("ALTER TABLE \(table) RENAME COLUMN \(column) TO Z_OTHER")
    let findings = try StoreDoctor.examine(store.url).findings
    #expect(findings.map { $0.rule } == [rule], "\(findings)")
    #expect(findings.first?.message.contains("\(table) has no column \(column)") == true)
  }

  /// A truncated store is a finding; a file that isn't a store is an error.
  @Test func rejectsFilesThatAreNotStores() throws {
    let store = try OfficeStore()
    let bytes = try Data(contentsOf: store.url)
    try bytes.prefix(bytes.count / 2).write(to: store.url)
    #expect(try StoreDoctor.examine(store.url).findings.map(\.rule) == [.integrity])
    try Data("no store".utf8).write(to: store.url)
    #expect(throws: InvalidInputError.self) { try StoreDoctor.examine(store.url) }
    try FileManager.default.removeItem(at: store.url)
    #expect(throws: InvalidInputError.self) { try StoreDoctor.examine(store.url) }
  }
}
