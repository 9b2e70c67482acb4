package import ProfileEvents
package import ScenarioLanguage
package import WorkbenchText

/// Everything a run of a scenario found out; the reports are made of it and of nothing else.
package struct RunResult: Sendable {
  /// The scenario's name.
  package var scenario: String
  /// The scenario's file as it was given.
  package var file: String
  package var chapter: Int?
  package var story: String
  package var covers: [CatalogReference]
  package var seed: UInt64
  package var scale: Int
  /// In the scenario's order.
  package var data: [EntityCount]
  /// In the scenario's order, which is the lesson.
  package var variants: [VariantResult]
  /// What the run gave at its other scales, in the order in which they were asked for.
  package var scales: [ScaledRun]
  package var environment: RunEnvironment
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

  /// The run of a scenario at several scales: the first in full, the others in numbers.
  ///
  /// - Parameter runs: at least one, of the same scenario.
  package init(joining runs: [RunResult]) {
    precondition(!runs.isEmpty, "a run has at least one scale")
    self = runs[0]
    scales += runs.dropFirst().map(ScaledRun.init)
  }

  /// Whether every expectation of every variant was met, at every scale.
  package var holds: Bool {
    variants.allSatisfy(\.holds) && scales.allSatisfy(\.holds)
  }

  /// Variants whose expectations were all met, at every scale.
  package var heldVariants: Int {
    variants.count { variant in
      variant.holds
        && scales.allSatisfy { $0.variants.first { $0.name == variant.name }?.holds ?? true }
    }
  }

  /// The expectations of all variants at all scales.
  package var expectations: Int { allExpectations.count }

  /// Expectations that were met.
  package var heldExpectations: Int { allExpectations.count { $0.holds } }

  private var allExpectations: [ExpectationResult] {
    variants.flatMap(\.expectations) + scales.flatMap(\.variants).flatMap(\.expectations)
  }

  /// `6 of 6 variants, 23 of 23 expectations`, and at how many scales when there are several.
  package var verdict: String {
    NumberText.counted(heldVariants, of: variants.count, "variant") + ", "
      + NumberText.counted(heldExpectations, of: expectations, "expectation")
      + (scales.isEmpty ? "" : " at \(scales.count + 1) scales")
  }
}

/// What a run depended on besides its scenario.
package struct RunEnvironment: Sendable, Equatable, Codable {
  package var cdprof: String
  package var sqlite: String
  package var swift: String
  /// Operating system, processor and number of cores, in words.
  package var machine: String
  /// `release` or `debug`; times of a debug build mean nothing.
  package var build: String

  package init(cdprof: String, sqlite: String, swift: String, machine: String, build: String) {
    self.cdprof = cdprof
    self.sqlite = sqlite
    self.swift = swift
    self.machine = machine
    self.build = build
  }
}

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
