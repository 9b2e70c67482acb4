import FailingFiles
import OpenCoreData
import SQLiteDriver
import StoreTools
import Testing

@testable import OpenCoreData

/// The folders of a test with failures: one that's copied for each attempt, and the copies.
final class FailureFixture {
  /// The folder that attempts begin with.
  let template: URL
  let scratch: URL

  init() throws {
    scratch = try ProcessFolder.makeFolder()
    template = scratch.appendingPathComponent("template")
    try FileManager.default.createDirectory(at: template, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: scratch)
  }

  /// The paths of all files in a folder, in which names made of a UUID are the same.
  static func names(in folder: URL) throws -> [String] {
    let unique = /[0-9A-Fa-f]{8}-?([0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}/
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .map { $0.replacing(unique, with: "UUID") }.sorted()
  }

  /// What `doctor` finds in a store, and SQLite's check.
  static func findings(_ store: URL) throws -> [String] {
    try StoreDoctor.examine(store).findings.map { "\($0.rule): \($0)" }
  }

  /// Checks that an error has a code, and a message that names a file.
  static func check(_ error: any Error, _ attempt: String) {
    let error = error as NSError
    #expect(error.domain == NSCocoaErrorDomain, "\(attempt): \(error)")
    #expect(error.code > 0, "\(attempt): \(error)")
    let message = error.localizedDescription
    // A save describes the error, and its userInfo has the file.
    let names = message.contains(FileManager.default.temporaryDirectory.path)
    #expect(names || error.code == NSSQLiteError && !message.isEmpty, "\(attempt): \(message)")
  }
}

/// A migration that's run in copies of a folder with its store.
final class MigrationFailureFixture {
  let scenario: MigrationScenario
  let sweep: FailureSweep<URL>
  private let fixture: FailureFixture
  private let versions: [NSManagedObjectModel]
  /// The content of the first and the last version.
  private let contents: (first: [String: [String]], last: [String: [String]])
  /// The files and findings after the migration.
  private let names: [String]
  private let findings: [String]

  var template: URL { fixture.template }
  var scratch: URL { fixture.scratch }

  init(_ scenario: MigrationScenario, persons: Int = 6) throws {
    let fixture = try FailureFixture()
    (self.scenario, self.fixture) = (scenario, fixture)
    versions = try scenario.versions()
    try scenario.create(MigrationScenario.store(in: fixture.template), persons)
    sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) {
      try scenario.migrate(MigrationScenario.store(in: $0))
    }
    let migrated = try sweep.withoutFailure().folder
    defer { try? FileManager.default.removeItem(at: migrated) }
    names = try FailureFixture.names(in: migrated)
    let (first, last) = (try #require(versions.first), try #require(versions.last))
    contents = (
      try Self.content(fixture.template, first), try Self.content(migrated, last)
    )
    findings = try FailureFixture.findings(MigrationScenario.store(in: migrated))
  }

  private static func content(
    _ folder: URL, _ model: NSManagedObjectModel
  ) throws -> [String: [String]] {
    try MigrationScenario.withContext(model, MigrationScenario.store(in: folder)) {
      try OpenCoreDataTests.content(of: $0)
    }
  }

  /// Checks that the store is one of the versions with its content, and that it's migrated next.
  ///
  /// - Parameters:
  ///   - folder: The store's folder after an attempt.
  ///   - isComplete: Whether the attempt ended without an error.
  func check(_ folder: URL, isComplete: Bool, _ attempt: String) throws {
    let store = MigrationScenario.store(in: folder)
    var content: [String: [String]] = [:]
    let reached = try versions.lastIndex { version in
      let error = thrownError { content = try Self.content(folder, version) }
      guard let error else { return true }
      guard error.code != NSPersistentStoreIncompatibleVersionHashError else { return false }
      throw error
    }
    let version = try #require(reached, "\(attempt): the store has none of the versions")
    #expect(!isComplete || version == versions.count - 1, "\(attempt)")
    if version == 0 {
      #expect(content == contents.first, "\(attempt)")
    } else if version == versions.count - 1, versions.count == 2 {
      #expect(content == contents.last, "\(attempt)")
    }
    let connection = try Connection(path: store.path, access: .writing)
    #expect(try connection.values("PRAGMA integrity_check") == [[.text("ok")]], "\(attempt)")
    connection.close()
    do {
      try scenario.migrate(store)
    } catch {
      Issue.record("\(attempt): the next migration fails: \(error)")
      return
    }
    let last = try #require(versions.last)
    #expect(try Self.content(folder, last) == contents.last, "\(attempt)")
    #expect(try FailureFixture.names(in: folder) == names, "\(attempt)")
    #expect(try FailureFixture.findings(store) == findings, "\(attempt)")
  }
}
