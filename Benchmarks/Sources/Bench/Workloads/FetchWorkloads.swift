import CFloor
import OpenCoreData

/// Fetches of all rows: as realized objects, as faults, and as object IDs only.
struct FetchWorkloads {
  let bed: Bed

  func realized() throws -> Workload {
    let request = Bed.allMoods()
    request.returnsObjectsAsFaults = false
    return Workload(
      name: "fetch, realized", unit: "row", operations: bed.rows, limit: 1.6,
      arms: [try floorRows(request), ours(request)] + GRDBArms(bed: bed).records(),
      note:
        "Row cache cold. OpenCoreData also registers and uniques objects and fills the row cache.")
  }

  func faults() throws -> Workload {
    let request = Bed.allMoods()
    return Workload(
      name: "fetch, faults over cached rows", unit: "row", operations: bed.rows, limit: 1.5,
      arms: [try floorRows(request), ours(request)], note: "Row cache cold.")
  }

  func warm() throws -> Workload {
    let request = Bed.allMoods()
    request.returnsObjectsAsFaults = false
    let holder = bed.stack.context()
    return Workload(
      name: "fetch, row cache warm", unit: "row", operations: bed.rows, limit: nil,
      arms: [
        try floorRows(request),
        Arm(program: .ours) { [bed] in
          // Another context retains an object for every row.
          let held = try holder.performAndWait { try holder.fetch(Bed.allMoods()) }
          return try withExtendedLifetime(held) { try FetchWorkloads.time(request, bed) }
        },
      ],
      note: "Another context retains the same rows; the framework reads them again, like Core Data."
    )
  }

  func identities() throws -> Workload {
    let request = Bed.allMoods()
    request.includesPropertyValues = false
    let sql = try bed.trace { _ = try $0.fetch(request) }.statement("SELECT", containing: "ZMOOD")
    let floor = Arm(program: .floor) { [bed] in
      var array: UnsafeMutablePointer<cfloor_identity>?
      let (count, time) = timed { cfloor_identities(bed.floor.handle, sql, &array) }
      free(array)
      try bed.floor.check(count, is: bed.rows, sql)
      return time
    }
    return Workload(
      name: "fetch, object IDs only", unit: "row", operations: bed.rows,
      limit: 2.0, arms: [floor, ours(request)] + GRDBArms(bed: bed).keys(),
      note: "`includesPropertyValues = false`: the floor and GRDB read primary keys; OpenCoreData "
        + "creates and registers objects.")
  }

  private func floorRows(_ request: NSFetchRequest<Mood>) throws -> Arm {
    let sql = try bed.trace { _ = try $0.fetch(request) }.statement("SELECT", containing: "ZMOOD")
    return Arm(program: .floor) { [bed] in
      var array: UnsafeMutablePointer<cfloor_mood>?
      let (count, time) = timed { cfloor_moods(bed.floor.handle, sql, &array) }
      cfloor_free_moods(array, count)
      try bed.floor.check(count, is: bed.rows, sql)
      return time
    }
  }

  private func ours(_ request: NSFetchRequest<Mood>) -> Arm {
    Arm(program: .ours) { [bed] in try FetchWorkloads.time(request, bed) }
  }

  private static func time(_ request: NSFetchRequest<Mood>, _ bed: Bed) throws -> UInt64 {
    try bed.measured { context in
      let (moods, time) = try timed { try context.fetch(request) }
      guard moods.count == bed.rows else { throw BenchError("\(moods.count) moods") }
      return time
    }
  }
}
