import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults
@testable import ScenarioLanguage

@Suite("The headline and the columns of a report")
struct ReportHeadlineTests {
  private func result(_ metrics: [[Metric: Int]]) -> RunResult {
    var result = FaultStormScenario(moods: 1, countries: 1).result()
    result.variants = zip(["a", "b", "c"], metrics).map { name, metrics in
      var variant = VariantResult(name: name)
      variant.metrics = metrics
      return variant
    }
    return result
  }

  private func headline(_ result: RunResult) -> String {
    ReportHeadline(result, lead: ReportMetrics(result).lead).text
  }

  /// A more significant metric leads unless another one differs far more.
  @Test(
    arguments: [
      (
        [[.selects: 2, .rows: 9], [.selects: 61, .rows: 900]],
        "“a” runs 2 SELECTs; “b” runs 61."
      ),
      (
        [[.selects: 2, .inserts: 1], [.selects: 3, .inserts: 500]],
        "“a” inserts 1 row; “b” inserts 500."
      ),
      ([[.inserts: 10], [.inserts: 0]], "“b” inserts no rows; “a” inserts 10."),
      ([[.selects: 2, .rows: 5_000], [.selects: 3, .rows: 20]], "“b” fetches 20 rows; “a” f"),
      ([[.misses: 0], [.misses: 60]], "“a” has no row-cache misses; “b” has 60."),
      ([[.createdindexes: 0], [.createdindexes: 2]], "“a” creates no indexes; “b” creates 2."),
      // Only a variant that migrated its store has the metrics of migrations.
      ([[.migratedrows: 200], [:]], "“b” migrates no rows; “a” migrates 200."),
      ([[.walpages: 0], [.walpages: 9]], "“a” leaves no pages in the WAL; “b” leaves 9."),
      ([[.faults: 1], [.faults: 1], [.faults: 4]], "“a” fires 1 fault; “c” fires 4."),
      ([[.selects: 2], [.selects: 2]], "Every variant runs 2 SELECTs."),
      ([[.selects: 1]], "This work runs 1 SELECT."), ([], "Every variant runs no SELECTs."),
    ] as [([[Metric: Int]], String)])
  func headlineStatesTheLargestDifference(metrics: [[Metric: Int]], text: String) {
    #expect(headline(result(metrics)).hasPrefix(text))
  }

  @Test func namedMetricPrecedesOthersAndTheScenariosMetricAll() throws {
    var result = result([[.selects: 2, .calls: 10], [.selects: 90, .calls: 40]])
    #expect(ReportTable(result).lead == ScopedMetric(.selects))
    for (index, value) in [10, 40].enumerated() {
      result.variants[index].expectations = [
        ExpectationResult(
          metric: "calls", formula: "\(value)", relation: .equal, expected: .number(value),
          actual: .number(value), isMet: true, source: .ours,
          location: CallSite(file: "a.yml", line: 1))
      ]
    }
    #expect(ReportTable(result).lead == ScopedMetric(.calls))
    #expect(ReportTable(result).rows.map(\.formula) == ["10", "40"])
    #expect(
      headline(result) == "“a” makes 10 function calls; “b” makes 40. "
        + "Only the fetch request differs.")
    result.metric = ScopedMetric(.misses, .entity("Country"))
    for (index, value) in [0, 7].enumerated() {
      result.variants[index].scopedMetrics = [ScopedMetric(.misses, .entity("Country")): value]
    }
    let table = ReportTable(result)
    #expect(table.leadHeading == "misses (Country)")
    #expect(table.rows.map(\.value) == [0, 7])
    #expect(table.headings.map(\.text).contains("calls"))
    #expect(headline(result).hasPrefix("“a” has no row-cache misses of Country; “b” has 7."))
    let read = try ResultFile.read(JSONReport.data(result), path: "a.json")
    #expect(read.metric == result.metric)
  }

  /// A variant can lack the step of a metric.
  @Test func variantsWithoutTheMetricAreNotCounted() {
    var result = result([[.selects: 2], [.selects: 90], [.selects: 1]])
    result.metric = ScopedMetric(.selects, .step("list"))
    for (index, value) in [5, 9].enumerated() {
      result.variants[index].scopedMetrics = [ScopedMetric(.selects, .step("list")): value]
    }
    let text = headline(result)
    #expect(text.hasPrefix("“a” ") && text.contains("5") && text.contains("“b” runs 9."), "\(text)")
    result.variants[1].scopedMetrics = result.variants[0].scopedMetrics
    #expect(headline(result).hasPrefix("Each of “a” and “b” runs 5 SELECTs"))
    result.variants[1].scopedMetrics = [:]
    #expect(headline(result).hasPrefix("“a” runs 5 SELECTs"))
  }

  @Test func numbersEndBeforeACommaOfTheSentence() throws {
    var result = result([[.selects: 2]])
    result.headline = "With 20, half as many; with 1,024,000 none."
    let page = try HTMLReport.page(result)
    #expect(
      page.contains("With <strong>20</strong>, half as many; with <strong>1,024,000</strong>"))
  }

  @Test func anotherFetchIsADifference() throws {
    var result = FaultStormScenario(moods: 20).result()
    #expect(headline(result).hasSuffix("Only the fetch request differs."))
    let fetch = try #require(result.variants[0].steps.first { $0.fetch != nil })
    result.variants[0].steps.append(fetch)
    #expect(!headline(result).contains("Only the fetch request differs."))
  }

  /// The author's numbers are emphasized, and the sentence is escaped like any other text.
  @Test func authorsHeadlineReplacesTheGeneratedOne() throws {
    var result = FaultStormScenario(moods: 20).result()
    result.headline = "<b>5,061 SELECTs</b> or v2, at most 2."
    let page = try HTMLReport.page(result)
    #expect(
      page.contains(
        "&lt;b&gt;<strong>5,061</strong> SELECTs&lt;/b&gt; or v2, at most <strong>2</strong>."))
    #expect(MarkdownReport.text(result).contains("&lt;b>**5,061** SELECTs&lt;/b> or v2"))
    let read = try ResultFile.read(JSONReport.data(result), path: "a.json")
    #expect(read.headline == result.headline)
  }

  /// An expectation of this project has a sentence about Core Data on Apple platforms.
  @Test(
    arguments: [
      ("The same.", .ours, "On Apple platforms:</b> The same."),
      ("", .ours, "On Apple platforms:</b> not checked."), ("The same.", .book, nil),
    ] as [(String, SourceMark, String?)])
  func expectationsOfThisProjectStateWhatAppleDoes(
    sentence: String, source: SourceMark, text: String?
  ) throws {
    var result = FaultStormScenario(moods: 20).result()
    for index in result.variants.indices {
      result.variants[index].apple = sentence
      for other in result.variants[index].expectations.indices {
        result.variants[index].expectations[other].source = source
      }
    }
    let read = try ResultFile.read(JSONReport.data(result), path: "a.json")
    let page = try HTMLReport.page(read)
    #expect(page.contains(text ?? "<h4>Expectations</h4>"))
    #expect(page.contains("On Apple platforms:") == (text != nil))
  }
}
