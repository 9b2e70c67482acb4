import ManagedModel
package import ProfileEvents
import WorkbenchText

/// The cost of a piece of work: exact counts, and a time that depends on the machine.
package struct TimedCosts: Sendable, Equatable {
  package var counters: Counters
  package var nanoseconds: UInt64

  package init(counters: Counters = Counters(), nanoseconds: UInt64 = 0) {
    self.counters = counters
    self.nanoseconds = nanoseconds
  }

  /// The costs in aligned columns.
  ///
  /// For example: `5,060 SELECTs   5,060 rows   5,060 faults: 0 hits, 5,060 misses   47 ms`
  package var line: String {
    var parts = [
      NumberText.right(counters.selects, 5) + " "
        + NumberText.left(PluralForm.of(counters.selects, "SELECT"), 7),
      NumberText.right(counters.rows, 5) + " "
        + NumberText.left(PluralForm.of(counters.rows, "row"), 4),
      NumberText.right(counters.faults, 5) + " " + NumberText.left(faultText, 28),
    ]
    for (count, word) in writes where count > 0 {
      parts.append(NumberText.counted(count, word))
    }
    parts.append(NumberText.right(NumberText.time(nanoseconds), 5))
    return parts.joined(separator: "   ")
  }

  /// Returns the costs after a summary of the work: `  moods: 5,000 Mood, all faults   1 SELECT …`.
  package func line(after summary: String) -> String {
    "  " + NumberText.left(summary, 36) + "   " + line
  }

  private var writes: [(Int, String)] {
    [
      (counters.saves, "save"), (counters.inserts, "INSERT"), (counters.updates, "UPDATE"),
      (counters.deletes, "DELETE"), (counters.transactions, "transaction"),
    ]
  }

  private var faultText: String {
    guard counters.faults > 0 else { return "faults" }
    let parent = counters.objectFaultsFromParent + counters.relationshipFaultsFromParent
    return "\(PluralForm.of(counters.faults, "fault")): "
      + NumberText.counted(counters.hits, "hit") + ", "
      + NumberText.counted(counters.misses, "miss", "misses")
      + (parent == 0 ? "" : ", \(NumberText.grouped(parent)) from the parent")
  }
}

/// A comparison of the costs of two pieces of work, which the shell's `diff` prints.
package struct CostComparison: Sendable {
  /// One side of the comparison, with the name above its column.
  package struct Side: Sendable {
    package var name: String
    package var costs: TimedCosts

    package init(name: String, costs: TimedCosts) {
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

  /// The lines of the comparison: a header, one line per metric with both values and their
  /// difference, and the times.
  ///
  /// Saves, writing statements, and transactions are included only if either side has some.
  package var lines: [String] {
    var rows: [Row] = [("", first.name, second.name, "")]
    for metric in shown {
      let before = first.costs.counters[metric] ?? 0
      let after = second.costs.counters[metric] ?? 0
      var end = ""
      if after != before {
        end += "   \(after < before ? "-" : "+") \(NumberText.grouped(abs(after - before)))"
      }
      if metric == .misses, let note { end += "      \(note)" }
      rows.append(
        (metric.rawValue, NumberText.grouped(before), NumberText.grouped(after), end))
    }
    rows.append(
      (
        "time", NumberText.time(first.costs.nanoseconds),
        NumberText.time(second.costs.nanoseconds), "   (this machine; informational)"
      ))
    return aligned(rows)
  }

  private var shown: [Metric] {
    let writing = [.saves, .inserts, .updates, .deletes, .transactions] as [Metric]
    return [.selects, .rows, .faults, .misses]
      + writing.filter { metric in
        [first, second].contains { ($0.costs.counters[metric] ?? 0) != 0 }
      }
  }

  /// A note on the faults if both sides have the same number and the second has fewer misses;
  /// otherwise, `nil`.
  private var note: String? {
    let before = first.costs.counters
    let after = second.costs.counters
    guard before.faults == after.faults, after.misses < before.misses else { return nil }
    return after.misses == 0
      ? "same faults, none of them reached the database"
      : "same faults, fewer of them reached the database"
  }

  /// A name, the values of both sides, and what follows them.
  private typealias Row = (name: String, before: String, after: String, end: String)

  /// Returns rows in columns, at least one space apart.
  private func aligned(_ rows: [Row]) -> [String] {
    let name = max(8, rows.map { TextWidth.of($0.name) }.max() ?? 0)
    let before = max(9, (rows.map { TextWidth.of($0.before) }.max() ?? 0) + 1)
    let after = max(9, (rows.map { TextWidth.of($0.after) }.max() ?? 0) + 1)
    return rows.map { row in
      "  " + NumberText.left(row.name, name) + NumberText.right(row.before, before)
        + NumberText.right(row.after, after) + row.end
    }
  }
}
