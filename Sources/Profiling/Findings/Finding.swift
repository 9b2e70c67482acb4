package import ProfileEvents
package import ScenarioLanguage
import WorkbenchText

/// Something that costs more than it should, from one line, with what to do about it.
package struct Finding: Sendable, Equatable {
  package var rule: RuleName
  /// `Mood`, or `Mood.country` for what was reached through a relationship.
  package var subject: String
  /// How many events it stands for.
  package var count: Int
  package var callSite: CallSite?
  /// What was counted, to stand behind the number: `single-row SELECTs`.
  package var what: String
  /// The text of the statement that repeats; nil when it was not recorded.
  package var sql: String?
  package var cure: Cure
  /// What the cure gave when it was run here; nil when it was not tried.
  package var tried: TriedCure?

  package init(
    rule: RuleName, subject: String, count: Int, callSite: CallSite?, what: String,
    sql: String? = nil, cure: Cure, tried: TriedCure? = nil
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
      + " \(fittingWhat) from this line   try: \(cure.step ?? cure.text)"
  }

  /// `tried: 5,061 → 61 SELECTs (plain)`, or `not tried`.
  package var triedText: String { tried?.description ?? "not tried" }
}

extension Silence {
  /// Whether it suppresses a finding.
  package func hides(_ finding: Finding) -> Bool {
    rule == finding.rule.rawValue && (subject == nil || subject == finding.subject)
  }
}
