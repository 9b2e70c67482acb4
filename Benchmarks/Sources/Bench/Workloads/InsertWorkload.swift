import CFloor
import OpenCoreData

/// Inserting objects into an empty store, with one save.
struct InsertWorkload {
  let builder: StoreBuilder
  let count: Int

  func make() throws -> Workload {
    let values = (0..<count).map { MoodValues(number: $0) }
    let url = try builder.emptyStore("insert-trace.sqlite")
    let trace = try StatementTrace {
      _ = try InsertWorkload.insert(Array(values.prefix(2)), url)
    }
    let statements = try SaveStatements(trace)
    let source = FloorRows(values)
    return Workload(
      name: "insert and save", unit: "object", operations: count, limit: 2.0,
      arms: [
        Arm(program: .floor) { [builder] in
          let url = try builder.emptyStore("insert-floor.sqlite")
          let database = try FloorDatabase(url: url, pragmas: statements.pragmas)
          return try timed { try statements.run(source, on: database) }.time
        },
        Arm(program: .ours) { [builder] in
          let url = try builder.emptyStore("insert-ours.sqlite")
          return try InsertWorkload.insert(values, url)
        },
      ] + GRDBArms.insertions(values, builder),
      note:
        "\(count) objects, nine attributes each, set with generated accessors. Includes primary keys, "
        + "validation, and notifications. Both commit with the same durability.")
  }

  private static func insert(
    _ values: [MoodValues], _ url: URL
  ) throws -> UInt64 {
    MoodsModel.registerClasses()
    let model = BenchModel.make(moodClass: GeneratedMood.self)
    let context = try Stack(url: url, model: model).context()
    return try context.performAndWait {
      try timed {
        for value in values {
          GeneratedMood(context: context).set(value)
        }
        try context.save()
      }.time
    }
  }
}

extension GeneratedMood {
  /// Sets the nine attributes.
  fileprivate func set(_ values: MoodValues) {
    rank = values.rank
    stamp = values.stamp
    votes = values.votes
    flags = values.flags
    kind = values.kind
    latitude = values.latitude
    longitude = values.longitude
    name = values.name
    note = values.note
  }
}
