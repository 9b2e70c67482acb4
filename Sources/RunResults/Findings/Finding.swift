import ManagedModel
package import ProfileEvents
package import ScenarioLanguage
import WorkbenchText

/// Work from one line of code that costs more than it should, with a suggested fix.
package struct Finding: Sendable, Equatable {
  package var rule: RuleName
  /// The entity, `Mood`, or the relationship through which objects were reached, `Mood.country`.
  package var subject: String
  /// The number of events that the finding represents.
  package var count: Int
  package var callSite: CallSite?
  /// The text after the count: `single-row SELECTs`.
  package var what: String
  /// The SQL of the repeated statement, or `nil` if it wasn't recorded.
  package var sql: String?
  package var fix: SuggestedFix
  /// The counts without and with the fix, or `nil` if the fix wasn't verified.
  package var verification: VerifiedFix?

  package init(
    rule: RuleName, subject: String, count: Int, callSite: CallSite?, what: String,
    sql: String? = nil, fix: SuggestedFix, verification: VerifiedFix? = nil
  ) {
    self.rule = rule
    self.subject = subject
    self.count = count
    self.callSite = callSite
    self.what = what
    self.sql = sql
    self.fix = fix
    self.verification = verification
  }

  /// The name that a scenario's `findings` lists: `fault-storm(Mood)`.
  package var name: String { "\(rule.rawValue)(\(subject))" }

  /// The count with its text, in singular or plural: `1 row prefetched and never read`.
  package var counted: String { "\(NumberText.grouped(count)) \(fittingWhat)" }

  /// The text after the count, in singular or plural.
  package var fittingWhat: String {
    guard count == 1 else { return what }
    let words = what.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    // The noun is the first plural word: `rows fetched`, `single-row SELECTs`, `VM steps`.
    guard let noun = words.firstIndex(where: { $0.hasSuffix("s") || $0.hasSuffix("s,") }) else {
      return what
    }
    var singular = words
    let comma = words[noun].hasSuffix(",") ? "," : ""
    let plural = comma.isEmpty ? words[noun] : String(words[noun].dropLast())
    singular[noun] = Finding.singular(of: plural) + comma
    return singular.joined(separator: " ")
  }

  private static func singular(of noun: String) -> String {
    if noun.hasSuffix("ies") { return noun.dropLast(3) + "y" }
    return String(noun.hasSuffix("ches") ? noun.dropLast(2) : noun.dropLast())
  }

  /// The finding's line in the shell:
  /// `  ! fault-storm(Mood)   5,000 single-row SELECTs from this line   fix: …`.
  package var line: String {
    "  ! " + NumberText.left(name, 25) + "   " + NumberText.right(count, 5)
      + " \(fittingWhat) from this line   fix: \(fix.step ?? fix.text)"
  }

  /// The result of verifying the fix: `verified: 5,061 → 61 SELECTs (plain)`, or `not verified`.
  package var verificationText: String { verification?.description ?? "not verified" }
}

extension FindingSuppression {
  /// Returns whether a finding is suppressed.
  package func hides(_ finding: Finding) -> Bool {
    rule == finding.rule.rawValue && (subject == nil || subject == finding.subject)
  }
}

/// A suggested fix for a finding.
package struct SuggestedFix: Sendable, Equatable {
  /// The line of Swift to delete, or `nil` if nothing needs to be deleted.
  package var now: String?
  /// The lines of Swift to add; empty if deleting `now` or following `advice` is the complete fix.
  package var swift: [String]
  /// A description of the fix, if code can't express it; otherwise, empty.
  package var advice: String
  /// The fixed fetch, or `nil` if the fix can't be expressed as a fetch step.
  package var fetch: Step?
  /// An option that a later step no longer needs with the fix, or `nil` if that step doesn't
  /// change.
  ///
  /// It's used to find a variant with the fix applied. Reports don't contain it.
  package var spares: OptionWord?
  /// The metrics that the fix lowers, the most important one first.
  ///
  /// A variant with the fix applied verifies it if one of them is lower. Reports don't contain it.
  package var metrics: [Metric]

  package init(
    now: String? = nil, swift: [String] = [], advice: String = "", fetch: Step? = nil,
    spares: OptionWord? = nil, metrics: [Metric] = [.selects]
  ) {
    self.now = now
    self.swift = swift
    self.advice = advice
    self.fetch = fetch
    self.spares = spares
    self.metrics = metrics
  }

  /// The fixed fetch as one shell line.
  package var step: String? { fetch?.text }

  /// The fix on one line: the code if there is any, or else the advice.
  package var text: String {
    if let code { return code }
    if !advice.isEmpty { return advice }
    return now.map { "delete \($0)" } ?? ""
  }

  /// The lines of Swift to add as one line that compiles, or `nil` if there are none.
  ///
  /// A semicolon separates statements, but not the lines of one statement. A comment at the end of
  /// a line is closed, unless it's the last line.
  package var code: String? {
    guard !swift.isEmpty else { return nil }
    var text = ""
    var latest: Substring = ""
    for (position, line) in swift.enumerated() {
      let line = line.drop(while: \.isWhitespace)
      let (code, comment) = SuggestedFix.parts(of: line)
      if position > 0 { text += SuggestedFix.separator(between: latest, and: code) }
      if let comment, position < swift.count - 1 {
        text += "\(code)\(code.isEmpty ? "" : " ")/*\(comment) */"
      } else {
        text += String(line)
      }
      if !code.isEmpty { latest = code }
    }
    return text
  }

  /// Returns the code of a line, and its comment without slashes.
  private static func parts(of line: Substring) -> (code: Substring, comment: Substring?) {
    if line.hasPrefix("//") { return ("", line.dropFirst(2)) }
    guard let start = line.firstRange(of: "  //") else { return (line, nil) }
    return (line[..<start.lowerBound], line[start.upperBound...])
  }

  /// Returns what separates two lines of code if they're on one line.
  private static func separator(between line: Substring, and next: Substring) -> String {
    if line.last == "(" || line.last == "[" || next.first == ")" || next.first == "]" { return "" }
    let continues =
      line.last == "{" || line.last == "," || line.hasSuffix(" in") || next.first == "}"
    return line.isEmpty || next.isEmpty || continues ? " " : "; "
  }
}

/// The counts without and with a fix that was verified.
package struct VerifiedFix: Sendable, Equatable, CustomStringConvertible {
  /// The unit of the counts: the name of a metric, or `VM steps`.
  package var measure: String
  package var before: Int
  package var after: Int
  /// The name of the variant or shell run with the fix applied.
  package var variant: String

  /// Creates a verified fix from the values of a metric.
  package init(metric: Metric, before: Int, after: Int, variant: String) {
    self.init(measure: metric.rawValue, before: before, after: after, variant: variant)
  }

  package init(measure: String, before: Int, after: Int, variant: String) {
    self.measure = measure
    self.before = before
    self.after = after
    self.variant = variant
  }

  /// The counts as text: `verified: 5,061 → 61 SELECTs (plain)`.
  package var description: String {
    "verified: \(NumberText.grouped(before)) → \(NumberText.grouped(after)) \(unit) (\(variant))"
  }

  private var unit: String {
    switch Metric(rawValue: measure) {
    case .selects: PluralForm.of(after, "SELECT")
    case .rows: PluralForm.of(after, "row")
    case .faults: PluralForm.of(after, "fault")
    case .peak: "\(PluralForm.of(after, "object")) at the peak"
    default: measure
    }
  }
}

/// Finds the finding that explains why a count exceeds its expectation.
package enum LikelyCause {
  /// Returns a message with the finding that explains a surplus, or `nil` if there's none.
  ///
  /// A finding explains a surplus if the metric counts its events, also within the metric's scope,
  /// and if they make up at least half of the surplus. For example: `likely:
  /// fault-storm(Mood.country), 60 single-row SELECTs (59 over the expected count); fix: …`
  ///
  /// **Cost:** one pass over the events for each finding, if the metric has a scope.
  ///
  /// - Parameters:
  ///   - scoped: The metric whose expectation isn't met.
  ///   - surplus: The actual minus the expected count. Findings explain only a positive surplus.
  ///   - findings: The findings of the same work.
  ///   - recording: The work.
  package static func message(
    for scoped: ScopedMetric, surplus: Int, among findings: [Finding], in recording: Recording
  ) -> String? {
    guard surplus > 0 else { return nil }
    let fitting = findings.filter {
      Rule.named($0.rule)?.metrics.contains(scoped.metric) == true && $0.count * 2 >= surplus
        && counts(scoped, workOf: $0, in: recording)
    }
    guard let finding = fitting.max(by: { $0.count < $1.count }) else { return nil }
    let location = finding.callSite.map { " at \($0)" } ?? ""
    return "likely: \(finding.name)\(location), \(finding.counted)"
      + " (\(NumberText.grouped(surplus)) over the expected count); fix: \(finding.fix.text)"
  }

  /// Returns whether events of a finding are in a metric's scope.
  private static func counts(
    _ scoped: ScopedMetric, workOf finding: Finding, in recording: Recording
  ) -> Bool {
    // Registered objects have no events.
    guard scoped.scope != .all, scoped.metric != .registered, scoped.metric != .peak else {
      return true
    }
    var parts = [recording]
    if case .step(let name) = scoped.scope {
      parts = recording.steps.filter { $0.name == name }.map { recording.slice(of: $0) }
    }
    return parts.contains { part in
      let texts = part.statementTexts()
      return part.events.contains { event in
        guard event.callSite == finding.callSite, part.isIn(scoped.scope, event) else {
          return false
        }
        let sql = event.kind == .statement ? event.statement?.sql : texts[event.id]
        return finding.sql == nil || sql == finding.sql
      }
    }
  }
}
