import FailingFiles
import Foundation
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite(
  "Files that fail", .enabled(if: FailingFiles.isAvailable, "The sanitizers replace the functions.")
)
struct FailingFilesTests {
  private static func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("FailingFilesTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private static func writeDatabase(_ folder: URL) throws {
    let connection = try Connection(
      path: folder.appendingPathComponent("a.sqlite").path, access: .writing)
    defer { connection.close() }
    try connection.execute("CREATE TABLE a(b)")
    try connection.execute("INSERT INTO a VALUES(1)")
  }

  @Test("The operations of SQLite, Foundation, and the framework are counted by kind")
  func allCallersAreReached() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    func counts(_ body: () throws -> Void) throws -> [FailingFiles.Kind: Int] {
      let (result, report) = FailingFiles.run(below: folder) { try body() }
      try result.get()
      return report.counts.filter { $0.value > 0 }
    }
    let sqlite = try counts { try Self.writeDatabase(folder) }
    #expect(
      Set([.create, .read, .write, .sync, .lock, .close, .remove, .status, .statement])
        .isSubset(of: sqlite.keys))
    let (one, two) = (folder.appendingPathComponent("1"), folder.appendingPathComponent("2"))
    let files = FileManager.default
    let foundation = try counts {
      try Data("text".utf8).write(to: one, options: .atomic)
      try files.copyItem(at: one, to: two)
      _ = try Data(contentsOf: two)
      try files.createDirectory(
        at: folder.appendingPathComponent("3"),
        withIntermediateDirectories: false)
      _ = try files.contentsOfDirectory(atPath: folder.path)
      try files.removeItem(at: folder.appendingPathComponent("3"))
      try files.removeItem(at: two)
      try files.moveItem(at: one, to: two)
    }
    #expect(
      Set([.create, .read, .write, .close, .rename, .make, .list, .remove])
        .isSubset(of: foundation.keys))
    #expect((foundation[.write] ?? 0) >= 2, "one for the text, one for its copy")
    let own = try counts {
      #expect(link(two.path, one.path) == 0)
      #expect(rename(one.path, folder.appendingPathComponent("4").path) == 0)
      try StoreFile.sync(two)
      try ExternalStorage(storeURL: folder.appendingPathComponent("a.sqlite"))
        .write(Data([1]))
      try StoreFile.remove(at: two)
    }
    #expect(
      Set([.link, .rename, .readOpen, .sync, .close, .make, .create, .write, .remove, .status])
        .isSubset(of: own.keys))
  }

  @Test("A file whose close fails is closed, and closing it again closes no other file")
  func failedCloseClosesTheFile() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = open(folder.path + "/1", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(file >= 0)
    let (result, report) = FailingFiles.run(
      below: folder, counting: [.close], failure: .init(.inputOutput, at: 1)
    ) { close(file) }
    #expect(try result.get() == -1)
    #expect(report.failures == 1)
    let kept = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)")
    #expect(kept == "/dev/null")
    let closedBefore = FailingFiles.closedAgain
    #expect(close(file) == 0)
    #expect(FailingFiles.closedAgain == closedBefore + 1)
  }

  @Test("A list of names fails when it's opened, at its first name, or after it")
  func listsFailAsAWholeOrInPart() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["1", "2", "3"] { #expect(mkdir(folder.path + "/" + name, 0o700) == 0) }
    for number in 1...4 {
      let (result, report) = FailingFiles.run(
        below: folder, counting: [.list], failure: .init(.inputOutput, at: number)
      ) { () throws -> Int in
        let directory = try FileDescriptors.openFolder(folder.path)
        defer { close(directory) }
        return try FileDescriptors.names(in: directory).count
      }
      #expect(report.failures == (number < 4 ? 1 : 0))
      #expect((try? result.get()) == (number < 4 ? nil : 3), "\(number)")
    }
  }

  @Test("Resolving a link and checking access fail as reading attributes does")
  func linksAndAccessAreAttributes() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (path, link) = (folder.path + "/1", folder.path + "/2")
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(symlink(path, link) == 0)
    let (result, report) = FailingFiles.run(
      below: folder, counting: [.status], failure: .init(.inputOutput, at: 1, isPermanent: true)
    ) { () -> [Bool] in
      var target = [CChar](repeating: 0, count: 16)
      return [
        access(path, R_OK) == 0, realpath(link, nil) != nil,
        readlink(link, &target, 16) >= 0,
      ]
    }
    #expect(try result.get() == [false, false, false])
    #expect(report.failures == 3)
  }

  @Test("SQLite reports the injected cause", arguments: FailingFiles.Cause.allCases)
  func causesAreReported(cause: FailingFiles.Cause) throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (result, report) = FailingFiles.run(
      below: folder, failure: .init(cause, at: 1, isPermanent: true)
    ) { try Self.writeDatabase(folder) }
    #expect(report.failures > 0)
    let error = #expect(throws: SQLiteError.self) { try result.get() }
    let codes: [ResultCode] =
      switch cause {
      case .inputOutput, .statement: [.inputOutput, .cantOpen]
      case .fullDisk, .fullStatement, .shortWrite: [.full, .cantOpen]
      case .denied, .readOnly: [.cantOpen, .readOnly]
      case .memory: [.outOfMemory]
      }
    #expect(error.map { codes.contains($0.code.primary) } == true, "\(String(describing: error))")
  }

  @Test("The operation with the number fails, once or from then on; others don't")
  func onlyTheChosenOperationsFail() throws {
    let (folder, other) = (try Self.folder(), try Self.folder())
    defer {
      for folder in [folder, other] { try? FileManager.default.removeItem(at: folder) }
    }
    func failed(in place: URL, _ failure: FailingFiles.Failure) throws -> [Bool] {
      try FailingFiles.run(below: folder, failure: failure) {
        (1...4).map { mkdir(place.appendingPathComponent("\($0)").path, 0o700) != 0 }
      }.result.get()
    }
    #expect(try failed(in: other, .init(.denied, at: 1)) == [false, false, false, false])
    #expect(try failed(in: folder, .init(.denied, at: 2)) == [false, true, false, false])
    for name in ["1", "3", "4"] { rmdir(folder.appendingPathComponent(name).path) }
    #expect(
      try failed(in: folder, .init(.denied, at: 3, isPermanent: true)) == [
        false, false, true, true,
      ])
  }

  @Test("Only the operations of the thread are counted, unless all are")
  func otherThreadsAreCountedOnRequest() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    for countsAllThreads in [false, true] {
      let new = folder.path + "/\(countsAllThreads)"
      let (_, report) = FailingFiles.run(below: folder, countsAllThreads: countsAllThreads) {
        let thread = Thread { mkdir(new, 0o700) }
        thread.start()
        while !thread.isFinished { usleep(1_000) }
      }
      #expect(report.total == (countsAllThreads ? 1 : 0))
    }
  }
}
