import OpenCoreData
package import ProfileEvents
package import ScenarioLanguage
import WorkbenchText

/// Something that costs more than it should, from one line, with what to do about it.
package struct Finding: Sendable, Equatable {
  package var rule: RuleName
  /// `Mood`, or `Mood.country` for what was reached through a relationship.
  package var subject: String
  /// How many events it represents.
  package var count: Int
  package var callSite: CallSite?
  /// What was counted, to follow the number: `single-row SELECTs`.
  package var what: String
  /// The text of the statement that repeats; nil when it was not recorded.
  package var sql: String?
  package var cure: SuggestedFix
  /// What the cure gave when it was run here; nil when it was not tried.
  package var tried: VerifiedFix?

  package init(
    rule: RuleName, subject: String, count: Int, callSite: CallSite?, what: String,
    sql: String? = nil, cure: SuggestedFix, tried: VerifiedFix? = nil
  ) {
    self.rule = rule
    self.subject = subject
    self.count = count
    self.callSite = callSite
    self.what = what
    self.sql = sql
    self.cure = cure
    self.tried = tried
  }

  /// `fault-storm(Mood)`: what a scenario's `findings` lists.
  package var name: String { "\(rule.rawValue)(\(subject))" }

  /// What was counted, in the form that fits the number: `1 row prefetched and never read`.
  package var counted: String { "\(NumberText.grouped(count)) \(fittingWhat)" }

  /// `what` in the form that fits the number.
  package var fittingWhat: String {
    guard count == 1 else { return what }
    let words = what.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    // The noun is the first word in the plural: `rows fetched`, `single-row SELECTs`, `VM steps`.
    guard let noun = words.firstIndex(where: { $0.hasSuffix("s") || $0.hasSuffix("s,") }) else {
      return what
    }
    var singular = words
    let comma = words[noun].hasSuffix(",") ? "," : ""
    let plural = comma.isEmpty ? words[noun] : String(words[noun].dropLast())
    singular[noun] = (plural.hasSuffix("ches") ? plural.dropLast(2) : plural.dropLast()) + comma
    return singular.joined(separator: " ")
  }

  /// The shell's line: `  ! fault-storm(Mood)   5,000 single-row SELECTs from this line   try: …`.
  package var line: String {
    "  ! " + NumberText.left(name, 25) + "   " + NumberText.right(count, 5)
      + " \(fittingWhat) from this line   fix: \(cure.step ?? cure.text)"
  }

  /// `verified: 5,061 → 61 SELECTs (plain)`, or `not verified`.
  package var triedText: String { tried?.description ?? "not verified" }
}

extension FindingSuppression {
  /// Whether it suppresses a finding.
  package func hides(_ finding: Finding) -> Bool {
    rule == finding.rule.rawValue && (subject == nil || subject == finding.subject)
  }
}

/// What to write instead.
package struct SuggestedFix: Sendable, Equatable {
  /// The line of Swift that is the cause and should go; nil when nothing has to go.
  package var now: String?
  /// Lines of Swift to add; empty when deleting `now` is the whole cure, or when `advice` is.
  package var swift: [String]
  /// What to do, in words, where no code can say it; empty otherwise.
  package var advice: String
  /// The fetch as it should be; nil when no fetch step can say it.
  package var fetch: Step?
  /// An option that the step behind the finding no longer needs; nil when that step stays as it is.
  ///
  /// It serves to find the cured work among the variants, and is in no report.
  package var spares: OptionWord?

  package init(
    now: String? = nil, swift: [String] = [], advice: String = "", fetch: Step? = nil,
    spares: OptionWord? = nil
  ) {
    self.now = now
    self.swift = swift
    self.advice = advice
    self.fetch = fetch
    self.spares = spares
  }

  /// The step to type instead, as one shell line.
  package var step: String? { fetch?.text }

  /// The cure on one line: code where there is some, words otherwise.
  package var text: String {
    if !swift.isEmpty { return swift.joined(separator: "; ") }
    if !advice.isEmpty { return advice }
    return now.map { "delete \($0)" } ?? ""
  }
}

/// A cure that was tried here: the count before, the count with it.
package struct VerifiedFix: Sendable, Equatable, CustomStringConvertible {
  /// What was counted: the word of a metric, or `VM steps`.
  package var measure: String
  package var before: Int
  package var after: Int
  /// The variant, or the shell's try, that is the cured one.
  package var variant: String

  /// Says what was counted before the cure and after it, and where it was tried.
  package init(metric: Metric, before: Int, after: Int, variant: String) {
    self.init(measure: metric.rawValue, before: before, after: after, variant: variant)
  }

  package init(measure: String, before: Int, after: Int, variant: String) {
    self.measure = measure
    self.before = before
    self.after = after
    self.variant = variant
  }

  /// `verified: 5,061 → 61 SELECTs (plain)`.
  package var description: String {
    let isSelects = measure == Metric.selects.rawValue
    let unit = isSelects ? PluralForm.of(after, "SELECT") : measure
    return
      "verified: \(NumberText.grouped(before)) → \(NumberText.grouped(after)) \(unit) (\(variant))"
  }
}

/// Which finding explains that a number is not the expected one.
enum LikelyCause {
  /// `likely: fault-storm(Mood.country), 60 single-row SELECTs (59 over the expected count); fix:
  /// …`; nil where none explains it.
  ///
  /// A finding explains a surplus when its events are counted by the metric and are at least half of
  /// what is too many.
  /// - Parameter surplus: What was found beyond the expectation; nothing explains too few.
  static func sentence(for metric: Metric, surplus: Int, among findings: [Finding]) -> String? {
    guard surplus > 0 else { return nil }
    let fitting = findings.filter {
      Rule.named($0.rule)?.metrics.contains(metric) == true && $0.count * 2 >= surplus
    }
    guard let finding = fitting.max(by: { $0.count < $1.count }) else { return nil }
    let place = finding.callSite.map { " at \($0)" } ?? ""
    return "likely: \(finding.name)\(place), \(finding.counted)"
      + " (\(NumberText.grouped(surplus)) over the expected count); fix: \(finding.cure.text)"
  }
}
