import FailingFiles
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite(
  "Failures of files and statements during a migration",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct MigrationFailureTests {
  static let scenarios = MigrationScenario.all.filter {
    !["mapped in a bundle", "progressive"].contains($0.testDescription) || SharedData.isHere
  }

  @Test(
    "S-H08 An error leaves the old or the new version, which is then migrated, and no remains",
    arguments: scenarios)
  func failureLeavesAVersion(scenario: MigrationScenario) throws {
    let fixture = try MigrationFailureFixture(scenario)
    let limit = FailingFiles.limit
    for cause in FailingFiles.Cause.allCases {
      var failures = 0
      let attempts = try fixture.sweep.run(cause) { attempt in
        let name = "\(scenario.testDescription), \(attempt.description)"
        if let error = attempt.error { FailureFixture.check(error, name) }
        failures += min(attempt.report.failures, 1)
        do {
          try fixture.check(attempt.folder, isComplete: attempt.error == nil, name)
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
      #expect(attempts >= 1, "\(cause)")
      // Without a limit, the last attempt of both kinds is the one that doesn't fail.
      let most = limit == .max ? attempts - 2 : attempts
      // The number of allocations varies, so the last ones of a sample need not exist.
      let least = cause == .memory && limit > 1 && limit < .max ? attempts - 2 : most
      #expect((least...most).contains(failures), "\(cause): \(failures) of \(attempts) failed")
    }
  }

  /// If the WAL can be neither synced nor removed, it contains the transaction that failed.
  @Test("A commit that fails, but takes effect, leaves no external data of removed values")
  func failedCommitThatTakesEffectLeavesNothing() throws {
    let fixture = try MigrationFailureFixture(.inPlace)
    var effects = 0
    for number in 1...8 {
      let folder = fixture.scratch.appendingPathComponent("\(number)")
      try FileManager.default.copyItem(at: fixture.template, to: folder)
      let store = MigrationScenario.store(in: folder)
      let (result, report) = FailingFiles.run(
        below: URL(fileURLWithPath: store.path + "-wal"), counting: [.sync, .truncate, .remove],
        failure: .init(.inputOutput, at: number, isPermanent: true)
      ) { try MigrationScenario.inPlace.migrate(store) }
      let name = "\(number) (\(report.firstFailure))"
      guard case .failure = result else { continue }
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: .sqlite, at: store)
      let isMigrated = MigrationScenario.version(2).isConfiguration(
        withName: nil, compatibleWithStoreMetadata: metadata)
      effects += isMigrated ? 1 : 0
      try fixture.check(folder, isComplete: false, name)
    }
    #expect(effects > 0)
  }

  /// SQLite returns NULL for a value for which it has no memory, and an error only afterward.
  @Test("A row of a store's metadata is read completely, or is an error if memory is missing")
  func rowIsReadCompletely() throws {
    let fixture = try FailureFixture()
    let url = MigrationScenario.store(in: fixture.template)
    try MigrationScenario.create(url, persons: 1)
    func row(_ failure: FailingFiles.Failure?) throws -> (row: [SQLiteValue]?, failures: Int) {
      let connection = try Connection(path: url.path, access: .writing)
      defer { connection.close() }
      let (result, report) = FailingFiles.run(
        below: FileManager.default.temporaryDirectory, failure: failure
      ) {
        try HousekeepingTables.row(
          "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM \(HousekeepingTables.metadata)", on: connection)
      }
      return (try? result.get(), report.failures)
    }
    let whole = try row(nil).row
    #expect(whole?.count == 3)
    for number in 1... {
      let (found, failures) = try row(FailingFiles.Failure(.memory, at: number))
      #expect(found == whole || found == nil && failures > 0, "allocation \(number)")
      if failures == 0 {
        #expect(number > 10)
        break
      }
    }
  }
}
