import Foundation
import RunResults
import Testing
import WorkbenchFixtures

@testable import Profiling
@testable import RunReports

@Suite("The index page of several reports")
struct RunIndexTests {
  private func entry(_ name: String, chapter: Int? = nil, missing: Bool = false) -> RunIndex.Entry {
    var result = FaultStormScenario(moods: 200).result(missing: missing)
    result.scenario = "Storm of \(name)"
    result.chapter = chapter
    return RunIndex.Entry(result, named: name)
  }

  private func index(_ entries: [RunIndex.Entry]) -> RunIndex {
    RunIndex(title: "Scenarios", entries: entries, command: "cdprof run Scenarios --report html")
  }

  @Test func scenariosAreGroupedByFolder() throws {
    let index = index([
      entry("06-fetching/a", chapter: 6), entry("06-fetching/b", chapter: 6, missing: true),
      entry("08-mine/c", chapter: 9), entry("d"),
      RunIndex.Entry(failed: "Broken", chapter: nil, named: "e", message: "the disk is full"),
    ])
    #expect(index.folders.map(\.heading) == ["Scenarios", "Chapter 6: fetching", "08-mine"])
    #expect(index.folders.map(\.entries.count) == [2, 2, 1])
    #expect(index.summary == "3 of 5 scenarios passed" && !index.passes)
    let lines = index.folders.flatMap(\.entries)
    #expect(
      lines.map(\.link) == [
        "./d.html", nil, "./06-fetching/a.html", "./06-fetching/b.html", "./08-mine/c.html",
      ])
    #expect(lines.map(\.passes) == [true, false, true, false, true])
    #expect(lines[2].state == "10 of 10 expectations" && lines[3].state == "7 of 10 expectations")
    #expect(lines[0].findings == "2 findings" && lines[1].findings == nil)
    let page = try index.page()
    #expect(page.contains("“prefetched” runs <strong>2 SELECTs</strong>; “fault storm” runs"))
    #expect(page.contains("the disk is full"))
  }

  /// A name is neither markup nor a URL with a scheme.
  @Test(arguments: ["javascript:alert(1)", "<script>x</script>", "a \"b\" #c?d%", "//host/x"])
  func namesAreEscaped(hostile: String) throws {
    var index = index([entry(hostile), entry("x/\(hostile)")])
    index = RunIndex(title: hostile, entries: [entry(hostile)], command: hostile)
    let page = try index.page()
    #expect(!page.contains("<script"))
    let links = page.matches(of: /href="([^"]*)"/).map { String($0.1) }
    #expect(links.count == 3)
    for link in links.dropFirst() {
      #expect(link == "#contents" || link.wholeMatch(of: /\.\/[-A-Za-z0-9._~\/%]+\.html/) != nil)
    }
    #expect(page.contains("default-src 'none'; script-src 'none'"))
  }

  @Test func pageHasLandmarksAndUniqueNames() throws {
    let page = try index([entry("06-fetching/a", chapter: 6), entry("d")]).page()
    for tag in ["<main id=\"contents\">", "<header class=\"top\">", "<footer>", "<h1>", "<nav "] {
      #expect(page.components(separatedBy: tag).count == 2, "\(tag)")
    }
    let ids = page.matches(of: /\bid="([^"]*)"/).map { String($0.1) }
    #expect(Set(ids).count == ids.count && ids.count == 3)
    for match in page.matches(of: /(?:href="#|aria-labelledby=")([^"]*)"/) {
      #expect(ids.contains(String(match.1)), "no element has the ID \(match.1)")
    }
  }

  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func pageFitsAPhone() throws {
    let long = "everything-merged-by-a-list-that-shows-everything-that-there-is-without-a-space"
    let page = try index([entry("06-fetching/\(long)", chapter: 6), entry(long)]).page()
    let source = String(decoding: try JSONEncoder().encode(page), as: UTF8.self)
    let script = """
      <!doctype html><body><script>
      const page = \(source.replacing("</", with: "<\\/"));
      Promise.all([320, 390, 768, 1400].map(width => new Promise(measured => {
        const frame = document.createElement("iframe");
        frame.width = width;
        frame.srcdoc = page;
        frame.onload = () => {
          const all = frame.contentDocument.documentElement;
          const small = [...frame.contentDocument.querySelectorAll("main a, nav a")]
            .filter(link => link.getBoundingClientRect().height < 24).length;
          measured(all.scrollWidth - all.clientWidth + small);
        };
        document.body.append(frame);
      }))).then(beyond => { document.title = beyond.join(" "); });
      </script>
      """
    let shown = try Chromium(opening: script)
    let title = try #require(shown.elements.firstMatch(of: /<title>([-0-9 ]+)<\/title>/))
    #expect(title.1 == "0 0 0 0")
  }
}
