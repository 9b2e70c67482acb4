import OpenCoreData
import Testing

@Suite("Random operations agree with a naive reference store")
struct RandomOperationTests {
  /// `CDPROF_RANDOM_SEEDS` seeds from `CDPROF_RANDOM_FIRST`; 12 from 1 by default.
  static let seeds: [UInt64] = {
    let environment = ProcessInfo.processInfo.environment
    let first = UInt64(environment["CDPROF_RANDOM_FIRST"] ?? "") ?? 1
    let count = UInt64(environment["CDPROF_RANDOM_SEEDS"] ?? "") ?? 12
    return Array(first..<(first + max(count, 1)))
  }()

  @Test(
    "Values, both sides of relationships, fetches, cache entries and counters", arguments: seeds)
  func randomOperations(seed: UInt64) throws {
    try RandomWalk(seed: seed).walk(steps: 150)
  }
}
