/// What a workload came to.
struct Result {
  struct Time {
    let program: Arm.Program
    /// Nanoseconds an operation.
    let minimum, median: Double
    /// The least time an operation that the thread was running.
    let processor: Double
  }

  let workload: Workload
  /// In the order of the workload's arms.
  let times: [Time]

  init(_ workload: Workload, samples: [[Sample]]) {
    self.workload = workload
    times = zip(workload.arms, samples).map { arm, samples in
      let sorted = samples.map { Double($0.time) / Double(workload.operations) }.sorted()
      let processor = samples.map { Double($0.processor) / Double(workload.operations) }.min()
      return Time(
        program: arm.program, minimum: sorted.first ?? .nan,
        median: sorted.isEmpty ? .nan : sorted[sorted.count / 2], processor: processor ?? .nan)
    }
  }

  /// Ours against the floor, minimum against minimum.
  var ratio: Double { times[1].minimum / times[0].minimum }

  /// The same for the time that the threads were running: what other programs do counts less, and
  /// waiting for the disk not at all.
  var processorRatio: Double { times[1].processor / times[0].processor }

  /// Ours against the floor, median against median.
  var medianRatio: Double { times[1].median / times[0].median }
}
