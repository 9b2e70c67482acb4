/// Measures whether the cost per row stays the same as the number of rows grows.
struct Growth {
  let builder: StoreBuilder
  let rows: Int
  let rounds: Int
  private let few = 10_000

  var row: Plan.Row {
    Plan.Row(name: "growth") {
      let (small, large) = (try ratios(rows: few, rounds: rounds * 3), try ratios(rows: rows))
      return zip(small, large).map { small, large in
        Floor(
          name: "growth, \(small.workload.name)", against: "itself at \(few) rows",
          value: large.ratio / small.ratio, limit: 1.3, unit: "ratio of ratios",
          note: "The ratio to C is \(Table.number(small.ratio)) at \(few) rows and "
            + "\(Table.number(large.ratio)) at \(rows).")
      }
    }
  }

  private func ratios(rows: Int, rounds: Int? = nil) throws -> [Result] {
    let bed = try Bed(rows: rows, builder: builder)
    return try [
      FetchWorkloads(bed: bed).realized(), FaultWorkloads(bed: bed).fromDatabase(),
      InsertWorkload(builder: builder, count: rows / 2).make(),
    ]
    .map { try Rounds.run($0.withoutPeers, count: rounds ?? self.rounds) }
  }
}

extension Workload {
  /// The workload with only the floor and OpenCoreData.
  var withoutPeers: Workload {
    Workload(
      name: name, unit: unit, operations: operations, limit: limit, arms: Array(arms.prefix(2)),
      note: note)
  }
}
