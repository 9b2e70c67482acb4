import OpenCoreData

/// Lookups that run no statements: faults fulfilled from the row cache, and registered objects by
/// object ID.
///
/// They're compared with a plain Swift loop that reads an integer of as many objects in the same
/// random order.
struct LookupWorkloads {
  let bed: Bed
  private let count: Int
  private let positions: [Int]

  init(bed: Bed) {
    self.bed = bed
    count = min(100_000, bed.rows)
    positions = bed.shuffledPositions(count)
  }

  func faultFromRowCache() -> Workload {
    let request = Bed.allMoods()
    return Workload(
      name: "fault from the row cache", unit: "fault", operations: count, limit: 8.3,
      arms: [
        plain(),
        Arm(program: .ours) { [bed, positions] in
          try FaultWorkloads.fire(positions, request, bed)
        },
      ],
      note: "Random order over all objects; `willAccessValue` fires each.")
  }

  func registeredObject() -> Workload {
    Workload(
      name: "registered object by ID", unit: "lookup", operations: count, limit: 3.3,
      arms: [
        plain(),
        Arm(program: .ours) { [bed, positions] in
          try bed.measured { context in
            let moods = try context.fetch(Bed.allMoods())
            let ids = positions.map { moods[$0].objectID }
            let (found, time) = timed {
              var found = 0
              for id in ids where context.registeredObject(for: id) != nil { found += 1 }
              return found
            }
            guard found == ids.count else { throw BenchError("\(found) registered objects") }
            return withExtendedLifetime(moods) { time }
          }
        },
      ],
      note: "Object IDs are in lookup order in memory; the objects are in random order."
    )
  }

  private func plain() -> Arm {
    let objects = ContiguousArray((0..<count).map { PlainMood(MoodValues(number: $0)) })
    return Arm(program: .swift) { [positions] in
      timed { use(LookupWorkloads.sum(objects, positions)) }.time
    }
  }

  @inline(never)
  private static func sum(_ objects: ContiguousArray<PlainMood>, _ positions: [Int]) -> Int64 {
    var sum: Int64 = 0
    for position in positions { sum &+= objects[position].rank }
    return sum
  }
}
