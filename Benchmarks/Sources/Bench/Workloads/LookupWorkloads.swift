import OpenCoreData

/// Lookups that run no statements: faults fulfilled from the row cache, and registered objects by
/// object ID.
///
/// Compared with as many objects of `LoadableMood` in the same random order and, in a column of its
/// own, with a plain Swift loop that only reads an integer of each object.
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
      name: "fault from the row cache", unit: "fault", operations: count, limit: 5.2,
      arms: [
        loadable(),
        Arm(program: .ours) { [bed, positions] in
          try FaultWorkloads.fire(positions, request, bed)
        },
        plain(),
      ],
      note: "Random order over all objects; `willAccessValue` fires each. Loadable Swift calls a "
        + "method of each object that tests its state and a word of its row. Plain Swift sums a "
        + "stored integer.")
  }

  func registeredObject() -> Workload {
    Workload(
      name: "registered object by ID", unit: "lookup", operations: count, limit: 1.3,
      arms: [
        identityMap(),
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
        plain(),
      ],
      note: "Object IDs are in lookup order in memory; the objects are in random order. Loadable "
        + "Swift looks objects up in an open-addressing table by IDs that are objects. Plain Swift "
        + "sums a stored integer."
    )
  }

  private func loadable() -> Arm {
    let objects = loadableMoods()
    return Arm(program: .loadable) { [positions] in
      for object in objects { object.unload() }
      let time = timed { for position in positions { objects[position].fulfill() } }.time
      guard objects.allSatisfy({ $0.state == 0 }) else { throw BenchError("not all loaded") }
      return time
    }
  }

  private func identityMap() -> Arm {
    let map = IdentityMap(loadableMoods())
    let ids = positions.map { PlainID(Int64($0 + 1)) }
    return Arm(program: .loadable) {
      let (found, time) = timed {
        var found = 0
        for id in ids where map.object(for: id) != nil { found += 1 }
        return found
      }
      guard found == ids.count else { throw BenchError("\(found) objects in the map") }
      return time
    }
  }

  private func loadableMoods() -> ContiguousArray<LoadableMood> {
    ContiguousArray((0..<count).map { LoadableMood(MoodValues(number: $0), isLoaded: false) })
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
