package import WorkbenchText

/// A finding as an expectation names it: `fault-storm(Mood)`, `fault-storm(Mood.country)`.
package struct FindingName: Sendable, Hashable {
  /// `fault-storm`.
  package let rule: Word
  /// What it was found on: an entity or `Entity.relationship`.
  package let subject: Word

  /// Reads a finding's name; whether rule and subject exist is for others to say.
  package init(_ word: Word) throws(LanguageProblem) {
    let characters = Array(word.text)
    guard let opening = characters.firstIndex(of: "("), opening > 0, characters.last == ")",
      opening + 2 < characters.count
    else {
      throw LanguageProblem(
        "a finding is written `RULE(SUBJECT)`", at: word.place,
        nextStep: "write for example `fault-storm(Mood)`")
    }
    rule = Word(
      String(characters[..<opening]), at: word.place(at: 0, length: opening))
    let inner = String(characters[(opening + 1)..<(characters.count - 1)])
    subject = Word(inner, at: word.place(at: opening + 1, length: inner.count))
  }

  package static func == (first: FindingName, second: FindingName) -> Bool {
    first.text == second.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(text)
  }

  /// As written, without blanks.
  package var text: String { "\(rule.text)(\(subject.text))" }
}
