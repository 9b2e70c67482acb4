import ProfileEvents
import Profiling
import ScenarioLanguage

extension RuleName: Codable {}

/// A finding in the JSON file; its property names are the file's keys.
struct JSONFinding: Codable {
  struct Tried: Codable {
    var metric: String
    var before: Int
    var after: Int
    var variant: String
  }

  /// For readers of the file: the rule and its subject.
  var name: String
  var rule: RuleName
  var subject: String
  var count: Int
  var what: String
  var location: JSONLocation?
  var sql: String?
  var now: String?
  /// For readers of the file: `swift` or `advice` on one line.
  var cure: String
  var swift: [String]
  var advice: String
  var fetch: JSONFetch?
  /// For readers of the file: `fetch` as a shell line.
  var step: String?
  var tried: Tried?

  init(_ finding: Finding) {
    name = finding.name
    rule = finding.rule
    subject = finding.subject
    count = finding.count
    what = finding.what
    location = finding.callSite.map(JSONLocation.init)
    sql = finding.sql
    now = finding.fix.now
    cure = finding.fix.text
    swift = finding.fix.swift
    advice = finding.fix.advice
    fetch = finding.fix.fetch.map(JSONFetch.init)
    step = finding.fix.step
    tried = finding.verification.map {
      Tried(metric: $0.measure, before: $0.before, after: $0.after, variant: $0.variant)
    }
  }

  /// The decoded finding.
  var finding: Finding {
    Finding(
      rule: rule, subject: subject, count: count, callSite: location?.site, what: what, sql: sql,
      fix: SuggestedFix(now: now, swift: swift, advice: advice, fetch: fetch?.fetch),
      verification: tried.map {
        VerifiedFix(measure: $0.metric, before: $0.before, after: $0.after, variant: $0.variant)
      })
  }
}
