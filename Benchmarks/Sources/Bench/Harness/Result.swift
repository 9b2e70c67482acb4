/// The result of a workload.
struct Result {
  struct Time {
    let program: Arm.Program
    /// The minimum and median times, in nanoseconds per operation.
    let minimum, median: Double
    /// The minimum CPU time of the thread, in nanoseconds per operation.
    let processor: Double
  }

  let workload: Workload
  /// The times, in the order of the workload's arms.
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

  /// The ratio of OpenCoreData's minimum time to the floor's.
  var ratio: Double { times[1].minimum / times[0].minimum }

  /// The ratio of OpenCoreData's minimum time to that of plain Swift, if that isn't the floor.
  var plainRatio: Double? {
    times.dropFirst(2).first { $0.program == .swift }.map { times[1].minimum / $0.minimum }
  }

  /// The ratio of the minimum CPU times, which depends less on other programs and excludes disk
  /// time.
  var processorRatio: Double { times[1].processor / times[0].processor }

  /// The ratio of OpenCoreData's median time to the floor's.
  var medianRatio: Double { times[1].median / times[0].median }
}
