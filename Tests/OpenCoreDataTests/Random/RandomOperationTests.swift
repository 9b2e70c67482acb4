import OpenCoreData
import Testing

@Suite("Random operations agree with plain dictionaries")
struct RandomOperationTests {
  /// `CDPROF_RANDOM_SEEDS` seeds from `CDPROF_RANDOM_FIRST`; 8 from 1 by default.
  static let seeds: [UInt64] = {
    let first = number("CDPROF_RANDOM_FIRST") ?? 1
    return Array(first..<(first + max(number("CDPROF_RANDOM_SEEDS") ?? 8, 1)))
  }()

  /// `CDPROF_WALK_STEPS` steps a walk; `make walk` takes 10,000.
  static let steps = Int(number("CDPROF_WALK_STEPS") ?? 300)

  @Test(
    "Two contexts over one store: values, both sides of relationships, marks, faults, conflicts",
    arguments: seeds, StoreKind.ofRows)
  func randomOperationsMatchTheReference(seed: UInt64, kind: StoreKind) throws {
    try RandomWalk(seed: seed, on: kind).walk(steps: RandomOperationTests.steps)
  }

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }
}
