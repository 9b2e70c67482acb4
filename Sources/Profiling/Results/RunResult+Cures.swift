import ProfileEvents
import ScenarioLanguage

extension RunResult {
  /// Looks for each finding's cure among the variants and notes the count it gave there.
  ///
  /// A cure counts as tried when another variant runs the very steps of this one with the cured
  /// fetch in place of the present one, and without what the cure spares a later step. Nothing is
  /// inferred from variants that differ otherwise.
  mutating func tryCures() {
    for index in variants.indices {
      for finding in variants[index].findings.indices
      where
        variants[index].findings[finding].tried == nil
      {
        variants[index].findings[finding].tried = trial(
          of: variants[index].findings[finding], in: variants[index])
      }
    }
  }

  private func trial(of finding: Finding, in variant: VariantResult) -> TriedCure? {
    guard let cured = finding.cure.fetch,
      let place = variant.steps.lastIndex(where: {
        $0.fetch?.name == cured.name && $0.fetch?.entity == cured.entity
      }),
      let other = variants.first(where: {
        $0.name != variant.name
          && $0.runs(variant.steps, with: cured, at: place, sparing: finding.cure.spares)
      })
    else { return nil }
    // Where the SELECTs are as many, what was spared is the faults.
    let metrics: [Metric] = finding.cure.spares == nil ? [.selects] : [.selects, .faults]
    let counts = metrics.compactMap { metric -> TriedCure? in
      guard let before = variant.metrics[metric], let after = other.metrics[metric] else {
        return nil
      }
      return TriedCure(metric: metric, before: before, after: after, variant: other.name)
    }
    return counts.first { $0.before != $0.after } ?? counts.first
  }
}

extension VariantResult {
  /// Whether this variant's steps are the given ones, one of them with another fetch, and those behind
  /// it that have an option which the other fetch spares without that option.
  fileprivate func runs(
    _ others: [StepResult], with fetch: FetchText, at place: Int, sparing option: OptionWord?
  ) -> Bool {
    guard steps.count == others.count else { return false }
    return zip(steps, others).enumerated().allSatisfy { index, pair in
      guard let mine = pair.0.fetch else {
        guard let option, index > place else { return pair.0.text == pair.1.text }
        return pair.0.text == pair.1.text(without: option, of: fetch.name)
      }
      let wanted = index == place ? fetch : pair.1.fetch
      return wanted.map(mine.isSame) ?? false
    }
  }
}

extension StepResult {
  /// The step without an option, where it works on the result of a name.
  fileprivate func text(without option: OptionWord, of name: String?) -> String {
    guard var step = try? ShellLine.parse(text, number: 1), step.subject == name else {
      return text
    }
    step.options.removeAll { $0.word == option }
    return step.text
  }
}
