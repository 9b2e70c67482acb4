package import ProfileEvents

/// What was done between two resets of a shell, and what it cost.
package struct SavedTry: Sendable {
  /// The steps that went well, in their order.
  package var steps: [Step]
  package var counters: Counters
  /// The names of the findings that fired, each once.
  package var findings: [String]

  package init(steps: [Step], counters: Counters, findings: [String]) {
    self.steps = steps
    self.counters = counters
    self.findings = findings
  }

  /// The expectations that hold for what was measured, as YAML pairs.
  var expectations: [String] {
    let findings =
      findings.isEmpty
      ? "hits: \(counters.hits)" : "findings: [\(findings.joined(separator: ", "))]"
    return [
      "selects: \(counters.selects)", "faults: \(counters.faults)", "misses: \(counters.misses)",
      findings,
    ]
  }
}
