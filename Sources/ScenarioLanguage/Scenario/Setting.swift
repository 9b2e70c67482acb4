package import WorkbenchText

/// A variant's change of a shared step: `moods.values: no`.
package struct Setting: Sendable {
  /// The name of the step.
  package var target: String
  package var option: StepOption
  /// The words of the value, for carets.
  package var words: [Word]

  package init(target: String, option: StepOption, words: [Word]) {
    self.target = target
    self.option = option
    self.words = words
  }

  /// As a report prints it: `moods.values: no`.
  package var text: String {
    "\(target).\(option.word.rawValue): \(option.valueText)"
  }
}
