package import ManagedModel

/// The expectations for the sections of a log.
package struct LogBudget: Sendable {
  /// A section and its expectations.
  package struct Section: Sendable {
    package var name: String
    package var expect: ExpectBlock
    /// The line number of the section.
    package var line: Int
    /// The steps of a scenario's variant that have their own expectations, which a log can't show.
    package var stepsWithExpectations: [String]

    /// Creates a section.
    package init(
      name: String, expect: ExpectBlock, line: Int, stepsWithExpectations: [String] = []
    ) {
      self.name = name
      self.expect = expect
      self.line = line
      self.stepsWithExpectations = stepsWithExpectations
    }
  }

  /// The path of the file as it was given.
  package var path: String
  package var model: NSManagedObjectModel
  package var sections: [Section]
  /// The row counts of the entities that formulas use.
  package var scope: CountExpressionScope
  /// Whether the file is a scenario.
  ///
  /// The variants of a scenario are the sections, and expectations that a log can't show are
  /// skipped.
  package var isScenario: Bool
  /// The findings that the scenario suppresses.
  package var silence: [FindingSuppression]

  /// Creates a budget.
  package init(
    path: String, model: NSManagedObjectModel, sections: [Section], scope: CountExpressionScope,
    isScenario: Bool, silence: [FindingSuppression] = []
  ) {
    self.path = path
    self.model = model
    self.sections = sections
    self.scope = scope
    self.isScenario = isScenario
    self.silence = silence
  }
}
