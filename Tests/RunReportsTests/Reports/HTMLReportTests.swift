import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults
@testable import ScenarioLanguage
@testable import StatementAnalysis
@testable import WorkbenchText

@Suite("HTML report")
struct HTMLReportTests {
  @Test(arguments: [2_100_000, 33_000_000, 40_000, 7_000_000_000, 55_000_000_000] as [UInt64])
  func axisTicksAreDistinct(length: UInt64) {
    let ticks = ReportTracks.ticks(length)
    #expect((2...8).contains(ticks.count))
    #expect(Set(ticks.map(\.label)).count == ticks.count, "\(ticks.map(\.label))")
    #expect(Set(ticks.map(\.position)).count == ticks.count)
    if length == 2_100_000 {
      #expect(ticks.map(\.label) == ["0.0 ms", "0.5 ms", "1.0 ms", "1.5 ms", "2.0 ms"])
    }
  }

  @Test func firstScreenIsInOrder() throws {
    let page = try HTMLReport.page(FaultStormScenario.full)
    expect(
      page,
      contains: [
        "6 of 6 variants, 10 of 10 expectations",
        "“prefetched” runs <strong>2 SELECTs</strong>; “fault storm” runs <strong>5,061</strong>. "
          + "Only the fetch request differs.",
        "A list shows the date", "how many of them miss the row cache?",
        "1 + Mood + Country", "Timeline", "Cache Misses", "5,000 × fault Mood (miss)",
        "fault-storm(Mood)", "the plan is optimal (primary-key lookup)", "delete this line",
        "verified: 5,061 → 61 SELECTs (plain)", "fault-storm(Mood.country)",
        "relationshipKeyPathsForPrefetching", "verified: 61 → 2 SELECTs (prefetched)",
        "Each variant", "request.includesPropertyValues = false", "Statements",
        "The plan is optimal", "CoreData: sql: SELECT", "first 200 of 5,060 object faults",
        "$ cdprof shell Scenarios/faults.yml", "Reproduce this run", "3.40.1", "S6.01",
      ])
  }

  @Test func unmetExpectationsComeFirst() throws {
    let page = try HTMLReport.page(FaultStormScenario(moods: 200).result(missing: true))
    expect(
      page,
      contains: [
        "5 of 6 variants, 7 of 10 expectations", "prefetched", "hits", "Mood + Country", "200",
        "faults.yml:32", "the 60: fault Country (miss) from faults.yml:16 touch moods",
        "likely: the prefetched rows were let go", "“held” runs",
      ])
    #expect(!page.contains("class=\"summary good\""))
  }

  /// Bars share one scale: 2 of 5,061 is a dot, and 252 is a twentieth.
  @Test func barWidthsAreProportional() throws {
    let page = try HTMLReport.page(FaultStormScenario.full)
    // The style sheet contains the widths by number.
    let rules = page.matches(of: /\[data-s="([0-9]+)"\]{width:([0-9.]+)% !important}/)
    let widthOf = Dictionary(rules.map { ($0.1, String($0.2)) }) { first, _ in first }
    let widths = page.matches(of: /class="bar( dot)?"(?: data-s="([0-9]+)")?/).map {
      $0.1 == nil ? widthOf[$0.2 ?? ""] ?? "" : "dot"
    }
    #expect(widths == ["100", "1.21", "1.21", "dot", "dot", "4.98"])
  }

  @Test func pageLoadsNoExternalResources() throws {
    let page = try HTMLReport.page(FaultStormScenario.full)
    let links = page.matches(of: /(?:src|href)\s*=\s*"([^"]*)"/).map { String($0.1) }
    #expect(!links.isEmpty)
    #expect(links.allSatisfy { $0.hasPrefix("#") || $0 == "data:," })
    #expect(!page.contains("@import"))
    #expect(!page.contains("url("))
  }

  /// A quotation mark and a combining mark are one character, which still ends an attribute.
  @Test(arguments: [
    "<script>alert(1)</script>", "\"\u{301} onload=alert(1) x=\"", "</title><i>", "a&b",
  ])
  func escapesAllStrings(hostile: String) throws {
    var result = FaultStormScenario(moods: 20, countries: 5).result()
    result.scenario = hostile
    result.file = hostile
    result.story = hostile
    result.command = hostile
    result.data[0].name = hostile
    for index in result.variants.indices {
      result.variants[index].name = hostile
      result.variants[index].why = hostile
      result.variants[index].requestSwift = [hostile]
      result.variants[index].set = [hostile]
      result.variants[index].expectations[0].formula = hostile
      result.variants[index].statements[0].sql = hostile
      result.variants[index].statements[0].plan = [hostile]
      result.variants[index].steps[0].text = hostile
      result.variants[index].events[0].events[0].entity = hostile
    }
    let page = try HTMLReport.page(result)
    #expect(!page.contains(hostile))
    #expect(page.contains("&lt;") || page.contains("&quot;\u{301}") || page.contains("a&amp;b"))
  }

  @Test func hundredThousandEventsFitInAMegabyte() throws {
    let result = FaultStormScenario(moods: 26_000).result()
    let events = result.variants.flatMap(\.events).reduce(0) { $0 + $1.count }
    #expect(events > 100_000)
    let page = try HTMLReport.page(result)
    #expect(page.utf8.count < 1_000_000)
    #expect(page.contains("is event density") && page.contains("are event density"))

    var many = result
    many.variants = Array(repeating: result.variants[0], count: 40)
    #expect(try HTMLReport.page(many).utf8.count < 1_000_000)
  }

  /// As many variants as possible, each with the most events that are drawn one by one.
  @Test func singleEventTracksAreSmall() throws {
    var result = FaultStormScenario(moods: 1_900).result()
    result.variants = Array(repeating: result.variants[0], count: 30)
    let tracks = ReportTracks(result)
    #expect(tracks.panels.reduce(0) { $0 + $1.pathLength } <= 250_000)
    #expect(try HTMLReport.page(result).utf8.count < 1_000_000)
    #expect(ReportTracks(FaultStormScenario(moods: 100).result()).units == 16_000)
  }

  /// The table has all variants; the details are those of the ones that don't pass, and the first.
  @Test func hundredsOfVariantsFitInAMegabyte() throws {
    var result = FaultStormScenario(moods: 100).result()
    let variants = result.variants
    result.variants = (0..<200).map { number in
      var variant = variants[number % variants.count]
      variant.name = "variant \(number + 1)"
      return variant
    }
    result.variants[199].expectations[0].isMet = false
    let page = try HTMLReport.page(result)
    #expect(page.utf8.count < 1_000_000)
    #expect(page.ranges(of: "<tr role=\"row\" data-variant=").count == 200)
    #expect(page.ranges(of: "<section class=\"of\"").count == 20)
    #expect(page.ranges(of: "<div class=\"panel\"").count == 20)
    #expect(page.ranges(of: "and 180 more variants").count == 2)
    let anchors = Set(page.matches(of: /\sid="([^"]+)"/).map { String($0.1) })
    let links = Set(page.matches(of: /href="#([^"]+)"/).map { String($0.1) })
    #expect(links.isSubset(of: anchors))
    #expect(links.contains("variant-200") && links.contains("variant-19"))
    #expect(!links.contains("variant-20"))
  }

  @Test("Thousands of repeated steps with unmet expectations fit in a megabyte")
  func thousandsOfStepsFitInAMegabyte() throws {
    var result = FaultStormScenario(moods: 100).result()
    for index in result.variants.indices {
      let variant = result.variants[index]
      result.variants[index].steps = Array(repeating: variant.steps[0], count: 3_000)
      result.variants[index].requestSwift = Array(repeating: "fetch(request)", count: 3_000)
      var missed = variant.expectations[0]
      missed.isMet = false
      missed.actual = .number(123_456)
      result.variants[index].expectations = Array(repeating: variant.expectations[0], count: 3_000)
      result.variants[index].expectations += Array(repeating: missed, count: 3)
    }
    let begin = threadTime()
    let page = try HTMLReport.page(result)
    #expect(threadTime() - begin < 30)
    #expect(page.utf8.count < 1_000_000)
    // Of each of six variants, 60 steps in the timeline, the table, and the shell.
    #expect(page.ranges(of: "and 2,940 more<").count == 18)
    #expect(page.contains("// and 2,940 more lines"))
    // Those that aren't met come first.
    #expect(page.ranges(of: "and 2,943 more<").count == 6)
    #expect(page.ranges(of: "<td class=\"num\">123,456</td>").count == 18)
  }

  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func browserShowsTheJSONNumbersWithoutErrors() throws {
    for result in [FaultStormScenario.full, FaultStormScenario(moods: 300).result(missing: true)] {
      let shown = try Chromium(opening: HTMLReport.page(result))
      #expect(shown.console == [])
      let written = try JSONSerialization.jsonObject(with: JSONReport.data(result))
      let variants = try #require((written as? [String: Any])?["variants"] as? [[String: Any]])
      #expect(variants.count == 6)
      for variant in variants {
        let name = try #require(variant["name"] as? String)
        let metrics = try #require(variant["metrics"] as? [String: Int])
        let numbers = Self.numbers(of: name, in: shown.elements)
        #expect(numbers.count == 6)
        for (metric, number) in numbers {
          #expect(metrics[metric] == number, "\(metric) of \(name)")
        }
      }
      #expect(shown.elements.contains("class=\"tracks switched\""), "the script did not run")
    }
  }

  /// On a phone, the numbers of a card wrap; dots separate two numbers on the same line.
  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func cardLinesDoNotBeginWithASeparator() throws {
    let script = """
      <script>
      const counts = {begin: 0, between: 0};
      for (const row of document.querySelectorAll(".board tbody tr")) {
        const edge = row.getBoundingClientRect().left - 3;
        let line = null;
        for (const cell of [...row.querySelectorAll("td.num:not(.lead)")].sort((one, other) =>
          getComputedStyle(one).order - getComputedStyle(other).order)) {
          const dot = getComputedStyle(cell, "::before");
          const box = cell.getBoundingClientRect();
          const left = dot.position === "absolute" ? box.left + parseFloat(dot.left) + 5 : box.left;
          if (dot.content.includes("·") && left > edge) counts[box.top === line ? "between" : "begin"]++;
          line = box.top;
        }
      }
      document.title = `${counts.begin} at the beginning, ${counts.between} between`;
      </script>
      """
    // The page's Content-Security-Policy would block the script.
    let page = try HTMLReport.page(FaultStormScenario.full)
      .replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
    let shown = try Chromium(opening: page + script, width: 390)
    let title = try #require(
      shown.elements.firstMatch(of: /<title>(\d+) at the beginning, (\d+) b/))
    #expect(title.1 == "0" && Int(title.2) ?? 0 >= 18, "\(title.0)")
  }

  @Test("A variant without a fetch and a page without covered behaviors have no empty parts")
  func emptyPartsAreNamed() throws {
    var result = FaultStormScenario(moods: 20).result()
    #expect(try HTMLReport.page(result).contains("<h2 id=\"covers\">Behaviors covered</h2>"))
    result.variants[0].requestSwift = []
    result.covers = []
    let page = try HTMLReport.page(result)
    #expect(page.contains("<h4>Request</h4>\n<p class=\"soft\">none</p>"))
    #expect(!page.contains("<code></code>") && !page.contains("<ul class=\"tags covers\">"))
    #expect(page.contains("<h2 id=\"covers\">Sources of expectations</h2>"))
  }

  @Test("Units and the noun of findings fit their numbers")
  func unitsFitTheirNumbers() throws {
    var result = FaultStormScenario(moods: 20).result()
    result.metric = ScopedMetric(.selects)
    result.variants[0].metrics[.selects] = 1
    result.variants[0].findings.removeSubrange(1...)
    let page = try HTMLReport.page(result)
    #expect(page.contains("data-unit=\"SELECT\"><data data-metric=\"selects\" value=\"1\">"))
    #expect(page.contains("data-result=\"\(result.variants[0].name): 1 SELECT."))
    #expect(page.contains("title=\"finding\"") && page.contains("data-unit=\"SELECTs\""))
    let steps = ScopedMetric(.vmsteps)
    #expect(steps.unit(of: 1) == "VM step" && steps.unit(of: 2) == "VM steps")
    #expect(ScopedMetric(.peak, .entity("Mood")).unit(of: 1) == "peak Mood")
  }

  @Test("A name that's written from right to left doesn't reorder the numbers next to it")
  func namesDoNotReorderNumbers() throws {
    var result = FaultStormScenario(moods: 20).result()
    result.data[0].name = "مدينة"
    result.variants[0].steps[0].text = "fetch مدينة"
    let page = try HTMLReport.page(result)
    #expect(page.contains("<bdi>مدينة</bdi> \(result.data[0].count)"))
    #expect(page.contains("<bdi>fetch مدينة</bdi>: <bdi>"))
  }

  /// On a phone, long values of unmet expectations wrap, and so do long names of metrics in cards.
  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func longValuesWrapOnAPhone() throws {
    let script = """
      <script>
      for (const value of document.querySelectorAll(".missed td b")) {
        value.textContent = "at least 1,000,000,000";
      }
      for (const cell of document.querySelectorAll(".board td.num")) {
        cell.dataset.unit = `misses (${"CustomerSubscription".repeat(5)})`;
      }
      const rows = [...document.querySelectorAll(".missed .scroll, .board tbody tr")];
      const cut = rows.filter(row => row.scrollWidth > row.clientWidth + 1);
      document.title = `${cut.length} of ${rows.length} are cut off`;
      </script>
      """
    // The page's Content-Security-Policy would block the script.
    let page = try HTMLReport.page(FaultStormScenario(moods: 300).result(missing: true))
      .replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
    let shown = try Chromium(opening: page + script, width: 390)
    let title = try #require(shown.elements.firstMatch(of: /<title>(\d+) of (\d+) are cut off/))
    #expect(title.1 == "0" && Int(title.2) ?? 0 >= 7, "\(title.0)")
  }

  /// Checks widths from a small phone to a laptop, with names that are wider than a phone.
  @Test(
    .enabled(if: Chromium.isExpected, "no chromium in PATH"),
    arguments: [
      "everything, merged by a list that shows everything that there is",
      String(repeating: "Everything", count: 40),
    ], [false, true])
  func pageFitsItsWindow(name: String, isMissed: Bool) throws {
    var result =
      isMissed ? FaultStormScenario(moods: 300).result(missing: true) : FaultStormScenario.full
    result.scenario = name
    result.variants[1].name = name
    let excess = try Chromium.excess(of: HTMLReport.page(result))
    #expect(excess == [0, 0, 0, 0, 0, 0, 0])
  }

  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func scriptErrorsAreDetected() throws {
    let shown = try Chromium(opening: "<!doctype html><script>undefined.wrong()</script>")
    #expect(shown.console.count == 1)
  }

  /// The visible counts of a variant's row, by metric.
  private static func numbers(of variant: String, in page: String) -> [String: Int] {
    guard let start = page.firstRange(of: "<tr role=\"row\" data-variant=\"\(variant)\">"),
      let end = page[start.upperBound...].firstRange(of: "</tr>")
    else { return [:] }
    var numbers: [String: Int] = [:]
    let row = page[start.upperBound..<end.lowerBound]
    for match in row.matches(of: /data-metric="([^"]+)"[^>]*>([0-9,]+)</) {
      numbers[String(match.1)] = Int(match.2.filter { $0 != "," })
    }
    return numbers
  }

  /// Expects the strings to appear in the body of the page in this order.
  private func expect(
    _ page: String, contains texts: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let body = page.firstRange(of: "<body>")?.upperBound ?? page.startIndex
    var rest = page[body...]
    for text in texts {
      guard let range = rest.firstRange(of: text) else {
        Issue.record("“\(text)” is missing or out of order", sourceLocation: sourceLocation)
        continue
      }
      rest = rest[range.upperBound...]
    }
  }

  /// Without findings, the page doesn't claim anything that no rule checked.
  @Test func pageWithoutFindingsStatesOnlyWhatIsKnown() throws {
    var quiet = FaultStormScenario(moods: 20).result()
    for index in quiet.variants.indices {
      quiet.variants[index].findings = []
      quiet.variants[index].metrics[.misses] = 0
    }
    #expect(ReportFinding.none(in: quiet) == "No findings: no rule fired.")
    quiet.variants[0].metrics[.misses] = 7
    #expect(ReportFinding.none(in: quiet).contains("Up to 7 faults of a variant ran a SELECT each"))
    quiet.variants[0].metrics[.misses] = 1
    #expect(ReportFinding.none(in: quiet).contains("Up to 1 fault of a variant ran a SELECT, but"))
    quiet.variants[0].silenced = ["fault-storm(Mood)"]
    #expect(
      ReportFinding.none(in: quiet)
        == "No findings other than those that the scenario suppresses: fault-storm(Mood).")
    #expect(!(try HTMLReport.page(quiet)).contains("asked the database for one row at a time"))
    let read = try ResultFile.read(JSONReport.data(quiet), path: "a.json")
    #expect(read.variants[0].silenced == ["fault-storm(Mood)"])
  }

  /// The limit is in characters, and the rest in bytes.
  @Test(arguments: [(2_000, nil), (4_000, " … (2,030 bytes more)")] as [(Int, String?)])
  func longStatementsAreCut(count: Int, end: String?) {
    let sql = String(repeating: "é", count: count)
    let log = ReportStatement(
      StatementShape(number: 1, kind: .select, sql: sql, count: 1, rows: 0, nanoseconds: 0)
    ).log
    if let end {
      #expect(log.hasSuffix("é" + end))
    } else {
      #expect(log == "CoreData: sql: " + sql)
    }
  }
}
