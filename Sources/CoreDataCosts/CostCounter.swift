import ProfileEvents
import Synchronization

/// Counts the events of a coordinator, whichever of its contexts caused them.
final class CostCounter: EventSink {
  let detail: EventDetail = []
  private let counted = Mutex(Counters())

  var counters: Counters { counted.withLock { $0 } }

  func record(_ event: Event) {
    counted.withLock { $0.count(event) }
  }
}

extension Counters {
  /// Adds what an event stands for.
  fileprivate mutating func count(_ event: Event) {
    switch event.kind {
    case .fetch: fetches += 1
    case .save: saves += 1
    case .transaction: transactions += 1
    case .prefetch: prefetches += 1
    case .statement: count(event.statement?.kind, rows: event.rows)
    case .objectFault:
      switch event.source {
      case .rowCache: objectFaultHits += 1
      case .database: objectFaultMisses += 1
      case .parent: objectFaultsFromParent += 1
      case nil: break
      }
    case .relationshipFault:
      switch event.source {
      case .rowCache: relationshipFaultHits += 1
      case .database: relationshipFaultMisses += 1
      case .parent: relationshipFaultsFromParent += 1
      case nil: break
      }
    default: break
    }
  }

  private mutating func count(_ kind: StatementKind?, rows: Int) {
    switch kind {
    case .select:
      selects += 1
      self.rows += rows
    case .insert: inserts += 1
    case .update: updates += 1
    case .delete: deletes += 1
    case .transaction, .housekeeping, nil: break
    }
  }
}
