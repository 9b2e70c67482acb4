import Foundation
import Testing

@Suite("Every word of the scenario language is documented")
struct LanguageDocumentationTests {
  /// An enum in Sources, and the page that must contain each of its raw values.
  @Test(arguments: [
    ("package enum Verb: String", "Documentation/scenario-format.md"),
    ("enum OptionWord: String", "Documentation/scenario-format.md"),
    ("enum ResultKind: String", "Documentation/scenario-format.md"),
    ("enum Function: String", "Documentation/scenario-format.md"),
    ("enum MergePolicyName: String", "Documentation/scenario-format.md"),
    ("enum ContextQueue: String", "Documentation/scenario-format.md"),
    ("enum SourceMark: String", "Documentation/scenario-format.md"),
    ("enum RuleName: String", "Documentation/findings.md"),
    ("enum DoctorRuleName: String", "Documentation/models-and-stores.md"),
    ("enum Metric: String", "Documentation/metrics.md"),
    ("enum ShellCommand: String", "Documentation/shell.md"),
    ("enum ShellMode: String", "Documentation/shell.md"),
    ("enum ExitStatus: Int32", "Documentation/cli.md"),
    ("enum ReportFormat: String", "Documentation/reports.md"),
    ("enum Word: String", "Documentation/reports.md"),
  ])
  func everyWordIsDocumented(declaration: String, page: String) throws {
    let found = try #require(StringEnum(declaration), "no \(declaration) in Sources")
    #expect(!found.words.isEmpty)
    let text = try Repository.text(of: page)
    for word in found.words
    where !text.contains("`\(word)`") && !text.contains("| \(word) |")
      && !text.contains("[\(word)(")
    {
      Issue.record("\(page) doesn't contain \(word)")
    }
  }

  /// A type that lists the keys it accepts in `static let keys`.
  @Test(arguments: ["Scenario", "VariantReader"])
  func everyKeyIsInATable(type: String) throws {
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

  /// The table of the page lists all shell commands, and no others.
  @Test func documentedShellCommandsMatchTheCode() throws {
    let known = try #require(StringEnum("enum ShellCommand: String")).words
    let page = try Repository.lines(of: "Documentation/shell.md")
    let written = page.compactMap { $0.firstMatch(of: /^\| `([a-z.! ]+)` \|/).map { String($0.1) } }
    #expect(Set(written) == Set(known))
  }

  /// The keys of the JSON result are the property names of its types.
  @Test func everyKeyOfTheJSONResultIsDocumented() throws {
    let files = Repository.sources.filter { $0.path.contains("Reports/JSON/JSON") }
    let keys = files.flatMap { file in
      file.code.compactMap { $0.firstMatch(of: /^ +var (\w+): [^{]+$/).map { String($0.1) } }
    }
    // Properties that aren't encoded under their names.
    let unwritten = ["plain", "scoped", "site", "open", "message"]
    #expect(keys.count > 60)
    let page = try Repository.text(of: "Documentation/reports.md")
    for key in Set(keys).subtracting(unwritten) where !page.contains("`\(key)`") {
      Issue.record("Documentation/reports.md doesn't contain \(key)")
    }
  }

  /// The page lists all exit statuses, and no others.
  @Test func documentedExitStatusesMatchTheCode() throws {
    let known = try #require(StringEnum("enum ExitStatus: Int32")).words
    let page = try Repository.lines(of: "Documentation/cli.md")
    let written = page.compactMap { $0.firstMatch(of: /^\| (\d+) \|/).map { String($0.1) } }
    #expect(Set(written) == Set(known))
  }
}
