import ProfileEvents
import Profiling
import WorkbenchText

/// The sentence under the title, made from the table and never by hand.
struct ReportLesson {
  let before: String
  let least: String
  /// Nil when every variant costs the same.
  let most: String?
  let after: String

  init(_ result: RunResult, lead: Metric) {
    let values = result.variants.map { $0.metrics[lead] ?? 0 }
    let low = values.min() ?? 0
    let high = values.max() ?? 0
    least = lead.counted(low)
    if low == high {
      before = result.variants.count == 1 ? "This work costs" : "Every variant costs"
      most = nil
      after = "."
    } else {
      before = "The same work costs"
      most = NumberText.grouped(high)
      after = "." + ReportLesson.difference(result.variants)
    }
  }

  /// What the variants differ in: compares the steps that ran.
  private static func difference(_ variants: [VariantResult]) -> String {
    let others = Set(variants.map { $0.steps.filter { $0.fetch == nil }.map(\.text) })
    return others.count == 1 ? " Only the fetch request differs." : " Only the steps differ."
  }
}
