import ScenarioLanguage
import WorkbenchText

/// What came of a log's budget, as a person reads it.
package enum LogJudgementText {
  /// The verdict, and what was missed with the statements behind it.
  package static func lines(_ judgement: LogJudgement, of report: LogReport) -> [String] {
    let results = judgement.results.values.flatMap { $0 }
    let held = results.count(where: \.holds)
    let sections = judgement.results.values.count { $0.allSatisfy(\.holds) }
    var lines = [
      "\(judgement.holds ? "✓" : "✗") "
        + NumberText.counted(
          sections, of: judgement.results.count + judgement.missing.count, "section")
        + ", " + NumberText.counted(held, of: results.count, "expectation")
    ]
    for (name, line) in judgement.missing {
      lines.append("✗ \(name)   the log has no line `cdprof: begin \(name)`   line \(line)")
    }
    for place in judgement.results.keys.sorted() {
      let section = report.sections[place]
      for result in judgement.results[place] ?? [] where !result.holds {
        let law = result.law == result.expected.description ? "" : " (\(result.law))"
        lines.append(
          "✗ \(section.name) · \(result.metric)   expected \(result.expectedText)\(law)"
            + "   found \(result.found)   \(result.location)")
        lines += result.differences.map { "    \($0)" }
      }
    }
    if !judgement.notJudged.isEmpty {
      lines.append("not judged, for a log does not tell:")
      lines += judgement.notJudged.map { "    \($0)" }
    }
    return lines
  }
}
