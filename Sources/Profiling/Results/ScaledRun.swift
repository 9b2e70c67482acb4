package import ProfileEvents
package import ScenarioLanguage
package import WorkbenchText

/// What a scenario gave at one more scale: numbers alone, for curves and expectations.
package struct ScaledRun: Sendable, Equatable {
  /// One variant at this scale.
  package struct Variant: Sendable, Equatable {
    package var name: String
    package var metrics: [Metric: Int]
    package var scopedMetrics: [ScopedMetric: Int]
    /// Time of all steps; never a gate.
    package var nanoseconds: UInt64
    /// Time of each repeat; empty when it ran once.
    package var repeats: [UInt64]
    package var expectations: [ExpectationResult]

    package init(
      name: String, metrics: [Metric: Int], scopedMetrics: [ScopedMetric: Int] = [:],
      nanoseconds: UInt64, repeats: [UInt64] = [], expectations: [ExpectationResult] = []
    ) {
      self.name = name
      self.metrics = metrics
      self.scopedMetrics = scopedMetrics
      self.nanoseconds = nanoseconds
      self.repeats = repeats
      self.expectations = expectations
    }

    /// Whether every expectation was met.
    package var holds: Bool { expectations.allSatisfy(\.holds) }
  }

  package var scale: Int
  package var data: [EntityCount]
  package var variants: [Variant]

  package init(scale: Int, data: [EntityCount], variants: [Variant]) {
    self.scale = scale
    self.data = data
    self.variants = variants
  }

  /// The numbers of a whole run.
  package init(_ run: RunResult) {
    scale = run.scale
    data = run.data
    variants = run.variants.map { variant in
      Variant(
        name: variant.name, metrics: variant.metrics, scopedMetrics: variant.scopedMetrics,
        nanoseconds: variant.nanoseconds, repeats: variant.repeats,
        expectations: variant.expectations)
    }
  }

  /// Whether every expectation was met.
  package var holds: Bool { variants.allSatisfy(\.holds) }
}
