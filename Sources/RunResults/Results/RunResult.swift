package import ProfileEvents
package import ScenarioLanguage
package import WorkbenchText

/// The complete result of running a scenario, from which all reports are generated.
package struct RunResult: Sendable {
  /// The scenario's name.
  package var scenario: String
  /// The path of the scenario file, as specified by the user.
  package var file: String
  package var chapter: Int?
  package var story: String
  /// The author's sentence about the result, with its values; `nil` to generate one.
  package var headline: String?
  /// The metric that reports show with bars; `nil` for the one in which the variants differ most.
  package var metric: ScopedMetric?
  /// The questions for the reader, with their answers.
  package var predictions: [PredictionResult] = []
  /// The task for the reader; `nil` if there's none.
  package var exercise: ExerciseText?
  package var covers: [CatalogReference]
  package var seed: UInt64
  package var scale: Int
  /// The row counts of the data, in the scenario's order.
  package var data: [EntityCount]
  /// The results of the variants, in the scenario's order.
  package var variants: [VariantResult]
  /// The results at the other scales, in the order in which the scales were requested.
  package var scales: [ScaledRun]
  package var environment: RunEnvironment
  /// The engine of the run, or `nil` for SQLite.
  package var engine: EngineDescription?
  /// The command that repeats the run.
  package var command: String

  package init(
    scenario: String, file: String, chapter: Int? = nil, story: String = "",
    covers: [CatalogReference] = [], seed: UInt64, scale: Int, data: [EntityCount] = [],
    variants: [VariantResult], scales: [ScaledRun] = [], environment: RunEnvironment,
    command: String
  ) {
    self.scenario = scenario
    self.file = file
    self.chapter = chapter
    self.story = story
    self.covers = covers
    self.seed = seed
    self.scale = scale
    self.data = data
    self.variants = variants
    self.scales = scales
    self.environment = environment
    self.command = command
  }

  /// Joins the runs of a scenario at several scales: the first completely, the others as numbers.
  ///
  /// - Parameter runs: The runs of the same scenario, at least one.
  package init(joining runs: [RunResult]) {
    guard !runs.isEmpty else { fatalError("a run has at least one scale") }
    self = runs[0]
    scales += runs.dropFirst().map(ScaledRun.init)
  }

  /// Whether all expectations of all variants are met at all scales.
  package var passes: Bool {
    variants.allSatisfy(\.passes) && scales.allSatisfy(\.passes)
  }

  /// The number of variants whose expectations are all met at all scales.
  package var passingVariants: Int {
    variants.count { variant in
      variant.passes
        && scales.allSatisfy { $0.variants.first { $0.name == variant.name }?.passes ?? true }
    }
  }

  /// The number of expectations of all variants at all scales that were evaluated.
  package var expectations: Int { allExpectations.count { $0.obstacle == nil } }

  /// The number of expectations that the engine of the run doesn't allow to be evaluated.
  package var unevaluatedExpectations: Int { allExpectations.count - expectations }

  /// The number of expectations that are met.
  package var metExpectations: Int { allExpectations.count { $0.isMet } }

  private var allExpectations: [ExpectationResult] {
    variants.flatMap(\.expectations) + scales.flatMap(\.variants).flatMap(\.expectations)
  }

  /// The number of variants and expectations that are met,
  /// `6 of 6 variants, 23 of 23 expectations`, the number of those that weren't evaluated, and the
  /// number of scales if there are several.
  package var summary: String {
    NumberText.counted(passingVariants, of: variants.count, "variant") + ", "
      + NumberText.counted(metExpectations, of: expectations, "expectation")
      + (scales.isEmpty ? "" : " at \(scales.count + 1) scales")
      + (unevaluatedExpectations == 0
        ? "" : ", \(NumberText.grouped(unevaluatedExpectations)) not evaluated")
  }
}

/// The result of a scenario at an additional scale: only the numbers, for charts and expectations.
package struct ScaledRun: Sendable, Equatable {
  /// The result of one variant at this scale.
  package struct Variant: Sendable, Equatable {
    package var name: String
    package var metrics: [Metric: Int]
    package var scopedMetrics: [ScopedMetric: Int]
    /// The duration of all steps, which is informational and never fails a run.
    package var nanoseconds: UInt64
    /// The duration of each iteration; empty if there was only one.
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

    /// Whether all expectations are met.
    package var passes: Bool { !expectations.contains(where: \.isUnmet) }

    /// Returns the value of a metric, or `nil` if it wasn't measured.
    package func value(of metric: ScopedMetric) -> Int? {
      metric.scope == .all ? metrics[metric.metric] : scopedMetrics[metric]
    }
  }

  package var scale: Int
  package var data: [EntityCount]
  package var variants: [Variant]

  package init(scale: Int, data: [EntityCount], variants: [Variant]) {
    self.scale = scale
    self.data = data
    self.variants = variants
  }

  /// Creates the result from the numbers of a complete run.
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

  /// Whether all expectations are met.
  package var passes: Bool { variants.allSatisfy(\.passes) }
}
