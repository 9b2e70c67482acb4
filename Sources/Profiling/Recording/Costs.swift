import OpenCoreData
package import ProfileEvents
import WorkbenchText

/// What a piece of work cost: exact counts, and a time that is only this machine's.
package struct Costs: Sendable, Equatable {
  package var counters: Counters
  package var nanoseconds: UInt64

  package init(counters: Counters = Counters(), nanoseconds: UInt64 = 0) {
    self.counters = counters
    self.nanoseconds = nanoseconds
  }

  /// `5,060 SELECTs   5,060 rows   5,060 faults: 0 hits, 5,060 misses   47 ms`, in columns that
  /// stand under one another from line to line.
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

  /// The line with what was done before it: `  moods: 5,000 Mood, all faults   1 SELECT …`.
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
