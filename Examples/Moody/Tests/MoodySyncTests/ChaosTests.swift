import Foundation
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
  func clientsAndServerAgree(seed: Int) {
    let steps = Array(0..<60)
    guard let failure = ChaosRun.failure(seed: seed, steps: steps) else { return }
    Issue.record(
      "seed \(seed): \(shortest(steps, failure) { ChaosRun.failure(seed: seed, steps: $0) })")
  }

  /// Returns the failure with the fewest steps that leaving out steps leads to, in at most 200 runs.
  ///
  /// Leaves out halves, quarters, and so on, as long as the rest still fails.
  private func shortest(
    _ steps: [Int], _ failure: String, _ run: ([Int]) -> String?
  ) -> String {
    var (steps, failure, runs, length) = (steps, failure, 0, steps.count / 2)
    while length > 0 {
      var start = 0
      while start < steps.count, runs < 200 {
        let end = min(start + length, steps.count)
        let rest = Array(steps[..<start] + steps[end...])
        runs += 1
        if let shorter = run(rest) {
          (steps, failure) = (rest, shorter)
        } else {
          start = end
        }
      }
      length /= 2
    }
    return failure
  }

  @Test("A failure is shortened to the steps that it needs")
  func failureIsShortened() {
    let failure = shortest(Array(0..<60), "all") { steps in
      steps.contains(7) && steps.contains(41) ? "\(steps)" : nil
    }
    #expect(failure == "[7, 41]")
  }

  @Test("A server that loses removals is found, with a script of a few steps", arguments: 1...3)
  func plantedFaultIsFoundAndShortened(seed: Int) throws {
    var server = ChaosServer()
    server.losesRemovals = true
    func failure(_ steps: [Int]) -> String? {
      ChaosRun.failure(seed: seed, steps: steps, server: server)
    }
    let steps = Array(0..<60)
    let script = shortest(steps, try #require(failure(steps)), failure)
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
