import Foundation
import Testing

@Suite("The page of limits")
struct LimitsPageTests {
  @Test func limitsPageIsGenerated() throws {
    let text = try LimitsPage.text()
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] == "1" {
      let file = Repository.root.appending(path: LimitsPage.path)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(
      try Repository.text(of: LimitsPage.path) == text,
      "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  /// A limit without a reason can't be judged, and one that nothing uses isn't enforced.
  @Test func everyLimitHasAReasonAndIsUsed() throws {
    for type in LimitsPage.types {
      let declared = try Repository.lines(of: type.file).count { $0.contains("static let ") }
      let limits = try LimitsPage.limits(in: type.file)
      #expect(limits.count == declared && declared > 20, "\(type.name)")
      let code = Repository.sources.flatMap(\.code).filter { $0.contains(type.name) }
      let uses = try Regex("\\b\(type.name)\\.(\\w+)", as: (Substring, Substring).self)
      let used = Set(code.flatMap { $0.matches(of: uses) }.map { String($0.1) })
      for limit in limits {
        let sentences = limit.meaning.matches(of: /[.:;](?: |$)/).count
        #expect(sentences >= 2 && limit.value != "0", "\(type.name).\(limit.name)")
        #expect(used.contains(limit.name), "nothing uses \(type.name).\(limit.name)")
      }
    }
  }
}
