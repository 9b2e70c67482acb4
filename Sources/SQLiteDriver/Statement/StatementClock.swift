/// The switch a connection and its statements share: whether steps are timed.
final class StatementClock {
  // The connection's thread alone reads and writes it.
  @exclusivity(unchecked) var isRunning = false
}
