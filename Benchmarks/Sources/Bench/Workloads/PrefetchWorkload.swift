import CFloor
import OpenCoreData

/// A batched fetch of countries, 500 at a time, that prefetches their moods.
struct PrefetchWorkload {
  let bed: Bed
  private let pageSize = 500

  func make() throws -> Workload {
    let request = NSFetchRequest<Country>(entityName: "Country")
    request.fetchBatchSize = pageSize
    request.relationshipKeyPathsForPrefetching = ["moods"]
    let trace = try bed.trace { _ = try $0.fetch(request) }
    let selects = trace.entries.map(\.sql).filter { $0.hasPrefix("SELECT 0, ") }
    guard selects.count == 3, selects[0].hasSuffix("FROM ZCOUNTRY t0"),
      selects[1].contains("FROM ZCOUNTRY t0 WHERE"), selects[2].contains("FROM ZMOOD t0 WHERE")
    else { throw BenchError("unexpected statements of a prefetch: \(selects)") }
    let (keys, page, children) = (selects[0], selects[1], selects[2])
    return Workload(
      name: "prefetch of a to-many", unit: "child row", operations: bed.rows, limit: 1.5,
      arms: [
        Arm(program: .floor) { [bed] in
          try PrefetchWorkload.floor(bed, keys: keys, page: page, children: children, pageSize)
        },
        Arm(program: .ours) { [bed] in
          try bed.measured { context in
            let (countries, time) = try timed { try context.fetch(request) }
            withExtendedLifetime(countries) {}
            return time
          }
        },
      ],
      note: "500 parents per batch, \(StoreBuilder.moodsPerCountry) children each. "
        + "The floor runs the SELECT of the primary keys and both SELECTs of each batch.")
  }

  private static func floor(
    _ bed: Bed, keys: String, page: String, children: String, _ pageSize: Int
  ) throws -> UInt64 {
    var identities: UnsafeMutablePointer<cfloor_identity>?
    var pages: [(UnsafeMutablePointer<cfloor_country>?, Int)] = []
    var loaded: [(UnsafeMutablePointer<cfloor_mood>?, Int)] = []
    let database = bed.floor.handle
    let time = timed {
      let parents = cfloor_identities(database, keys, &identities)
      var values: [Int64] = []
      values.reserveCapacity(pageSize)
      for first in stride(from: 0, to: parents, by: pageSize) {
        values.removeAll(keepingCapacity: true)
        for index in first..<min(first + pageSize, parents) {
          values.append(identities?[index].key ?? 0)
        }
        values.withUnsafeBufferPointer { values in
          cfloor_bind_array(database, values.baseAddress, values.count)
          var countries: UnsafeMutablePointer<cfloor_country>?
          let count = cfloor_countries(database, page, &countries)
          pages.append((countries, count))
          var moods: UnsafeMutablePointer<cfloor_mood>?
          let found = cfloor_moods(database, children, &moods)
          loaded.append((moods, found))
        }
      }
    }.time
    free(identities)
    for (rows, count) in pages { cfloor_free_countries(rows, count) }
    for (rows, count) in loaded { cfloor_free_moods(rows, count) }
    try bed.floor.check(loaded.reduce(0) { $0 + $1.1 }, is: bed.rows, children)
    return time
  }
}
