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
    ("enum ShellCommand: String", "Documentation/shell.md"),
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

  /// The type that lists the keys it accepts as `static let keys`.
  @Test(arguments: ["ScenarioReader", "VariantReader"])
  func everyKeyIsInATableOfItsPage(type: String) throws {
    let file = try #require(Repository.sources.first { $0.name == type }, "no \(type).swift")
    let start = try #require(file.code.firstIndex { $0.contains("static let keys = [") })
    let list = file.lines[start...].prefix(8).joined().prefix { $0 != "]" }
    let keys = list.matches(of: /"(\w+)"/).map { String($0.1) }
    #expect(keys.count > 3)
    let page = try Repository.text(of: "Documentation/scenario-format.md")
    for key in keys where !page.contains("\n| `\(key)` |") {
      Issue.record("Documentation/scenario-format.md has no row for \(key)")
    }
  }

  /// The shell's table has its commands and no other.
  @Test func noShellCommandIsInvented() throws {
    let known = try #require(StringEnum("enum ShellCommand: String")).words
    let page = try Repository.lines(of: "Documentation/shell.md")
    let written = page.compactMap { $0.firstMatch(of: /^\| `([a-z ]+)` \|/).map { String($0.1) } }
    #expect(Set(written) == Set(known))
  }

  /// Exit statuses of the page, and of the code.
  @Test func noExitStatusIsInvented() throws {
    let known = try #require(StringEnum("enum ExitStatus: Int32")).words
    let page = try Repository.lines(of: "Documentation/cli.md")
    let written = page.compactMap { $0.firstMatch(of: /^\| (\d+) \|/).map { String($0.1) } }
    #expect(Set(written) == Set(known))
  }
}
