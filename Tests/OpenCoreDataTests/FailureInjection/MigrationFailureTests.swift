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
    for cause in FailingFiles.Cause.allCases {
      let attempts = try fixture.sweep.run(cause) { attempt in
        let name = "\(scenario.testDescription), \(attempt.description)"
        if let error = attempt.error { FailureFixture.check(error, name) }
        do {
          try fixture.check(attempt.folder, isComplete: attempt.error == nil, name)
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
      #expect(attempts >= 1, "\(cause)")
    }
  }
}
