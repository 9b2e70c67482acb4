import Foundation

/// Compiles programs with the OpenCoreData modules that were built with these tests.
struct ExportCompiler {
  private let program: BuiltProgram
  /// The folder of the built modules and object files.
  private let build: URL

  init(_ program: BuiltProgram) throws {
    self.program = program
    build = URL(fileURLWithPath: program.path).deletingLastPathComponent()
  }

  /// The object files of OpenCoreData that the program was linked with.
  private var objects: [String] {
    get throws {
      let list = build.appendingPathComponent("cdprof.product/Objects.LinkFileList")
      let modules = ["OpenCoreData", "ManagedModel", "SQLiteDriver", "ProfileEvents"]
      return try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
        .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "'")) }
        .filter { path in modules.contains { path.contains("/\($0).build/") } }
    }
  }

  /// Compiles and links files in the test's folder.
  func compile(_ files: [String], to output: String) throws -> (status: Int32, output: String) {
    let sources = PackageFiles.sources
    let systems = ["CSQLite", "CZlib", "CStackFrames"].flatMap { ["-I", "\(sources)/\($0)"] }
    return try launch(
      "/usr/bin/env",
      [
        "swiftc", "-wmo", "-swift-version", "6", "-module-name", "Exported", "-I",
        build.appendingPathComponent("Modules").path,
      ] + systems + files + (try objects) + ["-o", output])
  }

  /// Runs a program in the test's folder, and returns its exit status and standard error.
  func run(_ name: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    try launch(program.folder.file(name).path, arguments)
  }

  private func launch(
    _ path: String, _ arguments: [String]
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = program.environment
    process.currentDirectoryURL = program.folder.url
    let file = program.folder.file("\(UUID().uuidString).txt")
    try Data().write(to: file)
    process.standardError = try FileHandle(forWritingTo: file)
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return (process.terminationStatus, try String(contentsOf: file, encoding: .utf8))
  }
}
