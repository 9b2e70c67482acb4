import Foundation
import Testing

@Suite("Processes are killed, and the network fails", .serialized)
struct ProcessChaosTests {
  /// The seeds: 2 of them, or as the environment says.
  static var seeds: Range<Int> {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["CHAOS_FIRST"].flatMap(Int.init) ?? 1
    return first..<first + (environment["CHAOS_SEEDS"].flatMap(Int.init) ?? 2)
  }

  @Test(
    "A server and two clients end with the moods that the users left", .timeLimit(.minutes(5)),
    arguments: seeds)
  func serverAndClientsAgree(seed: Int) async throws {
    guard let failure = try await ProcessChaosRun.failure(seed: seed, steps: 25) else { return }
    Issue.record("seed \(seed); again: CHAOS_FIRST=\(seed) CHAOS_SEEDS=1 make server\n\(failure)")
  }
}
