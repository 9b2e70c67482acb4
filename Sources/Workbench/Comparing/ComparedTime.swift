/// The times of the same work in two results, and what may be said of them.
package struct ComparedTime: Sendable, Equatable {
  /// What may be said.
  package enum Verdict: Sendable, Equatable {
    /// Every run was quicker than each one before, this many times in the median.
    case faster(Double)
    /// Every run was slower than each one before, this many times in the median.
    case slower(Double)
    /// Why nothing may be said.
    case inconclusive(String)
  }

  package let before: TimeSpread
  package let after: TimeSpread
  package let verdict: Verdict

  /// - Parameter obstacle: why the times cannot be compared at all, such as another machine.
  package init(_ before: TimeSpread, _ after: TimeSpread, obstacle: String? = nil) {
    self.before = before
    self.after = after
    verdict = ComparedTime.verdict(before, after, obstacle)
  }

  private static func verdict(
    _ before: TimeSpread, _ after: TimeSpread, _ obstacle: String?
  ) -> Verdict {
    if let obstacle { return .inconclusive(obstacle) }
    guard min(before.count, after.count) >= TimeSpread.enough else {
      return .inconclusive("fewer than \(TimeSpread.enough) runs each; run with --repeat 5")
    }
    let ratio = Double(after.median) / Double(max(1, before.median))
    if after.least > before.most { return .slower(ratio) }
    if after.most < before.least { return .faster(1 / max(ratio, .leastNormalMagnitude)) }
    return .inconclusive("the runs overlap")
  }

  /// `55 ms → 61 ms, inconclusive: the runs overlap`.
  package var text: String {
    let words =
      switch verdict {
      case .faster(let times): "\(ComparedTime.factor(times)) times faster"
      case .slower(let times): "\(ComparedTime.factor(times)) times slower"
      case .inconclusive(let reason): "inconclusive: \(reason)"
      }
    return "\(before.text) → \(after.text), \(words)"
  }

  private static func factor(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(NumberText.grouped(tenths / 10)).\(tenths % 10)"
  }
}
