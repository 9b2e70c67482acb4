import ProfileEvents

extension RunResult {
  /// Looks for each finding's cure among the variants and notes the count it gave there.
  ///
  /// A cure counts as tried when another variant runs the very steps of this one with the cured
  /// fetch in place of the present one. Nothing is inferred from variants that differ otherwise.
  mutating func tryCures() {
    for index in variants.indices {
      for finding in variants[index].findings.indices
      where
        variants[index].findings[finding].tried == nil
      {
        variants[index].findings[finding].tried = trial(
          of: variants[index].findings[finding].cure, in: variants[index])
      }
    }
  }

  private func trial(of cure: Cure, in variant: VariantResult) -> TriedCure? {
    guard let cured = cure.fetch,
      let place = variant.steps.lastIndex(where: {
        $0.fetch?.name == cured.name && $0.fetch?.entity == cured.entity
      }),
      let before = variant.metrics[.selects],
      let other = variants.first(where: {
        $0.name != variant.name && $0.runs(variant.steps, with: cured, at: place)
      }),
      let after = other.metrics[.selects]
    else { return nil }
    return TriedCure(metric: .selects, before: before, after: after, variant: other.name)
  }
}

extension VariantResult {
  /// Whether this variant's steps are the given ones, one of them with another fetch.
  fileprivate func runs(_ others: [StepResult], with fetch: FetchText, at place: Int) -> Bool {
    guard steps.count == others.count else { return false }
    return zip(steps, others).enumerated().allSatisfy { index, pair in
      guard let mine = pair.0.fetch else { return pair.0.text == pair.1.text }
      let wanted = index == place ? fetch : pair.1.fetch
      return wanted.map(mine.isSame) ?? false
    }
  }
}
