import Foundation
import Testing

@Suite("The table of times is of the present sources")
struct MeasuredSourcesTests {
  /// The digest that `bench --write-documentation` wrote; `nil` if the table is of an earlier
  /// version of it, which wrote none.
  private static let measured = (try? Repository.text(of: "Documentation/performance.md"))
    .flatMap { $0.firstMatch(of: /hot path `([0-9a-f]{16})`/)?.1 }

  @Test(.enabled(if: MeasuredSourcesTests.measured != nil, "the table has no digest yet"))
  func tableHasTheDigestOfTheHotPath() throws {
    let measured = try #require(Self.measured)
    let present = try Self.digest()
    #expect(
      measured == present,
      """
      a file of Benchmarks/hot-path.txt has changed since the table of Documentation/performance.md was \
      measured: run `make bench BENCH="--write-documentation"`
      """)
  }

  /// Each listed file once, in order, so that the digest doesn't depend on the order of edits.
  @Test func listIsSortedAndWithoutDuplicates() throws {
    let listed = try Repository.lines(of: "Benchmarks/hot-path.txt").filter { !$0.isEmpty }
    #expect(!listed.isEmpty)
    #expect(listed == Set(listed).sorted())
  }

  private static func digest() throws -> Substring {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [Repository.root.appending(path: "Scripts/hot-path.sh").path]
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return String(decoding: output, as: UTF8.self).prefix { !$0.isWhitespace }
  }
}
