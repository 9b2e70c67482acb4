import ManagedModel

// A column of an attribute that allows external storage contains a marker byte before each value,
// or a file's name instead of a large one. So SQL can only tell whether a value is `nil`, and
// whether it equals a constant that's small enough for the row.

extension PredicateTranslation {
  /// Throws for a comparison that a column of external storage can't answer.
  func requireComparable(
    _ left: SQLOperand, _ right: SQLOperand, _ rules: ComparisonRules
  ) throws(TranslationError) {
    for (operand, other) in [(left, right), (right, left)] {
      guard case .attribute(_, let attribute) = operand, attribute.hasExternalValues else {
        continue
      }
      switch (rules.type, other) {
      case (.equalTo, .constant), (.notEqualTo, .constant), (.in, .constant),
        (.contains, .constant):
        continue
      default: try requireValueInColumn(attribute, rules.piece)
      }
    }
  }

  /// Throws for an attribute that allows external storage, whose column doesn't contain its values.
  func requireValueInColumn(
    _ attribute: NSAttributeDescription, _ piece: @autoclosure () -> String
  ) throws(TranslationError) {
    guard attribute.hasExternalValues else { return }
    throw TranslationError(
      piece(),
      "\(attribute) allows external storage: its large values are in files, which SQL can't read. Compare "
        + "it with nil or, for equality, with data, or use the fetched objects.")
  }

  /// Returns the error for a constant that isn't in a row, because external storage writes values
  /// of its size to files.
  func tooLarge(
    for attribute: NSAttributeDescription, _ rules: ComparisonRules
  ) -> TranslationError {
    TranslationError(
      rules.piece,
      "\(attribute) allows external storage: values of more than \(translator.largestInRow) bytes are in "
        + "files, which SQL can't read. Filter the fetched objects instead.")
  }
}
