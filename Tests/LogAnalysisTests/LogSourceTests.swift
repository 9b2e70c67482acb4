import Foundation
import OpenCoreData
import Testing
import WorkbenchFixtures

@testable import LogAnalysis
@testable import ScenarioLanguage
@testable import WorkbenchText

@Suite("Log files")
struct LogSourceTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func file(_ bytes: [UInt8]) throws -> String {
    let file = folder.file("given.log")
    try Data(bytes).write(to: file)
    return file.path
  }

  /// A gzip file of stored blocks.
  private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var file: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      let (low, high) = (UInt8(block.count & 255), UInt8(block.count >> 8))
      file += [rest.isEmpty ? 1 : 0, low, high, ~low, ~high] + block
    } while !rest.isEmpty
    var crc: UInt32 = ~0
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    for number in [~crc, UInt32(bytes.count)] {
      file += (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
    return file
  }

  private static let log = Array(
    String(repeating: SampleLogs.fetch("SELECT 0, t0.Z_PK FROM ZMOOD t0", rows: 2), count: 900).utf8
  )

  @Test func compressedLogsAreRead() throws {
    let plain = try LogReader.read(file(Self.log))
    for compressed in [
      Self.gzip(Self.log), Self.gzip(Array(Self.log[..<700])) + Self.gzip(Array(Self.log[700...])),
    ] {
      let report = try LogReader.read(file(compressed))
      #expect(report.lines == plain.lines && report.costs == plain.costs)
    }
  }

  /// Returns a Zstandard file that the system's library compresses; `nil` if there's no library.
  private static func zstd(_ bytes: [UInt8]) -> [UInt8]? {
    typealias Compress =
      @convention(c) (
        UnsafeMutableRawPointer?, Int, UnsafeRawPointer?, Int, Int32
      ) -> Int
    guard let library = dlopen("libzstd.so.1", RTLD_NOW),
      let symbol = dlsym(library, "ZSTD_compress")
    else { return nil }
    let compress = unsafeBitCast(symbol, to: Compress.self)
    return [UInt8](unsafeUninitializedCapacity: bytes.count + 1_024) { target, count in
      count = bytes.withUnsafeBytes {
        compress(target.baseAddress, target.count, $0.baseAddress, $0.count, 3)
      }
    }
  }

  @Test(.enabled(if: zstd([]) != nil, "the system has no libzstd"))
  func zstandardLogsAreRead() throws {
    let plain = try LogReader.read(file(Self.log))
    let (first, second) = (Array(Self.log[..<700]), Array(Self.log[700...]))
    let frames = try #require(Self.zstd(first)) + #require(Self.zstd(second))
    let report = try LogReader.read(file(frames))
    #expect(report.lines == plain.lines && report.costs == plain.costs)
    let corruptFiles = [
      (Array(frames.dropLast(9)), "is a truncated zstd file"),
      (ZstandardStream.magic, "is a truncated zstd file"),
      (ZstandardStream.magic + [UInt8](repeating: 7, count: 99), "is a corrupt zstd file"),
      // The header of a frame with a window of 2 GiB.
      (
        ZstandardStream.magic + [0, 21 << 3, 1, 0, 0],
        "is a zstd file with a window of more than 128 MiB"
      ),
    ]
    for (bytes, message) in corruptFiles {
      let error = try #require(throws: InvalidInputError.self) {
        try LogReader.read(file(bytes))
      }
      #expect(error.message.contains(message) && error.nextStep.contains("zstd -dc"))
    }
    let bomb = try file(#require(Self.zstd([UInt8](repeating: 0x0A, count: 4 << 20))))
    let lines = try LogLines(path: bomb, decompressedLimit: 1 << 20)
    while lines.next() != nil {}
    #expect(lines.problem?.message.contains("is more than 1 MiB when decompressed") == true)
  }

  /// Files that aren't usable logs, and the expected error messages.
  private static let unusableFiles: [(bytes: [UInt8], message: String)] = [
    (bytes: [], message: "is empty"),
    (bytes: text("hello\nworld\n"), message: "it contains 2 lines, none from Core Data"),
    (bytes: text("x\n"), message: "it contains 1 line, none from Core Data"),
    (bytes: noise, message: "it contains binary data"),
    (bytes: utf16(isBigEndian: false), message: "is text in UTF-16"),
    (bytes: utf16(isBigEndian: true), message: "is text in UTF-16"),
    (bytes: gzip(text("no log\n")), message: "it contains 1 line, none from Core Data"),
    (bytes: gzip(noise), message: "it contains binary data"),
    (bytes: gzip([]), message: "is empty"),
    (bytes: Array(gzip(log).dropLast(20)), message: "is a truncated gzip file"),
    (bytes: GzipStream.magic, message: "is a truncated gzip file"),
    (
      bytes: GzipStream.magic + [UInt8](repeating: 7, count: 99),
      message: "is a corrupt gzip file"
    ),
  ]

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func utf16(isBigEndian: Bool) -> [UInt8] {
    "\u{FEFF}CoreData: sql: COMMIT\n".utf16.flatMap { unit -> [UInt8] in
      let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
      return isBigEndian ? [high, low] : [low, high]
    }
  }

  private static let noise: [UInt8] = {
    var generator = SeededGenerator(seed: 16, stream: "log")
    return (0..<9_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }()

  @Test(arguments: LogSourceTests.unusableFiles)
  func rejectsFilesThatAreNotLogs(bytes: [UInt8], message: String) throws {
    let path = try file(bytes)
    let error = try #require(throws: InvalidInputError.self) { try LogReader.read(path) }
    #expect(error.message.contains(message), "\(error)")
    #expect(error.kind == .unusable && !error.nextStep.isEmpty)
  }

  @Test("Log archives are rejected with the command that converts them to text")
  func rejectsLogArchives() throws {
    let archive = folder.file("system.logarchive")
    try FileManager.default.createDirectory(at: archive, withIntermediateDirectories: true)
    let trace = folder.file("1.tracev3")
    try Data([0, 16]).write(to: trace)
    for path in [archive.path, trace.path] {
      let error = try #require(throws: InvalidInputError.self) { try LogReader.read(path) }
      #expect(error.kind == .unusable && error.message.hasSuffix("a log archive, not text"))
      #expect(error.nextStep.contains("`log show --archive FILE.logarchive"))
    }
    let missing = try #require(throws: InvalidInputError.self) {
      try LogReader.read(folder.file("no.logarchive").path)
    }
    #expect(missing.kind == .missing)
  }

  /// Lines are read while the file is inflated, up to the limit.
  @Test func gzipBombsAreRejected() throws {
    let member = Self.gzip([UInt8](repeating: 0x0A, count: 1 << 16))
    let bomb = try file((0..<40).flatMap { _ in member })
    let lines = try LogLines(path: bomb, decompressedLimit: 1 << 20)
    while lines.next() != nil {}
    #expect(lines.problem?.message.contains("is more than 1 MiB when decompressed") == true)
    #expect(lines.count <= 1 << 20)
  }
}
