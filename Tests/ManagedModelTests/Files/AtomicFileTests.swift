import Testing

@testable import ManagedModel

struct AtomicFileTests {
  private static func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("AtomicFileTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test(arguments: [nil, 0o640] as [UInt32?])
  func filesAreReplaced(permissions: UInt32?) throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (file, temporary) = (folder.path + "/a", folder.path + "/b")
    for count in [100_000, 3] {
      let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
      let problem = AtomicFile.write(
        data, to: file, through: temporary, permissions: permissions, syncs: count == 3)
      #expect(problem == nil)
      #expect(FileManager.default.contents(atPath: file) == data)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
    var status = stat()
    try #require(stat(file, &status) == 0)
    if let permissions { #expect(status.st_mode & 0o777 == permissions) }
  }

  @Test func privateFilesArePrivateWhileTheyAreWritten() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (file, temporary, end) = (folder.path + "/a", folder.path + "/b", folder.path + "/end")
    Thread.detachNewThread {
      _ = AtomicFile.write(
        Data(count: 50_000_000), to: file, through: temporary, permissions: 0o600, syncs: false)
      mkdir(end, 0o700)
    }
    var modes: Set<mode_t> = []
    var status = stat()
    while stat(end, &status) != 0 {
      if stat(temporary, &status) == 0 { modes.insert(status.st_mode & 0o777) }
    }
    #expect(modes.isSubset(of: [0o600]))
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func failedReplacementsLeaveNothing() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (occupied, temporary) = (folder.path + "/a", folder.path + "/b")
    try FileManager.default.createDirectory(atPath: occupied, withIntermediateDirectories: false)
    let problem = AtomicFile.write(Data([1]), to: occupied, through: temporary, syncs: false)
    #expect(problem == EISDIR)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
    // A file at the temporary path is another one.
    try Data([2]).write(to: URL(fileURLWithPath: temporary))
    let other = AtomicFile.write(
      Data([1]), to: folder.path + "/c", through: temporary, syncs: false)
    #expect(other == EEXIST)
    #expect(FileManager.default.contents(atPath: temporary) == Data([2]))
  }
}
