/// What a workload came to.
struct Result {
  struct Time {
    let program: Arm.Program
    /// Nanoseconds an operation.
    let minimum, median: Double
  }

  let workload: Workload
  /// In the order of the workload's arms.
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

  /// Ours against the floor, minimum against minimum.
  var ratio: Double { times[1].minimum / times[0].minimum }

  /// Ours against the floor, median against median.
  var medianRatio: Double { times[1].median / times[0].median }
}
