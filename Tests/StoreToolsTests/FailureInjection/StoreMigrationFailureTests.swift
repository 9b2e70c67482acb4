import FailingFiles
import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import MigrationTools
@testable import StoreTools

@Suite(
  "Failures while the store of a rehearsal is migrated",
  .enabled(if: FailingFiles.isAvailable, "a sanitizer replaces file operations"), .serialized)
struct StoreMigrationFailureTests {
  private typealias Fixture = MigrationFixture

  private static let storeName = "Moods.sqlite"
  private static let modelName = "Mood.xcdatamodeld"
  private static let versions = ["Mood", "Mood 2", "Mood 3"]

  /// The model of a version, each of which has an attribute more than the one before.
  private static func model(_ number: Int) -> NSManagedObjectModel {
    Fixture.model { mood in
      for name in ["place", "time"].prefix(number) {
        mood.properties.append(Fixture.attribute(name))
      }
    }
  }

  /// Creates the store, and the versions of its model.
  private static func create(in folder: TemporaryFolder) throws {
    _ = try Fixture.store(folder)
    for (number, name) in versions.enumerated() {
      _ = try Fixture.write(
        ModelDocument.text(of: model(number)).text, as: "\(modelName)/\(name).xcdatamodel",
        to: folder)
    }
  }

  private static func rehearse(_ folder: URL, isProgressive: Bool) throws -> MigrationRehearsal {
    try Fixture.rehearse(
      folder.appendingPathComponent(storeName),
      to: folder.appendingPathComponent(modelName).path, version: versions[2],
      isProgressive: isProgressive)
  }

  /// The number of a store's version, and its rows.
  private static func state(
    _ store: URL
  ) throws -> (version: SQLiteValue?, rows: [[SQLiteValue]]) {
    let columns =
      "SELECT count(*) FROM pragma_table_info('ZMOOD') WHERE name IN ('ZPLACE', 'ZTIME')"
    return try (
      Fixture.values(store, columns).first?.first,
      Fixture.values(store, "SELECT Z_PK, ZNOTE, ZCODE, ZRATING FROM ZMOOD ORDER BY Z_PK")
    )
  }

  /// Opens the migrated store for writing, which removes what a failed migration left.
  private static func open(_ store: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(2))
    try coordinator.remove(coordinator.addPersistentStore(type: .sqlite, at: store))
  }

  @Test(
    "A store has an old or the new version, with its backup, and the next migration completes it",
    arguments: [false, true])
  func failureLeavesAVersionAndItsBackup(isProgressive: Bool) throws {
    let (template, scratch) = (try TemporaryFolder(), try TemporaryFolder())
    defer { withExtendedLifetime((template, scratch)) {} }
    try Self.create(in: template)
    let rows = try Self.state(template.file(Self.storeName)).rows
    #expect(rows.count == 6)
    let sweep = FailureSweep(copying: template.url, into: scratch.url) { folder in
      try Self.rehearse(folder, isProgressive: isProgressive)
    } _: { (rehearsal: MigrationRehearsal) in
      _ = try rehearsal.migrateOriginal(keepsBackup: true)
    }
    let complete = try sweep.withoutFailure().folder
    #expect(try Self.state(complete.appendingPathComponent(Self.storeName)).version == .integer(2))
    let check = { (attempt: FailureSweep<MigrationRehearsal>.Attempt) throws -> Void in
      let name = "progressive: \(isProgressive), \(attempt.description)"
      do {
        try Self.check(attempt, rows, name)
        try Self.checkNext(attempt, rows, isProgressive: isProgressive, name)
      } catch {
        Issue.record("\(name): \(error)")
      }
    }
    for cause in FailingFiles.Cause.allCases { try sweep.run(cause, check: check) }
    let limit = max(FailingFiles.limit, 4)
    let attempts = try sweep.run(.inputOutput, failing: [.sync], limit: limit, check: check)
    #expect(attempts > 2)
  }

  /// If the WAL can be neither synced nor removed, it contains the transaction that failed.
  @Test("A commit that fails, but takes effect, keeps the backup")
  func failedCommitThatTakesEffectKeepsTheBackup() throws {
    let (template, scratch) = (try TemporaryFolder(), try TemporaryFolder())
    defer { withExtendedLifetime((template, scratch)) {} }
    try Self.create(in: template)
    let rows = try Self.state(template.file(Self.storeName)).rows
    var effects = 0
    for number in 1...8 {
      let folder = scratch.file("\(number)")
      try FileManager.default.copyItem(at: template.url, to: folder)
      let rehearsal = try Self.rehearse(folder, isProgressive: false)
      let store = folder.appendingPathComponent(Self.storeName)
      let (result, report) = FailingFiles.run(
        below: URL(fileURLWithPath: store.path + "-wal"), counting: [.sync, .truncate, .remove],
        failure: .init(.inputOutput, at: number, isPermanent: true)
      ) { try rehearsal.migrateOriginal(keepsBackup: true) }
      guard case .failure(let error) = result else { continue }
      let name = "\(number) (\(report.firstFailure))"
      let backup = folder.appendingPathComponent("Moods~.sqlite")
      guard try Self.state(store).version == .integer(2) else {
        #expect(!FileManager.default.fileExists(atPath: backup.path), "\(name)")
        continue
      }
      effects += 1
      #expect(ErrorText.of(error).contains("may have taken effect"), "\(name): \(error)")
      let kept = try Self.state(backup)
      #expect(kept.version == .integer(0) && kept.rows == rows, "\(name)")
    }
    #expect(effects > 0)
  }

  /// The number may belong to another thread's file by then.
  @Test("A file whose close fails isn't closed again when a route is found")
  func fileIsClosedOnce() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    try Self.create(in: folder)
    let store = folder.file(Self.storeName)
    let found = try FoundModel(path: folder.file(Self.modelName).path, version: Self.versions[2])
    let closedBefore = FailingFiles.closedAgain
    let (result, report) = FailingFiles.run(
      below: store, counting: [.close], failure: .init(.inputOutput, at: 1, isPermanent: true)
    ) { try MigrationRoute(of: store.path, to: found) }
    #expect(report.failures > 1)
    #expect(try !result.get().isCurrent)
    #expect(FailingFiles.closedAgain == closedBefore)
  }

  /// Checks the store and its backup after an attempt.
  private static func check(
    _ attempt: FailureSweep<MigrationRehearsal>.Attempt, _ rows: [[SQLiteValue]], _ name: String
  ) throws {
    let found = try state(attempt.folder.appendingPathComponent(storeName))
    #expect(found.rows == rows, "\(name)")
    if let error = attempt.error {
      #expect(!ErrorText.of(error).isEmpty, "\(name)")
    } else {
      #expect(found.version == .integer(2), "\(name)")
    }
    let backup = attempt.folder.appendingPathComponent("Moods~.sqlite")
    guard FileManager.default.fileExists(atPath: backup.path) else {
      #expect(found.version == .integer(0), "\(name): the backup is missing")
      return
    }
    // A part of a copy is left behind only if it can't be removed.
    if found.version == .integer(0), removes(attempt) { return }
    let kept = try state(backup)
    #expect(kept.version == .integer(0) && kept.rows == rows, "\(name): the backup")
  }

  /// Whether the removal of a file has failed.
  private static func removes(_ attempt: FailureSweep<MigrationRehearsal>.Attempt) -> Bool {
    attempt.failure.isPermanent
      ? attempt.failure.cause.kinds.contains(.remove)
      : attempt.report.firstFailure.hasPrefix("remove")
  }

  /// Checks that the migration can be repeated, and that nothing else is left then.
  private static func checkNext(
    _ attempt: FailureSweep<MigrationRehearsal>.Attempt, _ rows: [[SQLiteValue]],
    isProgressive: Bool, _ name: String
  ) throws {
    let next = try rehearse(attempt.folder, isProgressive: isProgressive)
    if !next.isCurrent { _ = try next.migrateOriginal(keepsBackup: true) }
    let store = attempt.folder.appendingPathComponent(storeName)
    try open(store)
    let found = try state(store)
    #expect(found.version == .integer(2) && found.rows == rows, "\(name)")
    #expect(try StoreDoctor.examine(store).findings.isEmpty, "\(name)")
    let names = try FileManager.default.contentsOfDirectory(atPath: attempt.folder.path)
      .filter { ![storeName, modelName].contains($0) && !$0.hasPrefix("Moods~") }
    // The temporary copy of a backup is left behind only if it can't be removed.
    #expect(
      names.allSatisfy { removes(attempt) && $0.hasPrefix(".cdprof-") }, "\(name): \(names)")
  }
}
