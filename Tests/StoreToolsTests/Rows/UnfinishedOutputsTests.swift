import Foundation
import Testing

@testable import WorkbenchText

@Suite("Files that a process leaves if it ends while it writes")
struct UnfinishedOutputsTests {
  @Test func temporaryFolderIsKnownWhileAnOutputIsMade() throws {
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    var isKnown = false
    let made = try OutputFile.making(folder.appendingPathComponent("store.sqlite")) {
      file -> String in
      let path = file.deletingLastPathComponent().path
      isKnown = UnfinishedOutputs.shared.contains(path)
      return path
    }
    #expect(isKnown && !UnfinishedOutputs.shared.contains(made))
    #expect(!FileManager.default.fileExists(atPath: made))
  }

  @Test func foldersAreRemovedWithTheirFiles() throws {
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    let unfinished = folder.appendingPathComponent(".cdprof-1", isDirectory: true)
    try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: false)
    try Data("a".utf8).write(to: unfinished.appendingPathComponent("store.sqlite"))
    let outputs = UnfinishedOutputs()
    outputs.add(unfinished.path)
    outputs.add(folder.appendingPathComponent("none").path)
    outputs.removeAll()
    #expect(!FileManager.default.fileExists(atPath: unfinished.path))
    #expect(!outputs.contains(unfinished.path))
  }
}
