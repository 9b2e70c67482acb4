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
  /// By the number of a statement: how often it was run here.
  package var calls: [Int: Int]

  package init(
    name: String, firstLine: Int, lastLine: Int, firstTime: String = "",
    costs: LogCosts = LogCosts(), storms: [LogStorm] = [], calls: [Int: Int] = [:]
  ) {
    self.name = name
    self.firstLine = firstLine
    self.lastLine = lastLine
    self.firstTime = firstTime
    self.costs = costs
    self.storms = storms
    self.calls = calls
  }
}
