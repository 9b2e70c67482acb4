import Foundation
import Testing

@Suite("Every word a user can write is documented")
struct LanguageDocumentationTests {
  /// The enum in Sources, and the page whose tables or text must name each of its words.
  @Test(arguments: [
    ("enum Verb: String", "Documentation/scenario-format.md"),
    ("enum OptionWord: String", "Documentation/scenario-format.md"),
    ("enum ResultKind: String", "Documentation/scenario-format.md"),
    ("enum SourceMark: String", "Documentation/scenario-format.md"),
    ("enum Rule: String", "Documentation/scenario-format.md"),
    ("enum Metric: String", "Documentation/metrics.md"),
    ("enum ExitStatus: Int32", "Documentation/cli.md"),
  ])
  func everyWordIsOnItsPage(declaration: String, page: String) throws {
    let found = try #require(StringEnum(declaration), "no \(declaration) in Sources")
    #expect(!found.words.isEmpty)
    let text = try Repository.text(of: page)
    for word in found.words
    where !text.contains("`\(word)`") && !text.contains("| \(word) |")
      && !text.contains("[\(word)(")
    {
      Issue.record("\(page) does not name \(word)")
    }
  }

  /// Exit statuses of the page, and of the code.
  @Test func noExitStatusIsInvented() throws {
    let known = try #require(StringEnum("enum ExitStatus: Int32")).words
    let page = try Repository.lines(of: "Documentation/cli.md")
    let written = page.compactMap { $0.firstMatch(of: /^\| (\d+) \|/).map { String($0.1) } }
    #expect(Set(written) == Set(known))
  }
}
