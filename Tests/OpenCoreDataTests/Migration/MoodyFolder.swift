import OpenCoreData

/// The versions and mapping models of the book's sample, for tests that migrate many times.
///
/// The mapping models are without the two models that Xcode archives in each of them: they aren't
/// read, but are nine tenths of the document. The folder is next to the test program, because
/// operations in the folder for temporary files fail on purpose in some tests.
enum MoodyFolder {
  /// The folder; that of the shared data if there can't be one next to the program.
  static let url: URL = (try? make()) ?? SharedData.url("moody")

  private static func make() throws -> URL {
    let files = FileManager.default
    let program = try files.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let parent = URL(fileURLWithPath: program).deletingLastPathComponent()
    guard !parent.path.hasPrefix(files.temporaryDirectory.resolvingSymlinksInPath().path) else {
      throw CocoaError(.fileWriteNoPermission)
    }
    let folder = parent.appendingPathComponent("MoodyFolder")
    let contents = try contents()
    func isComplete() -> Bool {
      contents.allSatisfy { path, data in
        (try? Data(contentsOf: folder.appendingPathComponent(path))) == data
      }
    }
    if isComplete() { return folder }
    // Another process can make the folder at the same time.
    let new = parent.appendingPathComponent("MoodyFolder-\(UUID().uuidString)")
    defer { try? files.removeItem(at: new) }
    for (path, data) in contents {
      let url = new.appendingPathComponent(path)
      try files.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: url)
    }
    if rename(new.path, folder.path) != 0, !isComplete() {
      try files.removeItem(at: folder)
      try files.moveItem(at: new, to: folder)
    }
    return folder
  }

  /// The files of the shared folder by path.
  private static func contents() throws -> [String: Data] {
    let source = SharedData.url("moody")
    let names: Set = ["contents", ".xccurrentversion", "xcmapping.xml"]
    var contents: [String: Data] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: source.path) {
      let url = source.appendingPathComponent(path)
      guard names.contains(url.lastPathComponent), !path.hasPrefix("final/") else { continue }
      contents[path] = withoutModels(try Data(contentsOf: url))
    }
    return contents
  }

  /// Removes the archived models from a mapping-model document.
  private static func withoutModels(_ document: Data) -> Data {
    var document = document
    for name in ["sourcemodeldata", "destinationmodeldata"] {
      guard let start = document.range(of: Data("<attribute name=\"\(name)\"".utf8)),
        let end = document.range(
          of: Data("</attribute>".utf8), in: start.upperBound..<document.endIndex)
      else { continue }
      document.removeSubrange(start.lowerBound..<end.upperBound)
    }
    return document
  }
}
