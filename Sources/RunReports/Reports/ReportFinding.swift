import ProfileEvents
import RunResults
import StatementAnalysis
import WorkbenchText

/// A finding with its fix, combined for all variants that have it.
struct ReportFinding {
  let name: String
  let count: String
  let raw: Int
  /// What was counted, such as `single-row SELECTs`.
  let what: String
  let location: String?
  let assessment: String?
  /// The names of the variants that have the finding.
  let variants: String
  let now: String?
  let fix: String?
  let advice: String
  let step: String?
  let verification: String
  let isVerified: Bool

  /// The properties by which the findings of several variants are combined.
  private struct Key: Hashable {
    var name: String
    var what: String
    var callSite: CallSite?
  }

  /// Returns the findings of a result without duplicates, in the order in which they fired.
  ///
  /// If several variants have the same finding, the one whose verified fix has the smallest count
  /// before it is shown, because that count contains the least other work.
  static func all(of result: RunResult) -> [ReportFinding] {
    var order: [Key] = []
    var found: [Key: [(variant: VariantResult, finding: Finding)]] = [:]
    for variant in result.variants {
      for finding in variant.findings {
        let key = Key(name: finding.name, what: finding.what, callSite: finding.callSite)
        if found[key] == nil { order.append(key) }
        found[key, default: []].append((variant, finding))
      }
    }
    return order.compactMap { key in
      guard let all = found[key], let first = all.first else { return nil }
      let verified = all.filter { $0.finding.verification != nil }
      let spoken =
        verified.min {
          ($0.finding.verification?.before ?? 0) < ($1.finding.verification?.before ?? 0)
        } ?? first
      return ReportFinding(
        spoken.finding, in: spoken.variant, of: all.map(\.variant.name))
    }
  }

  /// Returns the message for a result without findings.
  ///
  /// The message mentions suppressed findings, and faults that each ran a SELECT but were too few
  /// for a fault storm.
  static func none(in result: RunResult) -> String {
    let silenced = result.variants.flatMap(\.silenced).reduce(into: [String]()) { names, name in
      if !names.contains(name) { names.append(name) }
    }
    guard silenced.isEmpty else {
      return "No findings other than those that the scenario suppresses: "
        + silenced.joined(separator: ", ") + "."
    }
    let misses = result.variants.map { $0.metrics[.misses] ?? 0 }.max() ?? 0
    guard misses > 0 else { return "No findings: no rule fired." }
    let ran = misses == 1 ? "ran a SELECT" : "ran a SELECT each"
    return "No findings: no rule fired. Up to \(NumberText.counted(misses, "fault")) of a variant "
      + "\(ran), but fewer than \(FaultStormRule.threshold) of the same kind from the same "
      + "line in one step."
  }

  /// Creates the representation of a finding.
  ///
  /// - Parameters:
  ///   - finding: The finding.
  ///   - variant: The variant in which it fired.
  ///   - names: The names of all variants that have the finding.
  init(_ finding: Finding, in variant: VariantResult, of names: [String]) {
    name = finding.name
    count = NumberText.grouped(finding.count)
    raw = finding.count
    what = finding.fittingWhat
    location = finding.callSite?.description
    assessment = variant.statements.first { $0.sql == finding.sql && !$0.plan.isEmpty }.map {
      shape in
      PlanAssessment(sql: shape.sql, lines: shape.plan, count: finding.count).phrase
    }
    variants = names.reduce(into: [String]()) { list, name in
      if !list.contains(name) { list.append(name) }
    }.joined(separator: ", ")
    now = finding.fix.now
    fix = finding.fix.code
    advice =
      finding.fix.advice.nonEmpty ?? (finding.fix.swift.isEmpty ? "delete this line" : "")
    step = finding.fix.step
    verification = finding.verificationText
    isVerified = finding.verification != nil
  }
}

extension String {
  /// The string, or `nil` if it's empty, because a template treats an empty string as a value.
  var nonEmpty: String? { isEmpty ? nil : self }
}
