import ProfileEvents
import Profiling
import ScenarioLanguage
import WorkbenchText

/// A variant's expectations that were not met, as the first thing on the page.
struct ReportMiss {
  struct Line {
    var metric: String
    /// Nil when it says no more than the expected number does.
    var law: String?
    var expected: String
    var found: String
    var location: String
  }

  let variant: String
  let anchor: String
  let lines: [Line]
  /// The events behind the differences; what several expectations say is said once.
  let differences: [String]

  /// Every variant that missed something, in the order of the file, then those of other scales.
  static func all(of result: RunResult) -> [ReportMiss] {
    let here = result.variants.enumerated().compactMap { index, variant in
      ReportMiss(variant.name, anchor: "variant-\(index + 1)", variant.expectations)
    }
    let elsewhere = result.scales.flatMap { run in
      run.variants.enumerated().compactMap { index, variant in
        ReportMiss(
          "\(variant.name) at scale \(NumberText.grouped(run.scale))",
          anchor: "variant-\(index + 1)", variant.expectations)
      }
    }
    return here + elsewhere
  }

  /// Nil when everything was met.
  private init?(_ variant: String, anchor: String, _ expectations: [ExpectationResult]) {
    let missed = expectations.filter { !$0.holds }
    guard !missed.isEmpty else { return nil }
    var differences: [String] = []
    for sentence in missed.flatMap(\.differences) where !differences.contains(sentence) {
      differences.append(sentence)
    }
    self.variant = variant
    self.anchor = anchor
    lines = missed.map(Line.init)
    self.differences = differences
  }
}

extension ReportMiss.Line {
  fileprivate init(_ expectation: ExpectationResult) {
    let text = expectation.expectedText
    self.init(
      metric: expectation.metric, law: expectation.law == text ? nil : expectation.law,
      expected: text, found: expectation.foundText,
      location: expectation.location.description)
  }
}
