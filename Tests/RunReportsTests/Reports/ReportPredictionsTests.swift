import Foundation
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults

@Suite("Questions on the page")
struct ReportPredictionsTests {
  private static let questions = [
    PredictionResult(
      question: "Which variant runs the <fewest> SELECTs?",
      choices: FaultStormScenario.full.variants.map(\.name), answers: ["prefetched", "held"],
      hints: ["One", "Two"], why: "Two SELECTs each."),
    PredictionResult(
      question: "How many?", choices: [], answers: ["5061"], hints: [], why: ""),
  ]

  private static func result(missing: Bool = false) -> RunResult {
    var result = FaultStormScenario(moods: 200).result(missing: missing)
    result.predictions = questions
    return result
  }

  /// The page is complete if scripts don't run, and hides nothing without questions.
  @Test func pageIsCompleteWithoutScripts() throws {
    let page = try HTMLReport.page(Self.result())
    for text in [
      "1. Which variant runs the &lt;fewest&gt; SELECTs?", "Several answers are right",
      "<li>One</li><li>Two</li>", "Answer: <b>prefetched, held</b>. Two SELECTs each.",
      "Answer: <b>5,061</b>.", "data-value=\"5061\"", "<main class=\"asks\">",
      "data-lesson=\"faults\"", "@media screen and (scripting: enabled) {\n  .asks :is(",
    ] {
      #expect(page.contains(text), "\(text)")
    }
    #expect(page.matches(of: /<input type="radio" name="answer"[^>]* data-right>/).count == 2)
    #expect(page.matches(of: /<div class="controls" hidden>/).count == 2)
    #expect(!page.contains("onsubmit") && page.utf8.count < 400_000)
    let plain = try HTMLReport.page(FaultStormScenario(moods: 200).result())
    #expect(!plain.contains("class=\"asks\"") && !plain.contains("class=\"predict\""))
  }

  @Test("The first link leads to the questions while they hide the table")
  func skipLinkLeadsToTheQuestions() throws {
    let skip = "<a class=\"skip\" href="
    let asking = try HTMLReport.page(Self.result())
    #expect(asking.contains(skip + "\"#predict\">Skip to the questions</a>"))
    let failed = try HTMLReport.page(Self.result(missing: true))
    #expect(failed.contains(skip + "\"#table\">Skip to the table</a>"))
  }

  /// What isn't met comes first, so the page doesn't hide it.
  @Test func failedRunIsNotHidden() throws {
    let page = try HTMLReport.page(Self.result(missing: true))
    #expect(page.contains("<main>") && page.contains("class=\"predict\""))
  }

  @Test func questionsAreInTheJSONResult() throws {
    let read = try ResultFile.read(JSONReport.data(Self.result()), path: "a.json")
    #expect(read.predictions == Self.questions)
  }

  /// Answers both questions, the second one wrongly, and shows the results one by one.
  @Test(.enabled(if: Chromium.isExpected, "no chromium in PATH"))
  func browserAsksThenShowsResultsOneByOne() throws {
    let script = """
      <script>
      const seen = [];
      const isVisible = selector => document.querySelector(selector).offsetParent !== null;
      const click = selector => document.querySelector(selector).click();
      const forms = [...document.querySelectorAll(".predict form")];
      seen.push(isVisible(".board"), isVisible(".lesson"), isVisible(".predict li"));
      click("[data-hint]");
      seen.push([...forms[0].querySelectorAll("li")].map(li => li.offsetParent !== null).join());
      forms[0].requestSubmit();
      seen.push(forms[0].querySelector("[data-verdict]").textContent);
      forms[0].querySelector("input[value=held]").checked = true;
      forms[0].requestSubmit();
      seen.push(forms[0].querySelector("[data-verdict]").textContent);
      for (const number of ["50.61", "5,000"]) {
        forms[1].querySelector("input").value = number;
        forms[1].requestSubmit();
        seen.push(forms[1].querySelector("[data-verdict]").textContent);
      }
      seen.push(document.querySelector(".score").textContent, isVisible(".board"));
      click("[data-next]");
      seen.push([...document.querySelectorAll(".board tbody tr")].filter(r => r.offsetParent).length);
      for (let i = 0; i < 6; i++) click("[data-next]");
      seen.push(isVisible(".lesson"), document.activeElement.id);
      click("[data-again]");
      seen.push(document.querySelector("[data-hint]").textContent);
      document.title = seen.join("|");
      </script>
      """
    let page = try HTMLReport.page(Self.result())
      .replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
    let shown = try Chromium(opening: page + script)
    #expect(shown.console.isEmpty, "\(shown.console)")
    let title = try #require(shown.elements.firstMatch(of: /<title>(.*?)<\/title>/))
    #expect(
      title.1
        == "false|false|false|true,false|Choose an answer.|Right.|Enter a number.|Not quite."
        + "|You answered 1 of 2 correctly.|false|1|true|predict|Hint")
  }
}
