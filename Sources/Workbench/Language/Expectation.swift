/// That a metric obeys a law.
package struct Expectation: Sendable, Equatable {
  package var metric: MetricReference
  package var law: Law
  package var source: SourceMark
  /// The line it is written on.
  package var line: Int

  package init(metric: MetricReference, law: Law, source: SourceMark, line: Int) {
    self.metric = metric
    self.law = law
    self.source = source
    self.line = line
  }

  package static func == (first: Expectation, second: Expectation) -> Bool {
    first.metric == second.metric && first.law == second.law && first.source == second.source
  }
}
