import ProfileEvents
package import ScenarioLanguage

/// Verifies the fixes of findings by comparing the variants of a run.
package enum FixVerification {
  /// Returns the variants with the verified fixes of their findings.
  ///
  /// A fix is verified if another variant runs the same steps with the fixed fetch, and without the
  /// option that the fix makes unnecessary in a later step. Variants that differ in another way
  /// aren't compared. Fixes that are already verified don't change.
  ///
  /// - Parameters:
  ///   - variants: The variants of a run.
  ///   - steps: The steps of each variant as they ran, in the order of the variants.
  package static func noting(
    in variants: [VariantResult], steps: [[Step]]
  ) -> [VariantResult] {
    guard variants.count == steps.count else { fatalError("each variant needs its steps") }
    return variants.indices.map { index in
      var variant = variants[index]
      for finding in variant.findings.indices where variant.findings[finding].verification == nil {
        variant.findings[finding].verification = verified(
          variant.findings[finding].fix, of: index, among: variants, steps)
      }
      return variant
    }
  }

  private static func verified(
    _ fix: SuggestedFix, of index: Int, among variants: [VariantResult], _ steps: [[Step]]
  ) -> VerifiedFix? {
    guard let fetch = fix.fetch,
      let target = steps[index].lastIndex(where: {
        $0.verb == .fetch && $0.name == fetch.name && $0.subject == fetch.subject
      })
    else { return nil }
    let fixed = steps[index].enumerated().map { position, step in
      if position == target { return fetch }
      guard position > target, let spared = fix.spares, step.subject == fetch.name else {
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
    // If the number of SELECTs is the same, compare the faults.
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
