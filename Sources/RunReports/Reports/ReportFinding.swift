import ProfileEvents
import Profiling
import StatementAnalysis
import WorkbenchText

/// A finding with its cure, once for all variants that have it.
struct ReportFinding {
  let name: String
  let count: String
  let raw: Int
  /// `single-row SELECTs`, with what the plan says behind it.
  let what: String
  let location: String?
  let verdict: String?
  /// The names of the variants it was found in.
  let variants: String
  let now: String?
  let cure: [String]
  let advice: String
  let step: String?
  let tried: String
  let wasTried: Bool

  /// What must be the same for the findings of several variants to be reported as one.
  private struct Key: Hashable {
    var name: String
    var what: String
    var callSite: CallSite?
  }

  /// Every finding once, in the order in which they came.
  ///
  /// Of several variants with the same finding the one speaks whose cure was tried with the least
  /// else going on, so that the count before and after is this finding's own.
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
      let tried = all.filter { $0.finding.tried != nil }
      let spoken =
        tried.min { ($0.finding.tried?.before ?? 0) < ($1.finding.tried?.before ?? 0) } ?? first
      return ReportFinding(
        spoken.finding, in: spoken.variant, of: all.map(\.variant.name))
    }
  }

  /// What a result without findings says, and no more than was looked for.
  ///
  /// Faults that each ran a SELECT are there on many such pages: fewer of them than a storm has.
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
    return "No findings: no rule fired. Up to \(NumberText.counted(misses, "fault")) of a variant "
      + "ran a SELECT each, fewer than \(FaultStormRule.threshold) of one kind from one line within one "
      + "step."
  }

  /// One finding as a variant's own section shows it.
  init(_ finding: Finding, in variant: VariantResult, of names: [String]) {
    name = finding.name
    count = NumberText.grouped(finding.count)
    raw = finding.count
    what = finding.fittingWhat
    location = finding.callSite?.description
    verdict = variant.statements.first { $0.sql == finding.sql && !$0.plan.isEmpty }.map { shape in
      PlanAssessment(sql: shape.sql, lines: shape.plan, count: finding.count).phrase
    }
    variants = names.reduce(into: [String]()) { list, name in
      if !list.contains(name) { list.append(name) }
    }.joined(separator: ", ")
    now = finding.cure.now
    cure = finding.cure.swift
    advice =
      finding.cure.advice.nonEmpty ?? (finding.cure.swift.isEmpty ? "delete that line" : "")
    step = finding.cure.step
    tried = finding.triedText
    wasTried = finding.tried != nil
  }
}

extension String {
  /// Nil for the empty text, which a template would show as if there were something.
  var nonEmpty: String? { isEmpty ? nil : self }
}
