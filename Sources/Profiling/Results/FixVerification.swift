import ProfileEvents
package import ScenarioLanguage

/// Looks for the fixes of findings among the other variants of a run.
package enum FixVerification {
  /// Returns the variants, each finding with the counts that its fix gave.
  ///
  /// A fix counts as verified if another variant runs the very steps of this one with the fixed fetch
  /// instead of the present one, and without the option that the fix spares a later step. Nothing is
  /// inferred from variants that differ otherwise, and what was verified before is kept.
  /// - Parameter steps: the steps of each variant as they ran, in the order of the variants.
  package static func noting(
    in variants: [VariantResult], steps: [[Step]]
  ) -> [VariantResult] {
    precondition(variants.count == steps.count, "there are steps for each variant")
    return variants.indices.map { index in
      var variant = variants[index]
      for finding in variant.findings.indices where variant.findings[finding].tried == nil {
        variant.findings[finding].tried = verified(
          variant.findings[finding].cure, of: index, among: variants, steps)
      }
      return variant
    }
  }

  private static func verified(
    _ fix: SuggestedFix, of index: Int, among variants: [VariantResult], _ steps: [[Step]]
  ) -> VerifiedFix? {
    guard let fetch = fix.fetch,
      let place = steps[index].lastIndex(where: {
        $0.verb == .fetch && $0.name == fetch.name && $0.subject == fetch.subject
      })
    else { return nil }
    let fixed = steps[index].enumerated().map { position, step in
      if position == place { return fetch }
      guard position > place, let spared = fix.spares, step.subject == fetch.name else {
        return step
      }
      return step.without(spared)
    }
    guard
      let other = variants.indices.first(where: { other in
        other != index && steps[other].count == fixed.count
          && zip(steps[other], fixed).allSatisfy { $0.isSame(as: $1) }
      })
    else { return nil }
    // Where the SELECTs are as many, what was spared is the faults.
    let metrics: [Metric] = fix.spares == nil ? [.selects] : [.selects, .faults]
    let counts = metrics.compactMap { metric -> VerifiedFix? in
      guard let before = variants[index].metrics[metric],
        let after = variants[other].metrics[metric]
      else { return nil }
      return VerifiedFix(
        metric: metric, before: before, after: after, variant: variants[other].name)
    }
    return counts.first { $0.before != $0.after } ?? counts.first
  }
}
