import FailingFiles
import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite(
  "Failures while a store that a killed process left is opened",
  .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions."))
struct RecoveryFailureTests {
  private static let fileName = "Store.sqlite"

  /// Creates a store in a folder as it's left by a process that is killed in a transaction, whose
  /// first pages are on disk already.
  ///
  /// - Parameter mode: `DELETE` for a rollback journal with the former pages, `WAL` for a WAL that
  ///   also has the transaction before, which was committed.
  private static func leave(_ mode: String, in folder: URL, copyingFrom original: URL) throws {
    try FileManager.default.createDirectory(at: original, withIntermediateDirectories: true)
    try StoreWork(testDescription: mode).create(in: original)
    let writer = try Connection(
      path: original.appendingPathComponent(fileName).path, access: .writing,
      options: Connection.Options(pragmas: [("journal_mode", mode), ("cache_size", "1")]))
    defer { writer.close() }
    try writer.execute("UPDATE ZPERSON SET ZNOTE = 'committed'")
    try writer.execute("BEGIN")
    try writer.execute("UPDATE ZPERSON SET ZNOTE = hex(zeroblob(10000))")
    for name in try FileManager.default.contentsOfDirectory(atPath: original.path)
    where !name.hasSuffix("-shm") {
      try FileManager.default.copyItem(
        at: original.appendingPathComponent(name), to: folder.appendingPathComponent(name))
    }
    try writer.execute("ROLLBACK")
  }

  /// Opens the store, and returns the notes of all persons.
  private static func notes(in folder: URL, isReadOnly: Bool) throws -> [String?] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreWork.model())
    var options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.1]
    options[isReadOnly ? NSReadOnlyPersistentStoreOption : NSPersistentHistoryTrackingKey] = true
    try coordinator.addPersistentStore(
      type: .sqlite, at: folder.appendingPathComponent(fileName), options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    defer { StoreWork.close(context) }
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.returnsObjectsAsFaults = false
      return try context.fetch(request).map { $0.value(forKey: "note") as? String }
    }
  }

  @Test(
    "A store with a hot journal or a WAL is opened with its last commit, or is opened by the next",
    arguments: ["DELETE", "WAL"], [false, true])
  func failedRecoveryIsCompleted(mode: String, isReadOnly: Bool) throws {
    let fixture = try FailureFixture()
    let work = StoreWork(testDescription: mode)
    try Self.leave(
      mode, in: fixture.template, copyingFrom: fixture.scratch.appendingPathComponent("original"))
    let left = try FailureFixture.names(in: fixture.template)
    let file = fixture.template.appendingPathComponent(Self.fileName)
    let bytes = try Data(contentsOf: file)
    let inspection = try StoreFileInspection(path: file.path)
    let method: StoreFileInspection.Method =
      mode == "DELETE" ? .temporaryCopy : .writeAheadLog
    #expect(inspection.method == method)
    let committed: [String?] = ["committed", "committed", "committed"]
    var notes: [String?] = []
    let sweep = FailureSweep(copying: fixture.template, into: fixture.scratch) { folder in
      notes = try Self.notes(in: folder, isReadOnly: isReadOnly)
    }
    let complete = try sweep.withoutFailure().folder
    #expect(notes == committed)
    let after = try work.content(complete)
    let names = try FailureFixture.names(in: complete)
    let findings = try FailureFixture.findings(complete.appendingPathComponent(Self.fileName))
    var attempts = 0
    for cause in FailingFiles.Cause.allCases {
      attempts += try sweep.run(cause) { attempt in
        let name = "\(mode), read-only: \(isReadOnly), \(attempt.description)"
        let store = attempt.folder.appendingPathComponent(Self.fileName)
        do {
          if let error = attempt.error {
            FailureFixture.check(error, name)
          } else {
            #expect(notes == committed, "\(name)")
          }
          if isReadOnly {
            #expect(try Data(contentsOf: store) == bytes, "\(name)")
            #expect(try FailureFixture.names(in: attempt.folder) == left, "\(name)")
          }
          #expect(try work.content(attempt.folder) == after, "\(name)")
          #expect(try FailureFixture.names(in: attempt.folder) == names, "\(name)")
          #expect(try FailureFixture.findings(store) == findings, "\(name)")
        } catch {
          Issue.record("\(name): \(error)")
        }
      }
    }
    #expect(attempts >= 2)
  }
}
