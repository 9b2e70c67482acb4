import OpenCoreData

/// Opening a store of another version of the model, which migrates it in place.
struct LightweightMigrationWorkloads {
  let bed: Bed

  func make(_ change: ModelChange) throws -> Workload {
    let script = try Script { [bed] in
      try Self.migrate(bed.builder.copy(of: bed.url, "migrated-script.sqlite"), change)
    }
    return Workload(
      name: "migrate, \(change.rawValue)", unit: "row", operations: bed.rows, limit: 1.2,
      arms: [
        Arm(program: .floor) { [bed] in
          try script.run(on: bed.builder.copy(of: bed.url, "migrated-floor.sqlite"))
        },
        Arm(program: .ours) { [bed] in
          try Self.migrate(bed.builder.copy(of: bed.url, "migrated-ours.sqlite"), change)
        },
      ],
      note:
        "On a new copy of the store each time. Opening it is included, also for the floor, which "
        + "runs the same statements on as many connections, and closes them in the same order.")
  }

  /// Migrates a store, and returns the time in nanoseconds.
  @discardableResult
  static func migrate(_ url: URL, _ change: ModelChange) throws -> UInt64 {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: change.makeModel())
    return try timed {
      try coordinator.addPersistentStore(
        type: .sqlite, at: url,
        options: [
          NSMigratePersistentStoresAutomaticallyOption: true,
          NSInferMappingModelAutomaticallyOption: true,
        ])
    }.time
  }
}
