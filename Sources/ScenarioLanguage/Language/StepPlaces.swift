package import WorkbenchText

/// Where the parts of a step were written, for the carets of checks that need the model.
package struct StepPlaces: Sendable {
  /// The verb.
  package var verb: SourcePlace
  package var subject: SourcePlace?
  package var name: SourcePlace?
  /// One for each of the step's `reads`.
  package var reads: [SourcePlace] = []
  /// The words of each option's value: one a list element, key and value in turn for assignments.
  package var options: [OptionWord: [Word]] = [:]

  package init(verb: SourcePlace) {
    self.verb = verb
  }

  /// The place of a word of an option's value; the verb's when the option was not written.
  package func place(of option: OptionWord, at index: Int = 0) -> SourcePlace {
    guard let words = options[option], index < words.count else { return verb }
    return words[index].place
  }
}
