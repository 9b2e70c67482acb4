package import Foundation
package import OpenCoreData
import WorkbenchText

/// The text and JSON formats of the differences between two models.
package enum DifferenceText {
  /// Returns a summary, and one line for each difference, followed by its reason.
  package static func lines(_ comparison: ModelComparison) -> [String] {
    let differences = comparison.differences
    guard !differences.isEmpty else {
      return ["The models are equivalent."]
    }
    return [verdict(comparison), ""] + differences.flatMap(lines)
  }

  /// Returns one JSON object: `{"effect", "verdict", "differences": [{"kind", "subject", …}]}`.
  package static func json(_ comparison: ModelComparison) throws -> Data {
    try JSONOutput.lines(
      Document(
        effect: comparison.effect.rawValue, verdict: verdict(comparison),
        differences: comparison.differences.map(Difference.init)))
  }

  private static func verdict(_ comparison: ModelComparison) -> String {
    switch comparison.effect {
    case .none: "A store of the first model opens with the second one without a migration."
    case .lightweight: "A store of the first model needs a lightweight migration."
    case .custom: "A store of the first model needs a mapping model, which can't be inferred."
    }
  }

  private static func lines(_ difference: ModelDifference) -> [String] {
    let effect =
      switch difference.effect {
      case .none: ""
      case .lightweight: "   (lightweight)"
      case .custom: "   (not lightweight)"
      }
    let former = difference.former.map { " from \($0)" } ?? ""
    let detail = difference.detail.map { ": \($0)" } ?? ""
    let path = difference.path.isEmpty ? "" : " \(difference.path)"
    let first =
      "\(NumberText.left(difference.kind.rawValue, 8))\(difference.subject.rawValue)\(path)"
      + former + detail + effect
    return [first] + (difference.reason.map { ["          \($0)"] } ?? [])
  }

  private struct Document: Encodable {
    let effect: String
    let verdict: String
    let differences: [Difference]
  }

  private struct Difference: Encodable {
    let kind: String
    let subject: String
    let entity: String?
    let name: String?
    let former: String?
    let detail: String?
    let effect: String
    let reason: String?

    init(_ difference: ModelDifference) {
      kind = difference.kind.rawValue
      subject = difference.subject.rawValue
      entity = difference.entity
      name = difference.name
      former = difference.former
      detail = difference.detail
      effect = difference.effect.rawValue
      reason = difference.reason
    }
  }
}
