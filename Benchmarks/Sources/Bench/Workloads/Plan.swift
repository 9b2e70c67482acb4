import Foundation

/// All rows of the table, in order.
///
/// Each workload is created when it runs.
struct Plan {
  struct Entry {
    let name: String
    let make: () throws -> Workload
  }

  /// A row that isn't a comparison of times.
  struct Row {
    let name: String
    let make: () throws -> [Floor]
  }

  let entries: [Entry]

  init(_ bed: Bed) throws {
    let (fetch, faults) = (FetchWorkloads(bed: bed), FaultWorkloads(bed: bed))
    let (lookups, access) = (LookupWorkloads(bed: bed), AccessWorkloads(bed: bed))
    let (inPlace, mapped) = (
      LightweightMigrationWorkloads(bed: bed), MigrationManagerWorkloads(bed: bed)
    )
    let insert = InsertWorkload(builder: bed.builder, count: bed.rows / 2)
    let framework = [
      Entry(name: "fetch, realized", make: fetch.realized),
      Entry(name: "fetch, faults over cached rows", make: fetch.faults),
      Entry(name: "fetch, object IDs only", make: fetch.identities),
      Entry(name: "fetch, row cache warm", make: fetch.warm),
      Entry(name: "fault from the database", make: faults.fromDatabase),
      Entry(name: "prefetch of a to-many", make: PrefetchWorkload(bed: bed).make),
      Entry(name: "insert and save", make: insert.make),
      Entry(name: "migrate, attribute added") { try inPlace.make(.attributeAdded) },
      Entry(name: "migrate, attribute with a default added") { try inPlace.make(.defaultAdded) },
      Entry(name: "migrate, attribute removed") { try inPlace.make(.attributeRemoved) },
      Entry(name: "migrate, entity renamed, index added") { try inPlace.make(.entityRenamed) },
      Entry(name: "migrate with a manager, attributes", make: mapped.attributes),
      Entry(name: "migrate with a manager, relationships", make: mapped.relationships),
      Entry(name: "fault from the row cache", make: lookups.faultFromRowCache),
      Entry(name: "registered object by ID", make: lookups.registeredObject),
      Entry(name: "generated property, Int", make: access.generatedInteger),
      Entry(name: "generated property, String", make: access.generatedText),
      Entry(name: "@Managed, Int", make: access.managedInteger),
      Entry(name: "@Managed, String", make: access.managedText),
      Entry(name: "computed property, Int", make: access.computedInteger),
      Entry(name: "computed property, String", make: access.computedText),
      Entry(name: "value(forKey:)", make: access.byName),
      Entry(name: "predicate over objects", make: PredicateWorkloads(bed: bed).overObjects),
    ]
    let threads = ThreadWorkloads.counts.map { count in
      Entry(name: ThreadWorkloads.name(count)) {
        try ThreadWorkloads(bed: bed).fetch(threads: count)
      }
    }
    entries = framework + threads + Self.workbench(bed)
  }

  private static func workbench(_ bed: Bed) -> [Entry] {
    #if Workbench
      let (recording, logs) = (RecordingWorkloads(bed: bed), LogWorkloads(bed: bed))
      return [
        Entry(name: "recording events", make: recording.events),
        Entry(name: "recording with stacks", make: recording.stacks),
        Entry(name: "log, level 1", make: logs.level1),
        Entry(name: "log, level 3", make: logs.level3),
      ]
    #else
      return []
    #endif
  }

  /// Returns the rows without a comparison: memory, and times with absolute limits.
  static func rowsWithoutFloor(rows: Int) -> [Row] {
    [
      Row(name: "memory") {
        let kinds = Memory.allCases.filter { $0 != .grdb || GRDBArms.areAvailable }
        let readings = try kinds.map { ($0, try $0.least(rows: rows)) }
        return readings.flatMap { kind, reading -> [Floor] in
          let limit: Double? =
            switch kind {
            case .fault: 80
            case .realized: 330
            case .floor, .grdb: nil
            }
          let tables = String(format: "%.0f", Double(reading.large) / Double(rows))
          return [
            Floor(
              name: "memory, \(kind.rawValue)", against: "bytes",
              value: (Double(reading.small) / Double(rows)).rounded(), limit: limit,
              unit: "bytes per object",
              note: "Arrays and tables take another \(tables) B per object. "
                + "Peak resident size \(reading.peak >> 20) MiB.")
          ]
        }
      },
      Row(name: "predicate, parsed") { [PredicateWorkloads.parsing()] },
    ]
  }
}
