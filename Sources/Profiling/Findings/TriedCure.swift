import OpenCoreData
package import ProfileEvents
import WorkbenchText

/// A cure that was tried here: the count before, the count with it.
package struct TriedCure: Sendable, Equatable, CustomStringConvertible {
  /// What was counted: the word of a metric, or `VM steps`.
  package var measure: String
  package var before: Int
  package var after: Int
  /// The variant, or the shell's try, that is the cured one.
  package var variant: String

  /// Says what was counted before the cure and after it, and where it was tried.
  package init(metric: Metric, before: Int, after: Int, variant: String) {
    self.init(measure: metric.rawValue, before: before, after: after, variant: variant)
  }

  package init(measure: String, before: Int, after: Int, variant: String) {
    self.measure = measure
    self.before = before
    self.after = after
    self.variant = variant
  }

  /// `tried: 5,061 → 61 SELECTs (plain)`.
  package var description: String {
    let isSelects = measure == Metric.selects.rawValue
    let unit = isSelects ? PluralForm.of(after, "SELECT") : measure
    return
      "tried: \(NumberText.grouped(before)) → \(NumberText.grouped(after)) \(unit) (\(variant))"
  }
}
