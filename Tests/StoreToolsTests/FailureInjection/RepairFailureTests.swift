import FailingFiles
import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import StoreTools

@Suite(
  "Repairs of a file that can't be read completely",
  .enabled(if: FailingFiles.isAvailable, "a sanitizer replaces file operations"), .serialized)
struct RepairFailureTests {
  private typealias Fixture = MigrationFixture

  /// - Parameter hasWAL: Whether the last change of the rows is in a WAL.
  @Test(
    "A repair doesn't report that nothing is lost if rows or changes are missing",
    arguments: [false, true])
  func missingRowsAreReported(hasWAL: Bool) throws {
    let folder = try TemporaryFolder()
    let original = try Fixture.store(folder)
    let input = folder.file("input")
    try FileManager.default.createDirectory(at: input, withIntermediateDirectories: true)
    let store = input.appendingPathComponent("Moods.sqlite")
    let connection = try Connection(path: original.path, access: .writing)
    if hasWAL { try connection.execute("UPDATE ZMOOD SET ZNOTE = 'changed'") }
    for suffix in hasWAL ? ["", "-wal"] : [""] {
      try FileManager.default.copyItem(atPath: original.path + suffix, toPath: store.path + suffix)
    }
    connection.close()
    func rows(_ url: URL) throws -> [[SQLiteValue]] {
      try Fixture.values(url, "SELECT Z_PK, ZNOTE FROM ZMOOD ORDER BY Z_PK")
    }
    let complete = try StoreRepair.repair(store, to: folder.file("complete.sqlite"))
    #expect(complete.isComplete)
    #expect((complete.walPages > 0) == hasWAL)
    let all = try rows(folder.file("complete.sqlite"))
    var missing = 0
    for number in 1... {
      let url = folder.file("\(number).sqlite")
      // Of a WAL, nothing can be read from then on.
      let (result, report) = FailingFiles.run(
        below: hasWAL ? URL(fileURLWithPath: store.path + "-wal") : store,
        counting: [.readOpen, .read],
        failure: .init(.inputOutput, at: number, isPermanent: hasWAL)
      ) { try StoreRepair.repair(store, to: url) }
      guard report.failures > 0 else { break }
      guard case .success(let repair) = result, try rows(url) != all else { continue }
      missing += 1
      #expect(!repair.isComplete, "\(number) (\(report.firstFailure))")
      #expect(
        repair.assumptions.contains { $0.contains("can't be read") },
        "\(number): \(repair.assumptions)")
    }
    #expect(missing > 0)
  }

  @Test("Without its model, a file that can't be read isn't one without a model")
  func unreadableModelIsNamed() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let (result, report) = FailingFiles.run(
      below: store, counting: [.read], failure: .init(.inputOutput, at: 1, isPermanent: true)
    ) { try StoreRepair.repair(store, to: folder.file("repaired.sqlite")) }
    #expect(report.failures > 0)
    let error = #expect(throws: InvalidInputError.self) { try result.get() }
    #expect(error?.kind == .missing)
    #expect(error?.message.contains("can't be read: ") == true)
  }
}
