package import ScenarioLanguage

/// What to write instead.
package struct Cure: Sendable, Equatable {
  /// The line of Swift that is the cause and should go; nil when nothing has to go.
  package var now: String?
  /// Lines of Swift to add; empty when deleting `now` is the whole cure, or when `advice` is.
  package var swift: [String]
  /// What to do, in words, where no code can say it; empty otherwise.
  package var advice: String
  /// The fetch as it should be; nil when no fetch step can say it.
  package var fetch: FetchText?
  /// An option that the step behind the finding no longer needs; nil when that step stays as it is.
  ///
  /// It serves to find the cured work among the variants, and is in no report.
  package var spares: OptionWord?

  package init(
    now: String? = nil, swift: [String] = [], advice: String = "", fetch: FetchText? = nil,
    spares: OptionWord? = nil
  ) {
    self.now = now
    self.swift = swift
    self.advice = advice
    self.fetch = fetch
    self.spares = spares
  }

  /// The step to type instead, as one shell line.
  package var step: String? { fetch?.description }

  /// The cure on one line: code where there is some, words otherwise.
  package var text: String {
    if !swift.isEmpty { return swift.joined(separator: "; ") }
    if !advice.isEmpty { return advice }
    return now.map { "delete \($0)" } ?? ""
  }
}
