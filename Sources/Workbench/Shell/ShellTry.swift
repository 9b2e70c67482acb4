import ProfileEvents

/// Everything typed between two resets: what ran, and what it cost.
struct ShellTry {
  /// Counted from 1.
  let number: Int
  /// The steps that ran, in order; one that failed is marked to fail with its code.
  var steps: [Step] = []
  var findings: [Finding] = []
  /// Whether a step was stopped in the middle, so that nothing can do the same again.
  var wasInterrupted = false
  /// Counts and time of all steps; set when the try is over or asked for.
  var costs = Costs()

  var name: String { "try \(number)" }

  /// The try's findings, those of one name together.
  var groupedFindings: [Finding] {
    findings.reduce(into: []) { grouped, finding in
      if let place = grouped.firstIndex(where: { $0.name == finding.name }) {
        grouped[place].count += finding.count
      } else {
        grouped.append(finding)
      }
    }
  }
}
