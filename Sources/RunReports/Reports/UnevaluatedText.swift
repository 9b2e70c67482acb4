import RunResults
import ScenarioLanguage

/// The expectations that the engine of a run doesn't allow to be evaluated, with one line for each
/// reason.
struct UnevaluatedText {
  /// The metrics of a variant with the same reason: `realized · inserts, transactions not
  /// evaluated: …`.
  let text: String

  /// Returns the lines of all variants in the order of the file.
  static func all(in result: RunResult) -> [UnevaluatedText] {
    result.variants.flatMap { variant in
      var reasons: [(reason: String, metrics: [String])] = []
      for expectation in variant.expectations {
        guard let reason = expectation.obstacle else { continue }
        if let index = reasons.firstIndex(where: { $0.reason == reason }) {
          if !reasons[index].metrics.contains(expectation.metric) {
            reasons[index].metrics.append(expectation.metric)
          }
        } else {
          reasons.append((reason, [expectation.metric]))
        }
      }
      return reasons.map { reason, metrics in
        UnevaluatedText(
          text: "\(variant.name) · \(metrics.joined(separator: ", "))   not evaluated: \(reason)")
      }
    }
  }
}
