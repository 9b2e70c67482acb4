import Foundation
import Testing

@testable import SQLiteDriver

@Suite("Only temporary folders of killed processes are removed")
struct TemporaryFoldersTests {
  private let parent: TemporaryFolder

  init() throws {
    parent = try TemporaryFolder()
  }

  private var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: parent.path).sorted()) ?? []
  }

  @Test("a folder is kept while its process runs, and removed with its contents afterward")
  func onlyFoldersOfEndedProcessesAreRemoved() throws {
    let mine = try TemporaryFolders.make(outside: nil, in: [parent.path])
    #expect(mine.hasPrefix(parent.path))
    // A killed process leaves the same files without a lock.
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

  @Test("a folder of which something can't be removed keeps its marker file, and is removed later")
  func partlyRemovedFoldersAreRemovedLater() throws {
    let mine = try TemporaryFolders.make(outside: nil, in: [parent.path])
    // Deeper than any folder that's created here, so it isn't removed.
    let deep = mine + "/deep" + String(repeating: "/inner", count: 20)
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: mine + "/file"))
    TemporaryFolders.remove(mine)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: mine).sorted()
        == [".cdprof-scratch", "deep"])
    try FileManager.default.removeItem(atPath: mine + "/deep/inner/inner")
    TemporaryFolders.removeLeftBehind(in: [parent.path])
    #expect(names == [])
  }

  @Test("links, files, folders of other modes, and folders without a marker file are kept")
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
