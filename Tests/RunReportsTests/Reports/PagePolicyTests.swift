import Foundation
import OpenCoreData
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults

@Suite("Content security policy of the HTML report")
struct PagePolicyTests {
  private static func page() throws -> String {
    var larger = FaultStormScenario(moods: 2_000).result()
    larger.scale = 10
    return try HTMLReport.page(
      RunResult(joining: [FaultStormScenario(moods: 200).result(missing: true), larger]))
  }

  private static func source(of tag: String, in page: String) throws -> String {
    let match = try #require(page.firstMatch(of: try Regex("<\(tag)>(?s:(.*?))</\(tag)>")))
    let text = try #require(match[1].substring)
    return "'sha256-\(Data(SHA256.hash(Array(text.utf8))).base64EncodedString())'"
  }

  @Test func contentSecurityPolicyMatchesThePage() throws {
    let page = try Self.page()
    let script = try Self.source(of: "script", in: page)
    let style = try Self.source(of: "style", in: page)
    let policy =
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      + "script-src \(script); style-src \(style); require-trusted-types-for 'script'; "
      + "trusted-types 'none'; img-src data:; base-uri 'none'; form-action 'none'\">"
    #expect(page.ranges(of: policy).count == 1)
    #expect(page.ranges(of: "Content-Security-Policy").count == 1)
    for tag in ["<script", "<style"] { #expect(page.ranges(of: tag).count == 1) }
    #expect(
      !page.contains("style=\"") && !page.contains("unsafe-")
        && !page.contains(PagePolicy.placeholder))
    #expect(page.firstMatch(of: /\son[a-z]+="/) == nil)
    let start = try #require(page.range(of: "http-equiv")?.lowerBound)
    #expect(page[..<start].ranges(of: "<meta").count == 2, "only the encoding may precede it")
  }

  @Test func inlineStylesBecomeStyleSheetRules() throws {
    let html =
      "<style>a{}</style><i style=\"left:1%;width:2%\"></i><b style=\"left:3%\"></b>"
      + "<u style=\"left:1%;width:2%\"></u><script>1</script>"
    #expect(
      PagePolicy.applied(to: html)
        == "<style>a{}[data-s=\"1\"]{left:1% !important;width:2% !important}\n"
        + "[data-s=\"2\"]{left:3% !important}\n</style><i data-s=\"1\"></i><b data-s=\"2\"></b>"
        + "<u data-s=\"1\"></u><script>1</script>")
  }

  /// The rest of the page isn't copied for each attribute.
  @Test func thousandsOfInlineStylesAreReplaced() {
    let marks = (0..<30_000).map { "<i class=\"mark\" style=\"left:\($0 % 100)%\">one step</i>\n" }
    let begin = threadTime()
    let page = PagePolicy.applied(to: "<style></style>\(marks.joined())<script></script>")
    #expect(threadTime() - begin < 30)
    #expect(page.ranges(of: " data-s=\"").count == 30_000)
    #expect(page.ranges(of: "[data-s=\"").count == 100)
  }

  /// The page's script runs; an injected script doesn't.
  @Test(.enabled(if: Chromium.isExpected, "no Chromium here"))
  func browserRunsOnlyThePagesScript() throws {
    let page = try Self.page()
    let shown = try Chromium(opening: page)
    #expect(shown.console.isEmpty, "\(shown.console)")
    #expect(shown.elements.contains("class=\"tracks switched"), "the page's script has run")
    let attack =
      "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
      + "<p style=\"color:red\">x</p><link rel=stylesheet href=\"https://example.com/x.css\"></body>"
    let attacked = try Chromium(opening: page.replacingOccurrences(of: "</body>", with: attack))
    #expect(!attacked.elements.contains("<title>owned"))
    #expect(attacked.console.count { $0.contains("Content Security Policy") } >= 4)
  }
}
