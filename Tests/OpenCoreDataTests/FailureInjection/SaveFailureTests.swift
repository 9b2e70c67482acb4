import FailingFiles
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite(
  "Failures of files and statements while a store is created, saved, and changed by requests",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct SaveFailureTests {
  @Test(
    "S16-1 A failed save writes nothing, and keeps the changes, which the next save writes",
    arguments: StoreWork.saves)
  func failedSaveKeepsItsChanges(work: StoreWork) throws {
    try check(work)
  }

  @Test(
    "A failed request changes nothing, and the next one succeeds", arguments: StoreWork.requests)
  func failedRequestChangesNothing(work: StoreWork) throws {
    try check(work)
  }

  private func check(_ work: StoreWork) throws {
    let fixture = try FailureFixture()
    try work.create(in: fixture.template)
    let before = try work.content(fixture.template)
    let sweep = work.sweep(in: fixture)
    let complete = try sweep.withoutFailure().folder
    let after = try work.content(complete)
    let names = try FailureFixture.names(in: complete)
    let findings = try Self.findings(work, complete)
    var attempts = 0
    for cause in FailingFiles.Cause.allCases where Self.isPossible(cause, work) {
      // A merge policy reads rows between two attempts to write.
      let readsMore = cause == .statement && work.policy != .errorMergePolicyType
      let limit = readsMore ? FailingFiles.limitOfShortOperations : FailingFiles.limit
      attempts += try sweep.run(cause, limit: limit) { attempt in
        let (name, context) = (attempt.description, attempt.prepared)
        defer { StoreWork.close(context) }
        do {
          if let error = attempt.error {
            FailureFixture.check(error, name)
            // Only a document can be there although the save failed, and the error says so.
            let expected = (error as NSError).isOfUnsyncedFile ? after : before
            #expect(try work.content(attempt.folder) == expected, "\(name)")
            try context.performAndWait { try work.run(context) }
          }
          #expect(!context.hasChanges, "\(name)")
          #expect(try work.content(attempt.folder) == after, "\(name)")
          StoreWork.close(context)
          #expect(try FailureFixture.names(in: attempt.folder) == names, "\(name)")
          #expect(try Self.findings(work, attempt.folder) == findings, "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
    #expect(attempts >= 2)
  }

  @Test(
    "A save of a document that can't be synced to disk throws, and leaves the old one if possible",
    arguments: StoreWork.saves.filter { $0.type != .sqlite })
  func unsyncedDocumentFailsTheSave(work: StoreWork) throws {
    let fixture = try FailureFixture()
    try work.create(in: fixture.template)
    let before = try work.content(fixture.template)
    let sweep = work.sweep(in: fixture)
    let after = try work.content(try sweep.withoutFailure().folder)
    var unsynced = 0
    let attempts = try sweep.run(.inputOutput, failing: [.sync], limit: .max) { attempt in
      let (name, context) = (attempt.description, attempt.prepared)
      defer { StoreWork.close(context) }
      guard attempt.report.failures > 0 else { return }
      guard let error = attempt.error as NSError? else {
        Issue.record("\(name): the save succeeds")
        return
      }
      if error.isOfUnsyncedFile { unsynced += 1 }
      let expected = error.isOfUnsyncedFile ? after : before
      #expect(try work.content(attempt.folder) == expected, "\(name)")
      try context.performAndWait { try context.save() }
      #expect(try work.content(attempt.folder) == after, "\(name)")
    }
    // The document and its name; the old document can't be restored if no file can be synced.
    #expect(attempts == 6 && unsynced == 1)
  }

  /// A document doesn't use SQLite.
  private static func isPossible(_ cause: FailingFiles.Cause, _ work: StoreWork) -> Bool {
    work.type == .sqlite || cause.kinds.isDisjoint(with: [.statement, .allocation])
  }

  private static func findings(_ work: StoreWork, _ folder: URL) throws -> [String] {
    guard work.type == .sqlite else { return [] }
    return try FailureFixture.findings(folder.appendingPathComponent(work.fileName))
  }

  @Test(
    "A store whose creation fails isn't there, or is empty and complete; the next one succeeds",
    arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
  func failedCreationIsCompleted(type: NSPersistentStore.StoreType) throws {
    let work = StoreWork(testDescription: type.rawValue, type: type)
    let fixture = try FailureFixture()
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      StoreWork.close(try work.open(folder))
    }
    let names = try FailureFixture.names(in: sweep.withoutFailure().folder)
    for cause in FailingFiles.Cause.allCases where Self.isPossible(cause, work) {
      try sweep.run(cause) { attempt in
        let name = attempt.description
        do {
          if let error = attempt.error { FailureFixture.check(error, name) }
          try work.create(in: attempt.folder)
          #expect(try work.content(attempt.folder)["Person"]?.count == 3, "\(name)")
          if type != .sqlite {
            #expect(try FailureFixture.names(in: attempt.folder) == names, "\(name)")
          }
          #expect(try Self.findings(work, attempt.folder) == [], "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
  }
}
