import Testing

@testable import LogAnalysis

@Suite("Objects in the list of a fetch")
struct ListedLineTests {
  private static let parts = [
    "Mood", "[", "]", "(", ")", "\"", "\\\"", ",", "CoreData: ", "cdprof: ", "cdprof:", "C   D",
    "\u{1B}[0m", "x-coredata://A/Mood/p1", " ", "é", "f:", "{", "}",
  ]

  /// Lines of up to 12 parts, with and without the end of an object.
  private static func lines() -> [LogBytes] {
    var seed: UInt64 = 1
    func next(_ count: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((seed >> 33) % UInt64(count))
    }
    return (0..<20_000).map { _ in
      let text = (0..<next(12)).map { _ in parts[next(parts.count)] }.joined()
      let start = next(8) == 0 ? "    " : "    \"<"
      return LogBytes(start + text + ["\"", "\",", "", ","][next(4)])
    }
  }

  @Test("A line is an object if it has neither brackets, colors, nor a mark")
  func objectsHaveNoBracketsColorsAndMarks() {
    for line in Self.lines() {
      let isObject =
        line.starts(with: "    \"<") && !line.contains("[") && !line.contains("]")
        && !line.contains("\u{1B}") && !line.contains("CoreData") && !line.contains("cdprof: ")
      #expect((LogLine.listed(line) != nil) == isObject, "\(line.string)")
    }
  }

  @Test("The brackets of a whole object are in its quotation marks")
  func wholeObjectsAreBalanced() {
    let kinds = Self.lines().map { ($0, LogLine.listed($0)) }
    for (line, kind) in kinds where kind == .whole {
      #expect(LogMessage.balance(line) == 0, "\(line.string)")
    }
    #expect(kinds.contains { $0.1 == .whole } && kinds.contains { $0.1 == .other })
    let usual = LogBytes("    \"<Mood: 0x1> (entity: Mood; id: 0x2 <x-coredata://A/Mood/p1>)\",")
    #expect(LogLine.listed(usual) == .whole)
    #expect(LogLine.listed(LogBytes(")")) == .other)
  }
}
