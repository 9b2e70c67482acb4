import OpenCoreData
import Testing

@Suite("Random operations match a reference implementation")
struct RandomOperationTests {
  /// `CDPROF_RANDOM_SEEDS` seeds, 8 by default, starting with `CDPROF_RANDOM_FIRST`, 1 by default.
  static let seeds: [UInt64] = {
    let first = number("CDPROF_RANDOM_FIRST") ?? 1
    return Array(first..<(first + max(number("CDPROF_RANDOM_SEEDS") ?? 8, 1)))
  }()

  /// Steps per walk: `CDPROF_WALK_STEPS`, or 300; `make walk` runs 10,000.
  static let steps = Int(number("CDPROF_WALK_STEPS") ?? 300)

  @Test(
    "Two contexts of one store: values, relationships, change state, faults, and conflicts",
    arguments: seeds, StoreKind.ofRows)
  func randomOperationsMatchTheReference(seed: UInt64, kind: StoreKind) throws {
    try RandomWalk(seed: seed, on: kind).walk(steps: RandomOperationTests.steps)
  }

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }
}
