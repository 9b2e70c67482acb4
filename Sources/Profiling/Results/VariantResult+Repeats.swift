import ProfileEvents
import ScenarioLanguage
import WorkbenchText

extension VariantResult {
  /// The first of several runs of the same variant, with the times of all of them.
  ///
  /// A metric that differed from run to run is a missed expectation. `nanoseconds` is the median.
  /// - Parameters:
  ///   - results: at least one.
  ///   - path: the scenario file, for the place of what was missed.
  ///   - line: the variant's.
  init(repeated results: [VariantResult], in path: String, line: Int) {
    self = results[0]
    guard results.count > 1 else { return }
    take(repeats: results.map(\.nanoseconds))
    if let processor = TimeSpread(results.map(\.processorNanoseconds)) {
      processorNanoseconds = processor.median
    }
    for metric in Metric.allCases where metric.isExact {
      let values = results.map { $0.metrics[metric] ?? 0 }
      guard let first = values.first, values.contains(where: { $0 != first }) else { continue }
      expectations.append(
        ExpectationResult(
          metric: metric.rawValue, law: "the same in each of \(values.count) runs",
          relation: .equal, expected: .number(first),
          found: .text(values.map(NumberText.grouped).joined(separator: ", ")), holds: false,
          source: .ours, location: CallSite(file: path, line: line)))
    }
  }
}
