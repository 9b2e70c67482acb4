import Foundation
import Testing
import WorkbenchFixtures

@testable import StoreTools
@testable import WorkbenchText

@Suite("The doctor finds each kind of corruption")
struct StoreDoctorTests {
  /// What is done to a sound store, and the rule that finds it.
  enum Corruption: String, CaseIterable, Sendable {
    case damagedIndex, noMetadata, unreadableMetadata, noUUID, unreadableModel, lostTable
    case wrongEntity, noEntity, keyMaximum, noKeyMaximum, historyKeyMaximum, textForANumber
    case lostDestination, wrongDestination, wrongConcreteEntity, orphanedJoin, oneSided
    case lostFile, unownedFile, lostRelationshipIndex, lostFetchIndex, lostUniqueIndex
    case redundantIndex, duplicate, wrongCount, wrongSum, wrongCopy, wrongText
    case keyBelowOne, noKeysLeft, otherParent, ownParent, listedTwice, wideNumber, noVersion,
      lostTrigger
    case noPlace, doubledPlace, noListPlace, doubledListPlace, noValue, noOwner, noPrefix,
      noFileName
    case changeOfNothing, deletedButThere, insertedButGone, lostText

    var rule: DoctorRuleName {
      switch self {
      case .damagedIndex: .integrity
      case .noMetadata, .unreadableMetadata, .noUUID: .metadata
      case .unreadableModel, .lostTable: .model
      case .wrongEntity, .noEntity: .entityNumber
      case .otherParent, .ownParent, .listedTwice: .entityList
      case .keyMaximum, .noKeyMaximum, .historyKeyMaximum, .keyBelowOne, .noKeysLeft: .keyMaximum
      case .textForANumber, .wideNumber, .noVersion: .valueType
      case .lostTrigger: .triggerMissing
      case .lostDestination, .wrongDestination, .wrongConcreteEntity: .danglingKey
      case .orphanedJoin: .orphanedJoin
      case .oneSided: .oneSidedInverse
      case .lostFile: .externalFileMissing
      case .unownedFile: .externalFileUnowned
      case .noPlace, .doubledPlace, .noListPlace, .doubledListPlace: .orderPlace
      case .noValue, .noOwner: .missingValue
      case .noPrefix, .noFileName: .externalPrefix
      case .lostRelationshipIndex, .lostFetchIndex, .lostUniqueIndex: .indexMissing
      case .redundantIndex: .indexRedundant
      case .duplicate: .duplicateValues
      case .wrongCount, .wrongSum, .wrongCopy, .wrongText: .derivedValue
      case .changeOfNothing, .deletedButThere, .insertedButGone, .lostText: .history
      }
    }

    /// Rules that may find it too, as one fault brings others along.
    var others: Set<DoctorRuleName> {
      switch self {
      // What reads the damaged index sees its columns.
      case .damagedIndex: [.indexMissing, .valueType]
      case .duplicate: [.indexMissing]
      case .noOwner: [.oneSidedInverse]
      case .oneSided: [.missingValue]
      case .lostDestination: [.oneSidedInverse, .derivedValue]
      case .unreadableModel: [.oneSidedInverse]
      case .keyBelowOne: [.history]
      default: []
      }
    }

    var sql: String {
      switch self {
      case .damagedIndex:
        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, '(ZNAME', "
          + "'(Z_OPT') WHERE name = 'Z_Party_byName'"
      case .noMetadata: "DELETE FROM Z_METADATA"
      case .unreadableMetadata: "UPDATE Z_METADATA SET Z_PLIST = x'00'"
      case .noUUID: "UPDATE Z_METADATA SET Z_UUID = NULL"
      case .unreadableModel: "UPDATE Z_MODELCACHE SET Z_CONTENT = x'010203'"
      case .lostTable: "DROP TABLE ZNOTE"
      case .wrongEntity: "UPDATE ZNOTE SET Z_ENT = 77 WHERE Z_PK = 1"
      case .noEntity: "UPDATE ZNOTE SET Z_ENT = NULL WHERE Z_PK = 1"
      case .keyMaximum: "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'"
      case .noKeyMaximum: "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'TRANSACTION'"
      case .historyKeyMaximum: "UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME = 'CHANGE'"
      case .textForANumber: "UPDATE ZPASSPORT SET ZNUMBER = 'seven' WHERE Z_PK = 1"
      case .noKeysLeft: "UPDATE Z_PRIMARYKEY SET Z_MAX = \(Int64.max) WHERE Z_NAME = 'Tag'"
      case .keyBelowOne:
        "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT 0, Z_ENT, 1 FROM ZTAG LIMIT 1"
      case .otherParent:
        "UPDATE Z_PRIMARYKEY SET Z_SUPER = 0 WHERE Z_NAME = 'Person'"
      case .ownParent: "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT WHERE Z_NAME = 'Tag'"
      case .listedTwice: "INSERT INTO Z_PRIMARYKEY VALUES (90, 'Tag', 0, 2)"
      case .wideNumber: "UPDATE ZPASSPORT SET ZNUMBER = 3000000000 WHERE Z_PK = 1"
      case .noVersion: "UPDATE ZPASSPORT SET Z_OPT = NULL WHERE Z_PK = 1"
      case .lostTrigger: "DROP TRIGGER Z_DA_ZNOTE_Person_noteCount_PARAMETER_DELETE"
      case .lostDestination: "DELETE FROM ZPASSPORT WHERE Z_PK = 2"
      case .wrongDestination:
        "UPDATE ZNOTE SET ZPERSON = (SELECT Z_PK FROM ZPARTY WHERE ZNAME = 'Élan') WHERE Z_PK = 1"
      case .wrongConcreteEntity: "UPDATE ZPARTY SET Z2_HOUSE = 2 WHERE ZCODE = 'c1'"
      case .orphanedJoin: "INSERT INTO Z_4TAGS VALUES (99, 1, 2048)"
      case .oneSided: "UPDATE ZPASSPORT SET ZOWNER = NULL WHERE Z_PK = 2"
      case .lostFile:
        "UPDATE ZPARTY SET ZPHOTO = CAST(x'02' || '0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0' AS BLOB) "
          + "WHERE ZCODE = 'c1'"
      case .unownedFile: ""
      case .lostRelationshipIndex: "DROP INDEX ZNOTE_ZPERSON_INDEX"
      case .lostFetchIndex: "DROP INDEX Z_Party_byName"
      case .lostUniqueIndex: "DROP INDEX Z_Person_UNIQUE_code"
      case .redundantIndex: "CREATE INDEX EXTRA ON ZNOTE (ZPERSON)"
      case .duplicate:
        "DROP INDEX Z_Person_UNIQUE_code; UPDATE ZPARTY SET ZCODE = 'c1' WHERE ZCODE = 'c2'"
      case .wrongCount: "UPDATE ZPARTY SET ZNOTECOUNT = 9 WHERE ZCODE = 'c1'"
      case .wrongSum: "UPDATE ZPARTY SET ZHOURSSUM = 9.5 WHERE ZCODE = 'c3'"
      case .wrongCopy: "UPDATE ZPARTY SET ZHOUSENAME = NULL WHERE ZCODE = 'c1'"
      case .wrongText: "UPDATE ZPARTY SET ZKEY = 'other' WHERE ZCODE = 'c1'"
      case .noPlace: "UPDATE Z_4TAGS SET Z_FOK_6TAGS = NULL WHERE rowid = 1"
      case .doubledPlace: "UPDATE Z_4TAGS SET Z_FOK_6TAGS = 2048"
      case .noListPlace: "UPDATE ZNOTE SET Z_FOK_PERSON = NULL WHERE Z_PK = 2"
      case .doubledListPlace: "UPDATE ZNOTE SET Z_FOK_PERSON = 2048"
      case .noValue: "UPDATE ZPARTY SET ZCODE = NULL WHERE ZCODE = 'c2'"
      case .noOwner: "UPDATE ZPASSPORT SET ZOWNER = NULL WHERE Z_PK = 1"
      case .noPrefix: "UPDATE ZPARTY SET ZPHOTO = x'89504E47' WHERE ZCODE = 'c1'"
      case .noFileName: "UPDATE ZPARTY SET ZPHOTO = x'024142' WHERE ZCODE = 'c1'"
      case .changeOfNothing: "UPDATE ACHANGE SET ZTRANSACTIONID = 5 WHERE Z_PK = 1"
      case .deletedButThere: "UPDATE ACHANGE SET ZENTITYPK = 1 WHERE Z_PK = 7"
      case .insertedButGone: "UPDATE ACHANGE SET ZENTITYPK = 98 WHERE Z_PK = 1"
      case .lostText: "DELETE FROM ATRANSACTIONSTRING"
      }
    }
  }

  @Test(arguments: Corruption.allCases)
  func eachCorruptionIsFound(corruption: Corruption) throws {
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
    }
    #expect(!report.isSound)
    let text = DoctorText.lines(report).joined(separator: "\n")
    #expect(text.contains(corruption.rule.rawValue))
    let json = try JSONSerialization.jsonObject(with: try DoctorJSON.data(report))
    let findings = (json as? [String: Any])?["findings"] as? [[String: Any]]
    #expect(findings?.compactMap { $0["rule"] as? String } == report.findings.map(\.rule.rawValue))
    #expect(try FolderState(store.folder.url) == before)
  }

  @Test(arguments: [false, true])
  func validStoreHasNoFindings(hasHistory: Bool) throws {
    let store = try OfficeStore(hasHistory: hasHistory)
    #expect(try StoreDoctor.examine(store.url).findings == [])
  }

  /// Of an index whose name is that of a model's nobody can say that it was not asked for.
  @Test func findingsWithoutAModelUseInferredNames() throws {
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
    #expect(report.isGuessed == path.hasSuffix("Recipes.sqlite"))
  }

  /// A file that is cut off is a finding; one that isn't a store is refused.
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
