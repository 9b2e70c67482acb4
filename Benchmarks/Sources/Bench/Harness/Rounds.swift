import CFloor

/// Runs the arms of a workload in turn, in several rounds, so that a slow period of the machine
/// doesn't affect only one of them.
enum Rounds {
  static func run(_ workload: Workload, count: Int) throws -> Result {
    var samples = [[Sample]](repeating: [], count: workload.arms.count)
    // The first round warms up files, statements, and the allocator, and is discarded.
    for round in 0...count {
      for step in workload.arms.indices {
        let index = (step + round) % workload.arms.count
        let time = try workload.arms[index].run()
        if round > 0 {
          samples[index].append(
            Sample(time: time, processor: cfloor_measured_last().processor))
        }
      }
    }
    return Result(workload, samples: samples)
  }
}
