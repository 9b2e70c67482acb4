import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite(
  "Lightweight migration of stores written by Core Data",
  .enabled(if: SharedData.isHere, SharedData.absence))
struct RealStoreMigrationTests {
  private static func moody(_ version: Int) throws -> NSManagedObjectModel {
    let name = version == 1 ? "Moody" : "Moody \(version)"
    return try NSManagedObjectModel.read(
      contentsOf: SharedData.url("moody/Moody.xcdatamodeld/\(name).xcdatamodel"))
  }

  private static func moodyStore(_ version: Int) -> String {
    version == 1 ? "moody/stores/Moody.moody" : "moody/stores/Moody \(version).moody"
  }

  private static func sample(_ version: Int) throws -> NSManagedObjectModel {
    let name = version == 1 ? "SampleModel" : "SampleModel\(version)"
    return try NSManagedObjectModel.read(
      contentsOf: SharedData.url("coredataplus/SampleModel.momd"), version: name)
  }

  @Test(
    "S14-2 S14-7 S14-28 The rows, columns, and indexes are those of the store that Core Data migrated"
  )
  func sampleModelBecomesCoreDatasOwnVersion2() throws {
    let store = try MigratedStore(copying: "stores/SampleModel_V1.sqlite")
    let before = try store.values("SELECT Z_UUID FROM Z_METADATA")
    try store.migrate(to: Self.sample(2))
    let fixture = try MigratedStore(copying: "stores/SampleModel_V2.sqlite")
    #expect(try store.values("SELECT Z_UUID FROM Z_METADATA") == before)
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    #expect(try store.values(tables) == fixture.values(tables))
    for row in try fixture.values(tables) {
      guard case .text(let table)? = row.first, !["Z_METADATA", "Z_MODELCACHE"].contains(table)
      else { continue }
      #expect(try store.rows(of: table) == fixture.rows(of: table), "\(table)")
    }
    let indexes = "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name"
    #expect(try store.values(indexes) == fixture.values(indexes))
    #expect(try store.values("PRAGMA integrity_check") == [[.text("ok")]])
  }

  /// The mapping models of the book's chain keep more than inference can.
  @Test(
    "A Moody store has the content of the next version's store",
    arguments: [
      (1, 2, ""), (3, 4, ""), (2, 3, "continent moods"),
    ])
  func moodyStoreBecomesTheNextVersions(from: Int, to: Int, unlike names: String) throws {
    let store = try MigratedStore(copying: Self.moodyStore(from))
    let next = try Self.moody(to)
    let fixture = try MigratedStore(copying: Self.moodyStore(to))
    let migrated = try store.open(next)
    let expected = try fixture.open(next, options: nil)
    let ignored = Set(names.split(separator: " ").map(String.init))
    #expect(
      try content(of: migrated, leavingOut: ignored) == content(of: expected, leavingOut: ignored))
    #expect(try store.values("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test("A store opens under each later version, in one step or in several", arguments: 1...5)
  func moodyStoreReachesEveryLaterVersion(from: Int) throws {
    for target in from...6 {
      let direct = try MigratedStore(copying: Self.moodyStore(from))
      try direct.migrate(to: Self.moody(target))
      let stepwise = try MigratedStore(copying: Self.moodyStore(from))
      for version in from...target { try stepwise.migrate(to: Self.moody(version)) }
      #expect(try direct.values("PRAGMA integrity_check") == [[.text("ok")]])
      let model = try Self.moody(target)
      let moods = try content(of: direct.open(model), leavingOut: ["isoContinent"])["Mood"]
      #expect(moods?.count == 4)
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: .sqlite, at: direct.url)
      #expect(metadata[NSStoreUUIDKey] as? String == "374C5961-3E41-43E5-915C-383EA914074C")
      #expect(metadata["io.objc.Moody.CloudKitUserID"] != nil)
    }
  }

  @Test("M-13 Entities without a common ancestor can't get one")
  func hierarchiesAreNotMerged() throws {
    let store = try MigratedStore(copying: Self.moodyStore(5))
    try store.migrate(to: Self.moody(6))
    let before = try store.contents()
    let final = try NSManagedObjectModel.read(
      contentsOf: SharedData.url("moody/final/Moody.xcdatamodeld"))
    let error = try #require(thrownError { try store.migrate(to: final) })
    #expect(error.code == NSMigrationMissingMappingModelError)
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
    #expect(cause.code == NSInferredMappingModelError)
    #expect(cause.localizedDescription.contains("Continent"))
    #expect(cause.localizedDescription.contains("Country"))
    #expect(try store.contents() == before)
  }

  @Test("S14-1 S14-3 Without the options, the store isn't migrated")
  func migrationNeedsBothOptions() throws {
    let store = try MigratedStore(copying: Self.moodyStore(1))
    let before = try store.contents()
    let model = try Self.moody(2)
    let none = thrownError { _ = try store.open(model, options: nil) }
    #expect(none?.code == NSPersistentStoreIncompatibleVersionHashError)
    let noInference = thrownError {
      _ = try store.open(model, options: [NSMigratePersistentStoresAutomaticallyOption: true])
    }
    #expect(noInference?.code == NSMigrationMissingMappingModelError)
    let noMigration = thrownError {
      _ = try store.open(model, options: [NSInferMappingModelAutomaticallyOption: true])
    }
    #expect(noMigration?.code == NSPersistentStoreIncompatibleVersionHashError)
    var options = MigratedStore.automatic
    options[NSReadOnlyPersistentStoreOption] = true
    let readOnly = thrownError { _ = try store.open(model, options: options) }
    #expect(readOnly?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(try store.contents() == before)
  }
}
