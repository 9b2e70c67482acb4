package import OpenCoreData

/// What the sections of a log may cost.
package struct LogBudget: Sendable {
  /// One section and what is expected of it.
  package struct Section: Sendable {
    package var name: String
    package var expect: ExpectBlock
    /// The line it begins on.
    package var line: Int
    /// The steps of a scenario's variant that have expectations of their own, which no log tells.
    package var judgedSteps: [String] = []
  }

  /// The file as it was given.
  package var path: String
  package var model: NSManagedObjectModel
  package var sections: [Section]
  /// The rows of entities that laws name.
  package var scope: LawScope
  /// Whether it is a scenario, whose variants are the sections: what no log tells is then left out.
  package var isScenario: Bool
  /// Findings that the scenario keeps quiet.
  package var silence: [Silence] = []
}
