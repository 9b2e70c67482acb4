extension LogKind {
  /// The kind of an annotation's text; nil when it is not understood.
  init?(annotation text: LogBytes) {
    if let kind = LogKind(timed: text) ?? LogKind(filled: text) ?? LogKind(shared: text) {
      self = kind
    } else if text.starts(with: "Bound intarray") {
      self = .intarray
    } else if text.starts(with: "Prefetching with key") {
      self = .prefetch
    } else if text.starts(with: "fetch using NSSQLiteStatement")
      || text.starts(with: "fetch using ")
    {
      self = .fetchResult
    } else if text.starts(with: "-executeRequest: encountered exception") {
      self = .error
    } else if text.starts(with: "Failed to load optimized model") {
      self = .setUp
    } else if text.starts(with: "count request ") {
      self = .countResult
    } else if LogKind.isPlanRow(text) {
      self = .plan
    } else {
      return nil
    }
  }

  /// `… time: 0.0002s …`.
  private init?(timed text: LogBytes) {
    guard let range = text.range(of: " time: ") else { return nil }
    let name = LogBytes(text.bytes[..<range.lowerBound])
    if name.starts(with: "sql connection fetch") {
      self = .connectionTime
    } else if name.starts(with: "total count request") {
      self = .countTime
    } else if name.starts(with: "total fetch") {
      self = .fetchTime
    } else if name.ends(with: "execution") {
      self = .executionTime
    } else {
      return nil
    }
  }

  /// `… fulfilled from database …`.
  private init?(filled text: LogBytes) {
    if text.starts(with: "fault fulfilled from ") {
      self = .objectFault
    } else if text.starts(with: "to-many relationship fault ")
      || text.starts(with: "relationship fault ") || text.starts(with: "to-one relationship fault ")
    {
      self = .relationshipFault
    } else {
      return nil
    }
  }

  /// The kind of a text that several classes have; nil when it is none of these.
  init?(shared text: LogBytes) {
    for (beginning, kind) in LogKind.beginnings where text.starts(with: beginning) {
      self = kind
      return
    }
    if text.contains("PersistentHistory") || text.contains("ersistent history")
      || text.contains("ersistent History")
    {
      self = .history
    } else {
      return nil
    }
  }

  /// How the texts begin that are told apart by their beginning alone.
  private static let beginnings: [(StaticString, LogKind)] = [
    ("Connecting to sqlite database", .connecting),
    ("Disconnecting from sqlite database", .disconnecting),
    ("(migration)", .migration),
    ("Migration", .migration),
    ("migration", .migration),
    ("Beginning lightweight migration", .migration),
    ("Beginning migration", .migration),
    ("Finished lightweight migration", .migration),
    ("Finished migration", .migration),
    ("Incompatible version schema", .migration),
    ("store version hashes", .migration),
    ("current version hashes", .migration),
    ("PostSaveMaintenance", .maintenance),
    ("WAL checkpoint", .checkpoint),
    ("wal_checkpoint", .checkpoint),
    ("checkpoint", .checkpoint),
    ("Remote Change Notification", .remoteChange),
    ("Remote change notification", .remoteChange),
    ("CoreData+CloudKit", .cloudKit),
    ("CloudKit", .cloudKit),
    ("NSCloudKitMirroring", .cloudKit),
    ("Core Data multi-threading assertions", .concurrency),
    ("repairing missing delete propagation", .repair),
    ("repairing ", .repair),
    ("creating schema", .schema),
    ("Creating schema", .schema),
    ("creating ", .schema),
    ("Creating ", .schema),
    ("storeType:", .setUp),
    ("configuration:", .setUp),
    ("URL:", .setUp),
    ("options:", .setUp),
    ("NSMigratePersistentStoresAutomatically", .setUp),
    ("NSInferMappingModelAutomatically", .setUp),
    ("NSPersistentHistoryTrackingKey", .setUp),
    ("NSPersistentStore", .setUp),
    ("NSSQLite", .setUp),
    ("NSReadOnlyPersistentStoreOption", .setUp),
    ("<NSPersistentStoreCoordinator:", .setUp),
    ("-addPersistentStoreWithType", .setUp),
    ("Added persistent store", .setUp),
    ("Will add persistent store", .setUp),
  ]
}
