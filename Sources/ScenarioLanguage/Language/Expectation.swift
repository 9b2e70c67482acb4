/// That a metric obeys a law.
package struct Expectation: Sendable, Equatable {
  /// As written.
  package var metric: MetricReference
  /// As understood: what the brackets name is known.
  package var scoped: ScopedMetric
  package var law: Law
  package var source: SourceMark
  /// The line it is written on.
  package var line: Int

  package init(
    metric: MetricReference, scoped: ScopedMetric, law: Law, source: SourceMark, line: Int
  ) {
    self.metric = metric
    self.scoped = scoped
    self.law = law
    self.source = source
    self.line = line
  }

  package static func == (first: Expectation, second: Expectation) -> Bool {
    first.scoped == second.scoped && first.law == second.law && first.source == second.source
  }
}
