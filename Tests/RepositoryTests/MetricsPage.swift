import ProfileEvents

/// `Documentation/metrics.md`, written from the catalog of metrics in code.
enum MetricsPage {
  static let path = "Documentation/metrics.md"

  static var text: String {
    let rows = Metric.allCases.map { metric in
      let scopes = scopeNames.filter { metric.scopes.contains($0.scope) }.map(\.name)
      return "| `\(metric.rawValue)` | \(metric.unit) | \(scopes.joined(separator: ", ")) "
        + "| \(metric.isExact ? "yes" : "no") | \(metric.meaning) |"
    }
    return """
      # Metrics

      <!-- Written from Sources/ProfileEvents/Metric.swift. Do not edit:
           CDPROF_UPDATE_DOCS=1 swift test --filter DocumentationTests -->

      These are the words of `expect:` in a scenario, of the shell's answers, of the JSON result and
      of the report. A metric is *exact* when the same work gives the same number each time; only an
      exact one may be expected.

      | metric | counts | scopes | exact | meaning |
      | --- | --- | --- | --- | --- |
      \(rows.joined(separator: "\n"))

      A scope stands in brackets behind the word:

      | scope | example | means |
      | --- | --- | --- |
      | entity | `misses(Country)` | that entity alone; for faults, its object faults |
      | relationship | `faults(Country.moods)` | that relationship's faults |
      | context | `saves(sync)` | what happened in the context of that name, or was asked on its behalf |
      | step | `selects(moods)` | what the step of that name caused |

      """
  }

  private static let scopeNames: [(name: String, scope: Metric.Scopes)] = [
    ("entity", .entity), ("relationship", .relationship), ("context", .context),
    ("step", .step),
  ]
}
