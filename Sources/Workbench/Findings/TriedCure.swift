package import ProfileEvents

/// A cure that was run here: the count before, the count with it.
package struct TriedCure: Sendable, Equatable, CustomStringConvertible {
  package var metric: Metric
  package var before: Int
  package var after: Int
  /// The variant, or the shell's try, that is the cured one.
  package var variant: String

  package init(metric: Metric, before: Int, after: Int, variant: String) {
    self.metric = metric
    self.before = before
    self.after = after
    self.variant = variant
  }

  /// `tried: 5,061 → 61 SELECTs (plain)`.
  package var description: String {
    let unit = metric == .selects ? (after == 1 ? "SELECT" : "SELECTs") : metric.rawValue
    return
      "tried: \(NumberText.grouped(before)) → \(NumberText.grouped(after)) \(unit) (\(variant))"
  }
}
