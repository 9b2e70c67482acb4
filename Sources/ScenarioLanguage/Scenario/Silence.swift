/// A finding that the writer of a scenario knows of and does not want to hear about.
///
/// `fault-storm` silences a rule everywhere, `fault-storm(Mood.country)` on one subject.
package struct Silence: Sendable, Hashable {
  /// `fault-storm`.
  package var rule: String
  /// `Mood.country`; nil for every subject.
  package var subject: String?

  package init(rule: String, subject: String? = nil) {
    self.rule = rule
    self.subject = subject
  }
}
