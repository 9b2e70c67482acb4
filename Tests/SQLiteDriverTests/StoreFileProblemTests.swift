import Foundation
import SQLiteDriver
import Testing

struct StoreFileProblemTests {
  @Test func examineReportsEachKindOfProblem() throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.closed.make("good", in: folder)
    let good = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.file("good"))))
    var wrongPageSize = good
    wrongPageSize.replaceSubrange(16..<18, with: [3, 1])
    var wrongSchema = good
    wrongSchema.replaceSubrange(100..<4_096, with: [UInt8](repeating: 0xAA, count: 3_996))
    try FileManager.default.createDirectory(
      atPath: folder.file("folder"), withIntermediateDirectories: true)
    symlink("loop", folder.file("loop"))
    mkfifo(folder.file("pipe"), 0o600)
    let files: [(String, [UInt8])] = [
      ("empty", []), ("text", Array("entities:\n  - Mood\n".utf8)),
      ("encrypted", (0..<8_192).map { UInt8($0 * 7 % 251) }), ("header", Array(good[..<60])),
      ("half", Array(good[..<(good.count / 2 + 17)])), ("pages", wrongPageSize),
      ("schema", wrongSchema),
    ]
    for (name, bytes) in files { try folder.write(bytes, to: name) }
    let before = try FolderImage(folder.path)

    func problem(_ name: String) -> StoreFileProblem? {
      StoreFileProblem.examine(path: folder.file(name))
    }
    #expect(problem("good") == nil)
    #expect(problem("none") == .missing(path: folder.file("none")))
    #expect(problem("good/none") == .missing(path: folder.file("good/none")))
    #expect(StoreFileProblem.examine(path: "") == .missing(path: ""))
    #expect(problem("folder") == .directory(path: folder.file("folder")))
    #expect(problem("pipe") == .notAFile(path: folder.file("pipe")))
    #expect(problem("empty") == .empty(path: folder.file("empty")))
    #expect(problem("text") == .notADatabase(path: folder.file("text")))
    #expect(problem("encrypted") == .notADatabase(path: folder.file("encrypted")))
    #expect(
      problem("header")
        == .truncated(path: folder.file("header"), expectedBytes: 100, foundBytes: 60))
    #expect(
      problem("half")
        == .truncated(
          path: folder.file("half"), expectedBytes: Int64(good.count),
          foundBytes: Int64(good.count / 2 + 17)))
    guard case .corrupt = problem("pages") else {
      Issue.record("an impossible page size is \(String(describing: problem("pages")))")
      return
    }
    guard case .corrupt = problem("schema") else {
      Issue.record("an invalid schema page is \(String(describing: problem("schema")))")
      return
    }
    guard case .unreadable(_, let reason) = problem("loop") else {
      Issue.record("a link to itself is \(String(describing: problem("loop")))")
      return
    }
    #expect(reason.contains("symbolic links"))
    #expect(try FolderImage(folder.path) == before)
  }

  @Test(arguments: [Connection.Access.inspecting, .reading, .writing])
  func openErrorIdentifiesTheProblem(_ access: Connection.Access) throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("no database, but long enough to look like one\n".utf8), to: "text")
    let text = folder.file("text")
    let error = #expect(throws: SQLiteError.self) { try Connection(path: text, access: access) }
    #expect(error?.code == .notADatabase)
    #expect(error.flatMap { StoreFileProblem.of($0, path: text) } == .notADatabase(path: text))

    let missing = folder.file("no/such/folder/store")
    let other = #expect(throws: SQLiteError.self) { try Connection(path: missing, access: access) }
    #expect(other?.code.primary == .cantOpen)
    #expect(other.flatMap { StoreFileProblem.of($0, path: missing) } == .missing(path: missing))
  }

  @Test func pendingWALIsNotReportedAsTruncation() throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.wal.make("store", in: folder)
    // The file's header can be older than the WAL's and state more pages.
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.file("store"))))
    bytes[28...31] = [0, 0, 0xFF, 0xFF]
    try folder.write(bytes, to: "store")
    #expect(StoreFileProblem.examine(path: folder.file("store")) == nil)
  }
}
