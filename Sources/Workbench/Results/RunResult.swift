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
  package var environment: RunEnvironment
  /// The command that repeats the run.
  package var command: String

  package init(
    scenario: String, file: String, chapter: Int? = nil, story: String = "",
    covers: [CatalogueReference] = [], seed: UInt64, scale: Int, data: [EntityCount] = [],
    variants: [VariantResult], environment: RunEnvironment, command: String
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
    self.environment = environment
    self.command = command
    tryCures()
  }

  /// Whether every expectation of every variant was met.
  package var holds: Bool { variants.allSatisfy(\.holds) }

  /// Variants whose expectations were all met.
  package var heldVariants: Int { variants.count { $0.holds } }

  /// The expectations of all variants.
  package var expectations: Int { variants.reduce(0) { $0 + $1.expectations.count } }

  /// Expectations that were met.
  package var heldExpectations: Int {
    variants.reduce(0) { $0 + $1.expectations.count { $0.holds } }
  }

  /// `6 of 6 variants, 23 of 23 expectations`.
  package var verdict: String {
    "\(heldVariants) of \(variants.count) variants, "
      + "\(NumberText.grouped(heldExpectations)) of \(NumberText.grouped(expectations)) expectations"
  }
}
