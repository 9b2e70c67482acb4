import CFloor
import OpenCoreData

/// Firing faults one at a time, in random order.
struct FaultWorkloads {
  let bed: Bed

  func fromDatabase() throws -> Workload {
    let count = min(20_000, bed.rows)
    let positions = bed.shuffledPositions(count)
    let request = Bed.allMoods()
    request.includesPropertyValues = false
    let sql = try bed.trace { context in
      try context.fetch(request).first?.willAccessValue(forKey: "rank")
    }.statement("SELECT", containing: "Z_PK = ?")
    let keys = positions.map { Int64($0 + 1) }
    let floor = Arm(program: .floor) { [bed] in
      let memory = malloc(count * MemoryLayout<cfloor_mood>.stride)
      guard let rows = memory?.bindMemory(to: cfloor_mood.self, capacity: count) else {
        throw BenchError("no memory")
      }
      let (found, time) = try timed {
        try bed.floor.run("BEGIN")
        defer { try? bed.floor.run("COMMIT") }
        return cfloor_moods_by_key(bed.floor.handle, sql, keys, count, rows)
      }
      try bed.floor.check(found, is: count, sql)
      cfloor_free_moods(rows, found)
      return time
    }
    return Workload(
      name: "fault from the database", unit: "fault", operations: count, limit: 1.6,
      arms: [
        floor, Arm(program: .ours) { [bed] in try FaultWorkloads.fire(positions, request, bed) },
      ] + GRDBArms(bed: bed).lookups(positions),
      note: "In a `perform` block; objects are registered faults before timing starts, and "
        + "`willAccessValue` fires each. The floor uses one read transaction.")
  }

  /// Fires the faults at the given indexes of a fetch's result.
  static func fire(
    _ positions: [Int], _ request: NSFetchRequest<Mood>, _ bed: Bed
  ) throws -> UInt64 {
    try bed.measured { context in
      let moods = try context.fetch(request)
      let time = timed {
        for position in positions { moods[position].willAccessValue(forKey: "rank") }
      }.time
      guard positions.allSatisfy({ !moods[$0].isFault }) else {
        throw BenchError("an object is still a fault")
      }
      return time
    }
  }
}
