import Foundation

/// What contexts of several processes wrote to a store, and what they saw.
///
/// `check(_:)` compares it with the only order of commits in which it's possible: a read sees the
/// commits up to one of them and nothing of the others, that one isn't before a commit that
/// returned before the read began, and a save didn't overwrite what its context hasn't read.
struct CommitHistory: Codable, Sendable {
  /// A save of registers, and of a row for the commit in the same transaction.
  struct Write: Codable, Sendable {
    let commit: Int
    let begin: UInt64
    let end: UInt64
    /// The registers, with the commits whose values the context had read.
    let replaced: [Int: Int]
    let succeeded: Bool
  }

  /// The values of all registers, as one context saw them.
  struct Read: Codable, Sendable {
    let context: Int
    let begin: UInt64
    let end: UInt64
    let registers: [Int: Int]
    /// The commits that the context saw, of a query generation; `nil` if only registers were read.
    let commits: Int?
  }

  var writes: [Write] = []
  var reads: [Read] = []

  /// The time on a clock that all processes have.
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Returns what can't be explained by an order of commits; empty if everything can.
  ///
  /// - Parameters:
  ///   - order: The commits in the order of the store's history.
  ///   - keys: The registers, all of which begin as 0.
  func check(_ order: [Int], keys: Range<Int>) -> [String] {
    let positions = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0 + 1) })
    let byCommit = Dictionary(uniqueKeysWithValues: writes.map { ($0.commit, $0) })
    var problems: [String] = []
    var states = [Dictionary(uniqueKeysWithValues: keys.map { ($0, 0) })]
    for commit in order {
      var state = states[states.count - 1]
      guard let write = byCommit[commit] else { return ["commit \(commit) wasn't made"] }
      for (key, old) in write.replaced {
        if state[key] != old { problems.append("commit \(commit) overwrote \(key) unread") }
        state[key] = commit
      }
      states.append(state)
    }
    for write in writes where write.succeeded != (positions[write.commit] != nil) {
      problems.append(
        "commit \(write.commit) is \(write.succeeded ? "lost" : "there after its error")")
    }
    // The latest commit that had returned at a time, and the latest that had begun.
    let stored = writes.filter { positions[$0.commit] != nil }
    let (returned, begun) = (
      Self.latest(stored.map { ($0.end, positions[$0.commit] ?? 0) }),
      Self.latest(stored.map { ($0.begin, positions[$0.commit] ?? 0) })
    )
    var last: [Int: Int] = [:]
    for read in reads.sorted(by: { $0.begin < $1.begin }) {
      let first = max(returned(read.begin), last[read.context] ?? 0)
      let possible = first...max(first, begun(read.end))
      let seen = read.commits.map { $0...$0 } ?? possible
      guard let found = seen.first(where: { possible.contains($0) && states[$0] == read.registers })
      else {
        problems.append("context \(read.context) saw \(read.registers), commits \(seen)")
        continue
      }
      last[read.context] = found
    }
    return problems
  }

  /// Returns a function of time: the largest number among those of earlier times.
  private static func latest(_ events: [(time: UInt64, number: Int)]) -> (UInt64) -> Int {
    var largest = 0
    let steps = events.sorted { $0.time < $1.time }.map { event in
      largest = max(largest, event.number)
      return (time: event.time, number: largest)
    }
    return { time in
      var (low, high) = (0, steps.count)
      while low < high {
        let middle = (low + high) / 2
        if steps[middle].time < time { low = middle + 1 } else { high = middle }
      }
      return low == 0 ? 0 : steps[low - 1].number
    }
  }
}
