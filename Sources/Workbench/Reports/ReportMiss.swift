import ProfileEvents

/// An expectation that was not met, as the first thing on the page.
struct ReportMiss {
  let variant: String
  let anchor: String
  let metric: String
  let law: String?
  let expected: String
  let found: String
  let location: String
  let differences: [String]

  /// Every missed expectation in the order of the file.
  static func all(of result: RunResult) -> [ReportMiss] {
    result.variants.enumerated().flatMap { index, variant in
      variant.expectations.filter { !$0.holds }.map { expectation in
        let text = expectation.expectedText
        return ReportMiss(
          variant: variant.name, anchor: "variant-\(index + 1)", metric: expectation.metric,
          law: expectation.law == text ? nil : expectation.law, expected: text,
          found: expectation.found.description, location: expectation.location.description,
          differences: expectation.differences)
      }
    }
  }
}
