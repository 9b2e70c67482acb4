import ProfileEvents
package import ScenarioLanguage

/// Verifies the fixes of findings by comparing the variants of a run.
package enum FixVerification {
  /// Returns the variants with the verified fixes of their findings.
  ///
  /// A fix is verified if another variant runs the same steps with the fixed fetch, and without the
  /// option that the fix makes unnecessary in a later step, and if that lowers a count of the fix.
  /// A fetch that only counts has no result, so that the steps on it are omitted. Variants that
  /// differ in another way aren't compared. Fixes that are already verified don't change.
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
          variant.findings[finding], of: index, among: variants, steps)
      }
      return variant
    }
  }

  private static func verified(
    _ finding: Finding, of index: Int, among variants: [VariantResult], _ steps: [[Step]]
  ) -> VerifiedFix? {
    guard let fixed = fixed(steps[index], finding.fix),
      let other = variants.indices.first(where: { other in
        other != index && steps[other].count == fixed.count
          && zip(steps[other], fixed).allSatisfy { $0.isSame(as: $1) }
      })
    else { return nil }
    for metric in finding.fix.metrics {
      guard let before = variants[index].metrics[metric],
        let after = variants[other].metrics[metric], after < before
      else { continue }
      return VerifiedFix(
        metric: metric, before: before, after: after, variant: variants[other].name)
    }
    return nil
  }

  /// Returns the steps with a fix, or `nil` if they have no fetch that it changes.
  ///
  /// A fetch in a block changes in all repetitions. Results of the same name from other fetches,
  /// also in the same line, don't change.
  private static func fixed(_ steps: [Step], _ fix: SuggestedFix) -> [Step]? {
    guard let fetch = fix.fetch else { return nil }
    let isCount = fetch.resultKind == .count
    // The name of the result of the fetch, while it's that of the fetch.
    var result: String?
    var isFound = false
    let fixed = steps.compactMap { step -> Step? in
      if step.verb == .fetch, step.location == fetch.location,
        step.ranges.verb == fetch.ranges.verb, step.subject == fetch.subject,
        isCount || step.name == fetch.name
      {
        (isFound, result) = (true, step.name)
        return fetch
      }
      let isUser = result != nil && step.subject == result
      if step.name == result { result = nil }
      guard isUser else { return step }
      if isCount { return nil }
      return fix.spares.map { step.without($0) } ?? step
    }
    return isFound ? fixed : nil
  }
}
