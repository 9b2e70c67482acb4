import Foundation
import MoodyTestSupport
import Testing

@Suite("Processes are killed, clocks jump, and the network fails", .serialized)
struct ProcessChaosTests {
  /// The values of the environment by which a longer run is started.
  private static func number(_ name: String, default value: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap(Int.init).map { max(1, $0) } ?? value
  }

  static let seeds: Range<Int> = {
    let first = number("CHAOS_FIRST", default: 1)
    return first..<first + number("CHAOS_SEEDS", default: 2)
  }()

  @Test(
    "A server and two clients end with the moods that the users left",
    .timeLimit(.minutes(120)), arguments: seeds)
  func serverAndClientsAgree(seed: Int) async throws {
    var plan = ProcessChaosRun.Plan(seed: seed)
    plan.longestPartition = Double(max(3, Self.number("CHAOS_PARTITION", default: 5)))
    let steps = Array(0..<Self.number("CHAOS_STEPS", default: 20))
    guard let failure = try await ProcessChaosRun.failure(plan, steps: steps) else { return }
    let shortest = try await shortestFailure(steps, failure, attempts: 3) {
      try await ProcessChaosRun.failure(plan, steps: $0)
    }
    let again = "CHAOS_FIRST=\(seed) CHAOS_SEEDS=1 CHAOS_STEPS=\(steps.count) make server"
    Issue.record("seed \(seed); again: \(again)\n\(shortest)")
  }

  @Test(
    "A server that loses what it has answered is found, with a script of a few steps",
    .timeLimit(.minutes(30)),
    arguments: [(FaultyProxy.Fault.losesUploads, "add", 4), (.losesRemovals, "delete", 10)])
  func plantedFaultIsFoundAndShortened(
    fault: FaultyProxy.Fault, command: String, steps: Int
  ) async throws {
    let steps = Array(0..<steps)
    var found: (plan: ProcessChaosRun.Plan, failure: String)?
    for seed in 1...10 where found == nil {
      let plan = ProcessChaosRun.Plan(seed: seed, fault: fault)
      found = try await ProcessChaosRun.failure(plan, steps: steps).map { (plan, $0) }
    }
    let (plan, failure) = try #require(found)
    // The order in which processes run isn't the same each time.
    let script = try await shortestFailure(steps, failure, attempts: 3) {
      try await ProcessChaosRun.failure(plan, steps: $0)
    }
    let message = Comment(rawValue: script)
    #expect(script.contains(": \(command) "), message)
    let count = script.split(separator: "\n").filter { $0.hasPrefix("step ") }.count
    #expect((1...4).contains(count), message)
  }
}
