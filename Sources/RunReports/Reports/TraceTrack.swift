import ProfileEvents
import Profiling

/// The tracks of a trace, from above.
enum TraceTrack: Int, CaseIterable {
  case steps = 1
  case fetches
  case saves
  case faults
  case misses
  case loads
  case statements
  case transactions
  case others

  /// What stands before the track; Instruments' names where it has one.
  var name: String {
    switch self {
    case .steps: "Steps"
    case .fetches: Track.Name.fetches.rawValue
    case .saves: Track.Name.saves.rawValue
    case .faults: Track.Name.faults.rawValue
    case .misses: Track.Name.cacheMisses.rawValue
    case .loads: "Pages and prefetches"
    case .statements: "Statements"
    case .transactions: "Transactions"
    case .others: "Others"
    }
  }

  /// Where events of a lane are drawn; misses are part of the faults, as in Instruments.
  static func all(of lane: Timeline.Lane) -> [TraceTrack] {
    switch lane.kind {
    case .fetch: [.fetches]
    case .save: [.saves]
    case .objectFault, .relationshipFault:
      lane.source == .database ? [.faults, .misses] : [.faults]
    case .prefetch, .batchLoad: [.loads]
    case .statement: [.statements]
    case .transaction: [.transactions]
    case .batchRequest, .notification, .merge, .migrationStep, .storeOpening, .rowCacheHit,
      .rowCacheMiss:
      [.others]
    }
  }
}
