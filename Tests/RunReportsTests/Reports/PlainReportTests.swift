import Foundation
import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import RunReports
@testable import RunResults

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("Text, Markdown, and JUnit reports")
struct PlainReportTests {
  @Test func markdownContainsResultTableAndFindings() {
    let text = MarkdownReport.text(FaultStormScenario.full)
    #expect(text.hasPrefix("## ✓ Fault storm: 6 of 6 variants, 10 of 10 expectations\n"))
    #expect(text.contains("“prefetched” runs **2 SELECTs**; “fault storm” runs **5,061**."))
    #expect(text.contains("| ✓ | plain ▲1 | **61** | `1 + Country` | 5,060 | 5,000 | 60 |"))
    #expect(text.contains("- ▲ **fault-storm(Mood)** 5,000 single-row SELECTs"))
    #expect(text.contains("verified: 61 → 2 SELECTs (prefetched)"))
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }
    #expect(rows.count == 8)
    #expect(Set(rows.map { $0.count { $0 == "|" } }).count == 1)
    let missed = MarkdownReport.text(FaultStormScenario(moods: 200).result(missing: true))
    #expect(missed.contains("| prefetched | `misses` | 0 | **60** | `faults.yml:32` |"))
  }

  @Test("faults are shown as a sum of hits and misses only if a parent context fulfilled none")
  func faultsFromAParentAreNotHidden() throws {
    var result = FaultStormScenario(moods: 200).result()
    #expect(MarkdownReport.text(result).contains("| faults | = hits | + misses |"))
    #expect(try !HTMLReport.page(result).contains("from the parent"))
    result.variants[0].metrics[.faults, default: 0] += 40
    for index in result.variants[0].steps.indices {
      result.variants[0].steps[index].costs.counters.objectFaultsFromParent = 40
    }
    #expect(MarkdownReport.text(result).contains("| faults | hits | misses |"))
    #expect(try HTMLReport.page(result).contains("300 = 0 + 260 + 40 from the parent"))
  }

  /// A combining mark joins `|` or a backtick into another character, but Markdown sees the scalar.
  @Test(
    arguments: [
      ("a|b", "`a|b`"), ("`x`", "`` `x` ``"), ("a\nb", "`a b`"),
      ("a|\u{301}b", "`a|\u{301}b`"), ("`\u{301}x", "`` `\u{301}x ``"),
    ])
  func markdownCodeIsEscaped(text: String, code: String) {
    #expect(MarkdownText.code(text) == code)
    // Only the cells of a table are separated by pipes.
    let cell = code.replacingScalars(["|": "\\|"])
    #expect(MarkdownText.row([code, "b"]) == "| \(cell) | b |")
    #expect(!MarkdownText.plain("<b>*a*|").contains("<"))
  }

  /// GitHub ends a property at a scalar, even if a combining mark follows it.
  @Test func annotationsAreEscapedByScalar() {
    let text = GitHubAnnotation(
      file: "a.yml", line: 1, title: "a,\u{301}b:\u{301}", message: "x%\u{301}\r\ny"
    ).text
    let scalars = Array(text.unicodeScalars)
    let expected = "::error file=a.yml,line=1,title=a%2C\u{301}b%3A\u{301}::x%25\u{301}%0Ay"
    #expect(scalars == Array(expected.unicodeScalars))
  }

  @Test func markdownEscapesAdvice() {
    var result = FaultStormScenario(moods: 200).result()
    for index in result.variants.indices {
      for number in result.variants[index].findings.indices {
        result.variants[index].findings[number].fix.advice = "see <b> *a*"
      }
    }
    let text = MarkdownReport.text(result)
    #expect(text.contains("see &lt;b> \\*a\\*;"))
    #expect(!text.contains("<b>"))
  }

  @Test("A fix of several lines is one line of code")
  func fixesAreOneLineOfCode() throws {
    var result = FaultStormScenario(moods: 200).result()
    for index in result.variants.indices {
      for number in result.variants[index].findings.indices {
        result.variants[index].findings[number].fix = SuggestedFix(
          swift: ["request.resultType = kind", "merge(", "  ids, into: [context])"])
      }
    }
    let code = "request.resultType = kind; merge(ids, into: [context])"
    #expect(MarkdownReport.text(result).contains("  fix `\(code)`; "))
    #expect(TextReport.text(result).contains("    fix   \(code)   "))
  }

  @Test("the time of a suite is that of its variants at all scales")
  func junitTimeIsThatOfAllScales() {
    var result = FaultStormScenario(moods: 200).result()
    for index in result.variants.indices { result.variants[index].nanoseconds = 500_000_000 }
    #expect(JUnitReport.text(result).contains(" time=\"3.000000\">"))
    let scaled = RunResult(joining: [result, result])
    #expect(JUnitReport.text(scaled).contains(" time=\"6.000000\">"))
  }

  @Test func junitHasOneTestCasePerExpectation() throws {
    var result = FaultStormScenario(moods: 200).result(missing: true)
    result.scenario = "<\"&\u{1}"
    result.variants[0].expectations = []
    let text = JUnitReport.text(RunResult(joining: [result, result]))
    #expect(text.contains("<testsuite name=\"&lt;&quot;&amp;\u{FFFD}\""))
    #expect(text.contains("tests=\"18\" failures=\"6\" errors=\"0\""))
    #expect(text.contains("<testcase classname=\"faults.yml.fault storm\" name=\"runs\""))
    #expect(text.contains("message=\"expected 0, actual 60\""))
    let parser = XMLParser(data: Data(text.utf8))
    #expect(parser.parse())
  }

  /// A CI service that identifies cases by their names would show only one of them.
  @Test func junitCasesHaveDifferentNames() throws {
    var result = FaultStormScenario(moods: 200).result()
    let expectation = try #require(result.variants[0].expectations.first)
    result.variants[0].expectations = [expectation, expectation, expectation]
    let name = "name=\"\(expectation.metric): \(expectation.formula)"
    let text = JUnitReport.text(result)
    let lines = text.split(separator: "\n").filter { $0.contains("faults.yml.fault storm\"") }
    #expect(lines.count == 3)
    for (line, end) in zip(lines, ["\"", " (2)\"", " (3)\""]) {
      #expect(line.contains(name + end), "\(line)")
    }
  }

  /// A result without `jobs` is of a scenario that ran alone, and so is one with an edited number.
  @Test(
    "Every report notes once that other scenarios ran concurrently",
    arguments: [nil, 0, 1, 4] as [Int?])
  func concurrentRunIsNoted(jobs: Int?) throws {
    var result = FaultStormScenario(moods: 200).result()
    result.environment.jobs = jobs
    let note = " · up to 4 scenarios ran concurrently; run with --jobs 1 for undisturbed times"
    let page = try HTMLReport.page(result)
    for text in [TextReport.text(result), MarkdownReport.text(result), page] {
      #expect(text.ranges(of: note).count == (jobs == 4 ? 1 : 0))
      #expect(text.ranges(of: "ran concurrently").count == (jobs == 4 ? 1 : 0))
    }
    guard let jobs else { return }
    #expect(JUnitReport.text(result).contains("<property name=\"jobs\" value=\"\(jobs)\"/>"))
    for data in [TraceReport.data(result), JSONLinesReport.data(result)] {
      #expect(String(decoding: data, as: UTF8.self).contains("\"jobs\":\(jobs)"))
    }
    let spans = String(decoding: OpenTelemetryReport.data(result), as: UTF8.self)
    #expect(spans.contains("\"cdprof.jobs\",\"value\":{\"intValue\":\"\(jobs)\"}"))
  }

  @Test("The text of a run without data says so")
  func missingDataIsNamed() {
    var result = FaultStormScenario(moods: 200).result()
    result.data = []
    let line = TextReport.text(result).split(separator: "\n")[1]
    #expect(line.hasPrefix("no data · seed "), "\(line)")
  }

  @Test func textReportContainsResultAndCommand() {
    let text = TextReport.text(FaultStormScenario.full)
    #expect(text.hasPrefix("Fault storm   chapter 15   ✓ 6 of 6 variants"))
    #expect(text.contains("▲ fault-storm(Mood): 5,000 single-row SELECTs from faults.yml:16"))
    #expect(text.hasSuffix("cdprof run Scenarios/faults.yml --report html   cdprof 0.1.0\n"))
  }
}
