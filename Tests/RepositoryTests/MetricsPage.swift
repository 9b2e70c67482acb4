import ProfileEvents

/// `Documentation/metrics.md`, generated from `Metric`.
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

      Metrics appear in a scenario's `expect:`, in the shell's output, in JSON results, and in
      reports. A metric is *exact* if equal work gives equal counts. Only exact metrics can be
      expected.

      | metric | counts | scopes | exact | meaning |
      | --- | --- | --- | --- | --- |
      \(rows.joined(separator: "\n"))

      A scope follows the name in parentheses:

      | scope | example | meaning |
      | --- | --- | --- |
      | entity | `misses(Country)` | events of that entity; for faults, its object faults |
      | relationship | `faults(Country.moods)` | faults of that relationship |
      | context | `saves(sync)` | events in the context of that name, and those of its parents on its behalf |
      | step | `selects(moods)` | events that the step of that name caused |

      """
  }

  private static let scopeNames: [(name: String, scope: Metric.Scopes)] = [
    ("entity", .entity), ("relationship", .relationship), ("context", .context),
    ("step", .step),
  ]
}
