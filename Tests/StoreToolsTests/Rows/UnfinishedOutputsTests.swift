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

  @Test func linksStayAndTheirTargetsAreReplaced() throws {
    let scratch = try ScratchFolders.make()
    defer { ScratchFolders.remove(scratch) }
    let folder = scratch.appendingPathComponent("outputs", isDirectory: true)
    let files = FileManager.default
    let target = folder.appendingPathComponent("other/report.md")
    let link = folder.appendingPathComponent("link.md")
    try files.createDirectory(
      at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
    try files.createSymbolicLink(atPath: link.path, withDestinationPath: "other/report.md")
    let (old, new) = ("a\n\(OutputMark.markdown)\n", "b\n\(OutputMark.markdown)\n")
    // A link without a target is replaced only by force.
    #expect(throws: InvalidInputError.self) {
      try OutputFile.write(Data(new.utf8), to: link, force: false)
    }
    try Data("mine".utf8).write(to: target)
    #expect(throws: InvalidInputError.self) {
      try OutputFile.write(Data(new.utf8), to: link, force: false)
    }
    try Data(old.utf8).write(to: target)
    try OutputFile.write(Data(new.utf8), to: link, force: false)
    #expect(try files.destinationOfSymbolicLink(atPath: link.path) == "other/report.md")
    #expect(try String(contentsOf: target, encoding: .utf8) == new)
    #expect(try files.contentsOfDirectory(atPath: folder.path).sorted() == ["link.md", "other"])
    try files.removeItem(at: target)
    try OutputFile.write(Data(new.utf8), to: link, force: true)
    #expect((try? files.destinationOfSymbolicLink(atPath: link.path)) == nil)
    #expect(try files.contentsOfDirectory(atPath: folder.path).sorted() == ["link.md", "other"])
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

  @Test func filesAreMovedToTheirPlaceBeforeOthersAreRemoved() throws {
    let folder = try ScratchFolders.make()
    defer { ScratchFolders.remove(folder) }
    let unfinished = folder.appendingPathComponent(".cdprof-1", isDirectory: true)
    let files = FileManager.default
    try files.createDirectory(at: unfinished, withIntermediateDirectories: false)
    let outputs = UnfinishedOutputs()
    outputs.add(unfinished.path)
    let removed = DispatchSemaphore(value: 0)
    let isPlaced = try outputs.whileKept {
      Thread.detachNewThread {
        outputs.removeAll()
        removed.signal()
      }
      #expect(removed.wait(timeout: .now() + 0.3) == .timedOut)
      #expect(files.fileExists(atPath: unfinished.path))
    }
    #expect(removed.wait(timeout: .now() + 60) == .success)
    #expect(isPlaced && !files.fileExists(atPath: unfinished.path))
    var isMoved = false
    let isPlacedLater = try outputs.whileKept { isMoved = true }
    #expect(!isPlacedLater && !isMoved)
  }
}
