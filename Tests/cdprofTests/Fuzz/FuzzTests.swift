import Foundation
import SQLiteDriver
import Testing

@testable import ManagedModel

/// The program reads the corrupt inputs, because a crash would end the test process.
///
/// `CDPROF_FUZZ_SECONDS` sets the duration and `CDPROF_FUZZ_SEED` the first seed. A failure prints
/// its seed.
@Suite("Random corruption is handled in bounded time and memory")
struct FuzzTests {
  /// The kind of input that is corrupted.
  enum Target: CaseIterable, Sendable {
    case store, compiled, document
  }

  private static let environment = ProcessInfo.processInfo.environment
  private static let seconds = environment["CDPROF_FUZZ_SECONDS"].flatMap(Double.init) ?? 0
  private static let firstSeed = environment["CDPROF_FUZZ_SEED"].flatMap(UInt64.init) ?? 1
  private static let shortRounds = [Target.store: 16, .compiled: 8, .document: 10]

  @Test(arguments: Target.allCases)
  func corruptInputDoesNotCrashTheProgram(target: Target) throws {
    let program = try BuiltProgram()
    let inputs = try FuzzInputs(in: program.folder)
    let end = Date(timeIntervalSinceNow: Self.seconds)
    var seed = Self.firstSeed
    var rounds = 0
    while rounds < Self.shortRounds[target] ?? 0 || Date() < end {
      let folder = program.folder.file("round")
      try? FileManager.default.removeItem(at: folder)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for arguments in try commands(target, seed, inputs, folder) {
        let run = try BoundedRun(program, arguments)
        #expect(
          run.problem == nil,
          "seed \(seed), \(target): cdprof \(arguments.joined(separator: " "))")
      }
      seed += 1
      rounds += 1
    }
    #expect(rounds > 0)
  }

  /// Corrupts an input in a folder, and returns the commands that read it.
  private func commands(
    _ target: Target, _ seed: UInt64, _ inputs: FuzzInputs, _ folder: URL
  ) throws -> [[String]] {
    var generator = FuzzGenerator(seed: seed)
    var corruptor = ByteCorruptor(generator: FuzzGenerator(seed: seed &* 31))
    switch target {
    case .store:
      let url = folder.appendingPathComponent("Store.sqlite")
      try FileManager.default.copyItem(at: generator.randomElement(of: inputs.stores), to: url)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
      let before = Self.entities(of: url)
      var store = StoreCorruptor(url: url, generator: FuzzGenerator(seed: seed &* 17))
      try? store.apply(generator.randomElement(of: StoreCorruptor.Kind.allCases))
      let entities = Set((before + Self.entities(of: url)).prefix(8))
      return [["inspect", url.path], ["doctor", url.path], ["model", url.path, "--check"]]
        + entities.sorted().map { ["rows", url.path, $0, "--json"] }
    case .compiled:
      let url = folder.appendingPathComponent("Model.mom")
      let store = generator.randomElement(of: inputs.stores.filter { Self.archive(of: $0) != nil })
      try Data(corruptor.changed(Self.archive(of: store) ?? [])).write(to: url)
      return Self.modelCommands(url, folder)
    case .document:
      let url = folder.appendingPathComponent("Model.xcdatamodel")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      let bytes = Array(try Data(contentsOf: generator.randomElement(of: inputs.documents)))
      let changed =
        generator.below(3) == 0 ? corruptor.changed(bytes) : corruptor.changedDocument(bytes)
      try Data(changed).write(to: url.appendingPathComponent("contents"))
      return Self.modelCommands(url, folder)
    }
  }

  private static func modelCommands(_ url: URL, _ folder: URL) -> [[String]] {
    ["--check", "--ddl", "--xml", "--json"].map { ["model", url.path, $0] }
      + [["generate", url.path, "--out", folder.appendingPathComponent("made").path]]
  }

  private static func entities(of url: URL) -> [String] {
    guard let connection = try? Connection(path: url.path, access: .inspecting) else { return [] }
    defer { connection.close() }
    let rows = try? connection.values("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
    return (rows ?? []).compactMap { row in
      guard case .text(let name)? = row.first, !name.isEmpty, !name.contains("\0"),
        !name.hasPrefix("-")
      else { return nil }
      return name
    }
  }

  private static func archive(of url: URL) -> [UInt8]? {
    guard let connection = try? Connection(path: url.path, access: .inspecting) else { return nil }
    defer { connection.close() }
    guard
      case .blob(let bytes)?? = try? connection.values("SELECT Z_CONTENT FROM Z_MODELCACHE")
        .first?.first
    else { return nil }
    return try? RawDeflate.inflate(bytes, limit: 64 << 20)
  }
}
