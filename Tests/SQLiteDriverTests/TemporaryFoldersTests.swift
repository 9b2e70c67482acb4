import Foundation
import Testing

@testable import SQLiteDriver

@Suite("Temporary folders of killed processes are removed, and no others")
struct TemporaryFoldersTests {
  private let parent: TemporaryFolder

  init() throws {
    parent = try TemporaryFolder()
  }

  private var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: parent.path).sorted()) ?? []
  }

  @Test("a folder stays while its process lives, and goes with what is in it afterward")
  func onlyFoldersOfEndedProcessesAreRemoved() throws {
    let mine = try TemporaryFolders.make(outside: nil, in: [parent.path])
    #expect(mine.hasPrefix(parent.path))
    // What a killed process leaves: the same, without the lock.
    let left = parent.file("cdprof-scratch-ABCDEF")
    mkdir(left, 0o700)
    try Data().write(to: URL(fileURLWithPath: left + "/.cdprof-scratch"))
    mkdir(left + "/inner", 0o700)
    try parent.write([1], to: "kept")
    symlink(parent.file("kept"), left + "/inner/link")
    symlink(parent.path, left + "/folder")
    mkdir(parent.file("cdprof-scratch-EMPTY1"), 0o700)
    TemporaryFolders.removeLeftBehind(in: [parent.path])
    #expect(names == [URL(fileURLWithPath: mine).lastPathComponent, "kept"])
    TemporaryFolders.remove(mine)
    #expect(names == ["kept"])
  }

  @Test("what isn't a folder of ours stays: a link, a file, an open folder, one without a mark")
  func foreignFilesAndFoldersAreKept() throws {
    try parent.write([1], to: "cdprof-scratch-file11")
    mkdir(parent.file("target"), 0o700)
    try Data().write(to: URL(fileURLWithPath: parent.file("target/.cdprof-scratch")))
    symlink(parent.file("target"), parent.file("cdprof-scratch-link11"))
    for (name, mode, marked) in [("open11", 0o755, true), ("full11", 0o700, false)] {
      let path = parent.file("cdprof-scratch-\(name)")
      mkdir(path, mode_t(mode))
      chmod(path, mode_t(mode))
      try Data().write(to: URL(fileURLWithPath: path + "/file"))
      if marked { try Data().write(to: URL(fileURLWithPath: path + "/.cdprof-scratch")) }
    }
    let before = try FolderImage(parent.path)
    TemporaryFolders.removeLeftBehind(in: [parent.path])
    #expect(try FolderImage(parent.path) == before)
  }
}
