/// What a workload came to.
struct Result {
  struct Time {
    let program: Arm.Program
    /// Nanoseconds an operation.
    let minimum, median: Double
  }

  let workload: Workload
  let times: [Time]

  init(_ workload: Workload, samples: [[UInt64]]) {
    self.workload = workload
    times = zip(workload.arms, samples).map { arm, samples in
      let sorted = samples.sorted().map { Double($0) / Double(workload.operations) }
      return Time(
        program: arm.program, minimum: sorted.first ?? .nan,
        median: sorted.isEmpty ? .nan : sorted[sorted.count / 2])
    }
  }

  /// A program's nanoseconds against the floor's, minimum against minimum.
  func ratio(_ program: Arm.Program) -> Double? {
    guard let floor = times.first, let own = times.first(where: { $0.program == program }) else {
      return nil
    }
    return own.minimum / floor.minimum
  }

  /// The same for medians.
  func medianRatio(_ program: Arm.Program) -> Double? {
    guard let floor = times.first, let own = times.first(where: { $0.program == program }) else {
      return nil
    }
    return own.median / floor.median
  }
}
