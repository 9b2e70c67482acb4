import Foundation
import MoodyTestSupport
import Testing

@Suite("Everything goes wrong")
struct ChaosTests {
  /// The seeds: 30 of them, or as the environment says.
  static var seeds: Range<Int> {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["CDPROF_RANDOM_FIRST"].flatMap(Int.init) ?? 1
    return first..<first + (environment["CDPROF_RANDOM_SEEDS"].flatMap(Int.init) ?? 30)
  }

  @Test("Two clients and the server end with the moods that the users left", arguments: seeds)
  func clientsAndServerAgree(seed: Int) async {
    let steps = Array(0..<60)
    guard let failure = ChaosRun.failure(seed: seed, steps: steps) else { return }
    let shortest = await shortestFailure(steps, failure, attempts: 10) {
      ChaosRun.failure(seed: seed, steps: $0)
    }
    Issue.record("seed \(seed): \(shortest)")
  }

  @Test("A failure is shortened to the steps that it needs")
  func failureIsShortened() async {
    let failure = await shortestFailure(Array(0..<60), "all") { steps in
      steps.contains(7) && steps.contains(41) ? "\(steps)" : nil
    }
    #expect(failure == "[7, 41]")
  }

  @Test("A server that loses removals is found, with a script of a few steps", arguments: 1...3)
  func plantedFaultIsFoundAndShortened(seed: Int) async throws {
    var server = ChaosServer()
    server.losesRemovals = true
    func failure(_ steps: [Int]) -> String? {
      ChaosRun.failure(seed: seed, steps: steps, server: server)
    }
    let steps = Array(0..<60)
    let script = await shortestFailure(steps, try #require(failure(steps)), failure)
    // An insertion and a deletion are enough. The contexts' queues run at their own pace, so a step
    // can remain that the failure doesn't need.
    let lines = script.components(separatedBy: "the network works")[0].split(separator: "\n")
      .filter { $0.hasPrefix("client ") && !$0.contains(" has ") }
    let message = Comment(rawValue: script)
    #expect(script.contains("the server has ["), message)
    #expect(lines.contains { $0.contains(": insert ") }, message)
    #expect(lines.contains { $0.contains(": delete ") }, message)
    #expect(lines.count <= 6, message)
  }
}
