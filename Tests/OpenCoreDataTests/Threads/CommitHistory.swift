import Foundation

/// What contexts of several processes wrote to a store, and what they saw.
///
/// `check(_:from:to:)` compares it with the only order of commits in which it's possible: a read
/// sees the commits up to one of them and nothing of the others, that one isn't before a commit
/// that returned before the read began, a save didn't overwrite what its context hasn't read, and a
/// batch request changed as many rows as were there.
struct CommitHistory: Codable, Sendable {
  /// A row with a value.
  struct Register: Codable, Equatable, Sendable {
    /// The commit that inserted the row; 0 in the beginning.
    var row = 0
    /// The commit that wrote the value.
    var value = 0
  }

  /// The content of the store.
  struct State: Codable, Equatable, Sendable {
    /// The registers that exist, by key.
    var registers: [Int: Register] = [:]
    /// The number of entries of each context; none if it's 0.
    var entries: [Int: Int] = [:]

    /// The number of all entries.
    var entryCount: Int { entries.values.reduce(0, +) }
  }

  /// A save or a batch request, each of which is one transaction.
  struct Write: Codable, Sendable {
    /// The number of the commit, which is also the author of the transaction.
    let commit: Int
    let context: Int
    /// The registers that a save changes, as its context had read them; `nil` for those it inserts.
    var replaced: [Int: Register?] = [:]
    /// The registers that a batch request changes, or a save whose merge policy overwrites them, if
    /// they exist.
    var unread: [Int] = []
    /// Whether the registers are deleted, instead of set to the commit's number.
    var isDeletion = false
    /// The number of entries that are inserted; `nil` if all entries of the context are deleted.
    var entries: Int? = 0
    /// The number of rows that a batch request reports.
    var rows: Int?
    var begin: UInt64 = 0
    var end: UInt64 = 0
    var succeeded = true
  }

  /// The values of all registers, as one context saw them.
  struct Read: Codable, Sendable {
    let context: Int
    let begin: UInt64
    let end: UInt64
    let registers: [Int: Register]
    /// The number of entries, of a query generation; `nil` if only registers were read.
    let entryCount: Int?
  }

  var writes: [Write] = []
  var reads: [Read] = []
  /// The number of migrations that failed because the store was open.
  var rejectedMigrations = 0

  /// The time on a clock that all processes have.
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  static func + (first: Self, second: Self) -> Self {
    CommitHistory(
      writes: first.writes + second.writes, reads: first.reads + second.reads,
      rejectedMigrations: first.rejectedMigrations + second.rejectedMigrations)
  }

  /// Returns what can't be explained by an order of commits; empty if everything can.
  ///
  /// - Parameters:
  ///   - order: The commits in the order of the store's history.
  ///   - first: The content before the first commit.
  ///   - last: The content after the last one.
  func check(_ order: [Int], from first: State, to last: State) -> [String] {
    let positions = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0 + 1) })
    let byCommit = Dictionary(uniqueKeysWithValues: writes.map { ($0.commit, $0) })
    var problems: [String] = []
    var states = [first]
    for commit in order {
      guard let write = byCommit[commit] else { return ["commit \(commit) wasn't made"] }
      states.append(states[states.count - 1].after(write, &problems))
    }
    if states[states.count - 1] != last {
      problems.append("the store contains \(last), not \(states[states.count - 1])")
    }
    for write in writes where write.isExpected != (positions[write.commit] != nil) {
      problems.append(
        "\(write) is \(write.succeeded ? "lost" : "there after its error")")
    }
    return problems + unexplainedReads(states, positions)
  }

  private func unexplainedReads(_ states: [State], _ positions: [Int: Int]) -> [String] {
    // The latest commit that had returned at a time, and the latest that had begun.
    let stored = writes.filter { positions[$0.commit] != nil }
    let (returned, begun) = (
      Self.latest(stored.map { ($0.end, positions[$0.commit] ?? 0) }),
      Self.latest(stored.map { ($0.begin, positions[$0.commit] ?? 0) })
    )
    var problems: [String] = []
    var last: [Int: Int] = [:]
    for read in reads.sorted(by: { $0.begin < $1.begin }) {
      let first = max(returned(read.begin), last[read.context] ?? 0)
      let possible = first...max(first, begun(read.end))
      guard let found = possible.first(where: { states[$0].isSeen(by: read) }) else {
        // Tells a stale read from one that mixes two states.
        let known = states.indices.filter { states[$0].registers == read.registers }
        let counted = states.indices.filter { states[$0].entryCount == read.entryCount }
        problems.append(
          "context \(read.context) saw \(read), possible commits \(possible), the registers after "
            + "\(known), the entries after \(counted)")
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

extension CommitHistory.Write {
  /// Whether the store's history contains the commit, which isn't so if it changed no row.
  fileprivate var isExpected: Bool { succeeded && rows != 0 }
}

extension CommitHistory.State {
  fileprivate func isSeen(by read: CommitHistory.Read) -> Bool {
    registers == read.registers && (read.entryCount.map { $0 == entryCount } ?? true)
  }

  /// Returns the content after a commit.
  fileprivate func after(_ write: CommitHistory.Write, _ problems: inout [String]) -> Self {
    var next = self
    for (key, old) in write.replaced {
      let current = registers[key]
      // Deleting a row that's already deleted isn't a conflict.
      if write.isDeletion, let old, current?.row != old.row { continue }
      if current != old { problems.append("commit \(write.commit) overwrote \(key) unread") }
      next.registers[key] =
        write.isDeletion
        ? nil : CommitHistory.Register(row: old?.row ?? write.commit, value: write.commit)
    }
    let found = write.unread.filter { registers[$0] != nil }
    for key in found {
      if write.isDeletion {
        next.registers[key] = nil
      } else {
        next.registers[key]?.value = write.commit
      }
    }
    let own = entries[write.context] ?? 0
    let entries = write.entries.map { own + $0 } ?? 0
    next.entries[write.context] = entries == 0 ? nil : entries
    let changed = found.count + abs(entries - own)
    if let rows = write.rows, rows != changed {
      problems.append("commit \(write.commit) reports \(rows) rows, not \(changed)")
    }
    return next
  }
}
