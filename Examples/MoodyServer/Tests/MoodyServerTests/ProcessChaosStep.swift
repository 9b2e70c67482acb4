import Foundation
import MoodyTestSupport

/// What two users do at the same time, and what goes wrong meanwhile.
///
/// A step depends on the seed and its own number only, so that a failure's steps can be left out.
struct ProcessChaosStep {
  /// What a user does at a machine.
  enum Action {
    case add(color: String, country: String)
    /// Deletes one of the listed moods: the one with this number, starting over at the end.
    case delete(Int)
    case watch(milliseconds: Int)
    case rest(milliseconds: Int)
  }

  /// A user's action, and what happens to its process.
  struct Command {
    let action: Action
    /// How many seconds the process waits for the server.
    let wait: Double
    /// After how many milliseconds the process is killed.
    let killedAfter: Int?
  }

  /// What goes wrong.
  enum Event {
    case none
    case serverKilled(after: Int, milliseconds: Int)
    case partition(after: Int, seconds: Double)
    /// The clock of a machine, or of the server if it's 0, jumps.
    case clockJump(machine: Int, seconds: Int)
  }

  /// The commands of each machine's user.
  let commands: [Command]
  let event: Event

  /// Plans a step.
  ///
  /// - Parameters:
  ///   - number: The number of the step, from 0.
  ///   - machines: The number of machines.
  ///   - longestPartition: The maximum length of a network partition in seconds, at least 3. Nine of
  ///     ten partitions end within 2.5 seconds.
  init(seed: Int, number: Int, machines: Int, longestPartition: Double) {
    var generator = SeededGenerator(seed: seed &* 1_000_003 &+ number)
    commands = (0..<machines).map { machine in
      let action: Action =
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<38:
          .add(
            color: String(format: "%06x", number * machines + machine + 1),
            country: generator.chance(0.5) ? "FR" : "US")
        case 38..<66:
          // Often the latest, whose upload may still be on its way.
          .delete(generator.chance(0.75) ? 0 : Int.random(in: 0..<1_000, using: &generator))
        case 66..<84: .watch(milliseconds: Int.random(in: 0..<800, using: &generator))
        default: .rest(milliseconds: Int.random(in: 0..<400, using: &generator))
        }
      return Command(
        action: action, wait: Double.random(in: 0..<1.5, using: &generator),
        killedAfter: generator.chance(0.35) ? Int.random(in: 0..<400, using: &generator) : nil)
    }
    let after = Int.random(in: 0..<400, using: &generator)
    event =
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<15:
        .serverKilled(after: after, milliseconds: Int.random(in: 0..<600, using: &generator))
      case 15..<25:
        .partition(
          after: after,
          seconds: generator.chance(0.1)
            ? Double.random(in: 2.5..<longestPartition, using: &generator)
            : Double.random(in: 0.2..<2.5, using: &generator))
      case 25..<40:
        .clockJump(
          machine: Int.random(in: 0...machines, using: &generator),
          seconds: [-200_000, -1_000, -10, 10, 1_000, 200_000].randomElement(using: &generator) ?? 0
        )
      default: .none
      }
  }
}
