import ProfileEvents
import WorkbenchText

/// Two pieces of work side by side: what the shell's `diff` prints.
package struct CostComparison: Sendable {
  /// One of the two, with the name that stands over its column.
  package struct Side: Sendable {
    package var name: String
    package var costs: Costs

    package init(name: String, costs: Costs) {
      self.name = name
      self.costs = costs
    }
  }

  package var first: Side
  package var second: Side

  package init(_ first: Side, _ second: Side) {
    self.first = first
    self.second = second
  }

  /// A head line, one line a metric with both numbers and their difference, and the times.
  ///
  /// Saves and writing statements are shown when either side has some.
  package var lines: [String] {
    var lines = [row("", first.name, second.name)]
    for metric in shown {
      let before = first.costs.counters[metric] ?? 0
      let after = second.costs.counters[metric] ?? 0
      var line = row(
        metric.rawValue, NumberText.grouped(before), NumberText.grouped(after))
      if after != before {
        line += "   \(after < before ? "-" : "+") \(NumberText.grouped(abs(after - before)))"
      }
      if metric == .misses, let remark { line += "      \(remark)" }
      lines.append(line)
    }
    let times = row(
      "time", NumberText.time(first.costs.nanoseconds), NumberText.time(second.costs.nanoseconds))
    return lines + [times + "   (this machine; never a gate)"]
  }

  private var shown: [Metric] {
    let writing = [.saves, .inserts, .updates, .deletes, .transactions] as [Metric]
    return [.selects, .rows, .faults, .misses]
      + writing.filter { metric in
        [first, second].contains { ($0.costs.counters[metric] ?? 0) != 0 }
      }
  }

  /// What the counts say about the faults, when they say something.
  private var remark: String? {
    let before = first.costs.counters
    let after = second.costs.counters
    guard before.faults == after.faults, after.misses < before.misses else { return nil }
    return after.misses == 0
      ? "same faults, none of them reached the database"
      : "same faults, fewer of them reached the database"
  }

  private func row(_ name: String, _ before: String, _ after: String) -> String {
    "  " + NumberText.left(name, 8) + NumberText.right(before, 9) + NumberText.right(after, 9)
  }
}
