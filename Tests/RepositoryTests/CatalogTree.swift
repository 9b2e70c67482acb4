import Foundation

/// A temporary folder with the catalog and its script.
struct CatalogTree {
  private let root: URL

  init() throws {
    root = FileManager.default.temporaryDirectory
      .appending(path: "catalog-\(UUID().uuidString)")
    for path in ["Scripts/catalog.sh", "Documentation/catalog.txt"] {
      try write(path, Repository.text(of: path))
    }
  }

  func write(_ path: String, _ text: String) throws {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  func run(_ argument: String) throws -> (status: Int32, output: String, errors: String) {
    try Self.run(root: root, argument)
  }

  func remove() {
    try? FileManager.default.removeItem(at: root)
  }

  static func run(
    root: URL, _ argument: String
  ) throws -> (status: Int32, output: String, errors: String) {
    let log = FileManager.default.temporaryDirectory
      .appending(path: "catalog-\(UUID().uuidString).err")
    try Data().write(to: log)
    defer { try? FileManager.default.removeItem(at: log) }
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [root.appending(path: "Scripts/catalog.sh").path, argument]
    process.standardOutput = pipe
    process.standardError = try FileHandle(forWritingTo: log)
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (
      process.terminationStatus, String(decoding: output, as: UTF8.self),
      try String(contentsOf: log, encoding: .utf8)
    )
  }
}
