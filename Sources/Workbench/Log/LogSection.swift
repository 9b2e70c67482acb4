/// A part of a log between `cdprof: begin NAME` and the next such line, or `cdprof: end`.
package struct LogSection: Sendable, Equatable {
  package var name: String
  /// The line that begins it, counted from 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The time in front of that line, as the log has it.
  package var firstTime: String
  package var costs: LogCosts
  /// The largest first.
  package var storms: [LogStorm]

  package init(
    name: String, firstLine: Int, lastLine: Int, firstTime: String = "",
    costs: LogCosts = LogCosts(), storms: [LogStorm] = []
  ) {
    self.name = name
    self.firstLine = firstLine
    self.lastLine = lastLine
    self.firstTime = firstTime
    self.costs = costs
    self.storms = storms
  }
}
