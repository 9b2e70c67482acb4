import OpenCoreData

/// What is wrong with a word of the language, before anything was run.
///
/// It knows its place in the text but not whose text it is; `LineError` and `ScenarioDiagnostic` add
/// that and draw the caret.
package struct LanguageProblem: Error, Sendable, Equatable {
  /// The words the caret goes under.
  package var place: SourcePlace
  /// What is wrong, in a sentence without a full stop.
  package var message: String
  /// The word that was probably meant.
  package var suggestion: String?
  /// What to do now, in a sentence without a full stop.
  package var nextStep: String

  package init(
    _ message: String, at place: SourcePlace, didYouMean suggestion: String? = nil,
    nextStep: String
  ) {
    self.place = place
    // They quote what was written, and each is one line of the report.
    self.message = PrintableText.line(message)
    self.suggestion = suggestion.map(PrintableText.line)
    self.nextStep = PrintableText.line(nextStep)
  }

  /// The message with the word that was probably meant; of a message that quotes a very long word, the
  /// beginning.
  package var question: String {
    let limit = LanguageProblem.longestMessage
    let message = message.count > limit ? "\(message.prefix(limit))…" : message
    return suggestion.map { "\(message); did you mean `\($0)`?" } ?? message
  }

  private static let longestMessage = 240
}
