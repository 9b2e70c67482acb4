import FailingFiles
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite(
  "Failures while a store is vacuumed",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct VacuumFailureTests {
  private static let fileName = "Store.sqlite"

  /// Opens and closes the store with the options of `NSSQLiteManualVacuumOption`.
  private static func vacuum(_ folder: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreWork.model())
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: folder.appendingPathComponent(fileName),
      options: [
        NSPersistentStoreTimeoutOption: 0.1, NSPersistentHistoryTrackingKey: true,
        NSSQLiteManualVacuumOption: true, NSSQLiteAnalyzeOption: true,
      ])
    try coordinator.remove(store)
  }

  private static func freePages(_ folder: URL) throws -> Int64? {
    let connection = try Connection(
      path: folder.appendingPathComponent(fileName).path, access: .inspecting)
    defer { connection.close() }
    guard case .integer(let count)? = try connection.values("PRAGMA freelist_count").first?.first
    else { return nil }
    return count
  }

  @Test("A store whose vacuuming fails has all of its values, and the next one frees the space")
  func failedVacuumKeepsTheStore() throws {
    let fixture = try FailureFixture()
    let work = StoreWork(testDescription: "vacuum")
    try work.create(in: fixture.template)
    let writer = try Connection(
      path: fixture.template.appendingPathComponent(Self.fileName).path, access: .writing)
    try writer.execute("UPDATE ZPERSON SET ZNOTE = hex(zeroblob(20000))")
    try writer.execute("UPDATE ZPERSON SET ZNOTE = 'short'")
    writer.close()
    #expect(try Self.freePages(fixture.template) ?? 0 > 10)
    let before = try work.content(fixture.template)
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch, Self.vacuum)
    let complete = try sweep.withoutFailure().folder
    #expect(try Self.freePages(complete) == 0)
    let names = try FailureFixture.names(in: complete)
    let findings = try FailureFixture.findings(complete.appendingPathComponent(Self.fileName))
    var attempts = 0
    for cause in FailingFiles.Cause.allCases {
      attempts += try sweep.run(cause) { attempt in
        let name = attempt.description
        do {
          if let error = attempt.error {
            FailureFixture.check(error, name)
            #expect(try work.content(attempt.folder) == before, "\(name)")
            try Self.vacuum(attempt.folder)
          }
          #expect(try Self.freePages(attempt.folder) == 0, "\(name)")
          #expect(try work.content(attempt.folder) == before, "\(name)")
          #expect(try FailureFixture.names(in: attempt.folder) == names, "\(name)")
          let store = attempt.folder.appendingPathComponent(Self.fileName)
          #expect(try FailureFixture.findings(store) == findings, "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
    #expect(attempts >= 2)
  }
}
