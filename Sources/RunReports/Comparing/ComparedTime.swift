package import WorkbenchText

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
  private let unit: Unit

  /// What was timed so often.
  package enum Unit: String, Sendable {
    case run
    /// A statement of a log, each time that it was run.
    case call
  }

  /// - Parameters:
  ///   - unit: what was timed so often.
  ///   - obstacle: why the times cannot be compared at all, such as another machine.
  package init(
    _ before: TimeSpread, _ after: TimeSpread, of unit: Unit = .run, obstacle: String? = nil
  ) {
    self.before = before
    self.after = after
    self.unit = unit
    verdict = ComparedTime.verdict(before, after, unit, obstacle)
  }

  private static func verdict(
    _ before: TimeSpread, _ after: TimeSpread, _ unit: Unit, _ obstacle: String?
  ) -> Verdict {
    if let obstacle { return .inconclusive(obstacle) }
    guard min(before.count, after.count) >= TimeSpread.enough else {
      return .inconclusive(
        "fewer than \(TimeSpread.enough) \(unit.rawValue)s each"
          + (unit == .run ? "; run with --repeat 5" : ""))
    }
    let ratio = Double(after.median) / Double(max(1, before.median))
    if after.least > before.most { return .slower(ratio) }
    if after.most < before.least { return .faster(1 / max(ratio, .leastNormalMagnitude)) }
    return .inconclusive("the \(unit.rawValue)s overlap")
  }

  /// `55 ms → 61 ms, inconclusive: the runs overlap`.
  package var text: String {
    let words =
      switch verdict {
      case .faster(let times): "\(ComparedTime.factor(times)) times faster"
      case .slower(let times): "\(ComparedTime.factor(times)) times slower"
      case .inconclusive(let reason): "inconclusive: \(reason)"
      }
    let noun = unit.rawValue
    return "\(before.text(of: noun)) → \(after.text(of: noun)), \(words)"
  }

  private static func factor(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(NumberText.grouped(tenths / 10)).\(tenths % 10)"
  }
}
