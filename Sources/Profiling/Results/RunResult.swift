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
  package var covers: [CatalogueReference]
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
    covers: [CatalogueReference] = [], seed: UInt64, scale: Int, data: [EntityCount] = [],
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
    tryCures()
  }

  /// The run of a scenario at several scales: the first is told in full, the others in numbers.
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
