package import WorkbenchText

/// That the plans of SELECTs obey a demand: `plan(moods): uses byDate`.
package struct PlanExpectation: Sendable, Equatable {
  /// The word that stands before the brackets.
  package static let word = "plan"

  /// The step whose SELECTs are meant; nil for all of the variant, or of the step that expects it.
  package var step: String?
  package var demand: PlanDemand
  package var source: SourceMark
  /// The line it is written on.
  package var line: Int
  /// Where its demand is written.
  package var place: SourcePlace?

  package init(
    step: String?, demand: PlanDemand, source: SourceMark, line: Int, place: SourcePlace? = nil
  ) {
    self.step = step
    self.demand = demand
    self.source = source
    self.line = line
    self.place = place
  }

  package static func == (first: PlanExpectation, second: PlanExpectation) -> Bool {
    first.step == second.step && first.demand == second.demand && first.source == second.source
  }

  /// As written, without blanks.
  package var text: String { step.map { "\(Self.word)(\($0))" } ?? Self.word }

  /// The step that a key names; nil for `plan` alone.
  ///
  /// - Throws: a problem when the bracket is not closed or is empty.
  static func step(of key: Word) throws(LanguageProblem) -> Word? {
    let characters = Array(key.text)
    guard characters.count > word.count else { return nil }
    guard characters.last == ")", characters.count > word.count + 2 else {
      throw LanguageProblem(
        "a step's name is written in brackets, as in `plan(moods)`", at: key.place,
        nextStep: "write `plan` alone or close the bracket")
    }
    let inner = String(characters[(word.count + 1)..<(characters.count - 1)])
    return Word(inner, at: key.place(at: word.count + 1, length: inner.count))
  }

  /// Whether a key of `expect` is about plans.
  static func isKey(_ text: String) -> Bool {
    text == word || text.hasPrefix("\(word)(")
  }
}
