import CFloor

/// Measures whether the cost of migrating a row stays the same as the number of rows grows.
struct MigrationGrowth {
  let builder: StoreBuilder
  let rows: Int
  let rounds: Int
  private let few = 10_000

  var row: Plan.Row {
    Plan.Row(name: "growth, migrate") {
      // A small migration is short, and its time varies more.
      let small = try times(rows: few, rounds: rounds * 3)
      let large = try times(rows: rows, rounds: 1)
      return zip(small, large).map { small, large in
        Floor(
          name: "growth, \(small.name)", against: "itself at \(few) rows",
          value: large.time / small.time, limit: 1.2, unit: "ratio of CPU times per row",
          note: "CPU time, \(Table.number(small.time)) ns per row at \(few) rows and "
            + "\(Table.number(large.time)) at \(rows).")
      }
    }
  }

  /// Returns the minimum CPU times of OpenCoreData, in nanoseconds per row.
  private func times(rows: Int, rounds: Int) throws -> [(name: String, time: Double)] {
    let bed = try Bed(rows: rows, builder: builder)
    let (inPlace, mapped) = (
      LightweightMigrationWorkloads(bed: bed), MigrationManagerWorkloads(bed: bed)
    )
    return try [
      inPlace.make(.defaultAdded), inPlace.make(.attributeRemoved), inPlace.make(.entityRenamed),
      mapped.attributes(), mapped.relationships(),
    ].map { workload in
      let ours = workload.arms.filter { $0.program == .ours }
      let times = try (0..<rounds).flatMap { _ in
        try ours.map { arm in
          _ = try arm.run()
          return Double(cfloor_measured_last().processor) / Double(rows)
        }
      }
      return (workload.name, times.min() ?? .nan)
    }
  }
}
