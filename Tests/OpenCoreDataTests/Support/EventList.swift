import ProfileEvents
import Synchronization

/// Records every event.
final class EventList: EventSink {
  private let list = Mutex<[Event]>([])

  var detail: EventDetail { [] }

  var events: [Event] {
    list.withLock { $0 }
  }

  func record(_ event: Event) {
    list.withLock { $0.append(event) }
  }

  /// The SQL of the statements of a kind, in order.
  func statements(_ kind: StatementKind? = nil) -> [String] {
    events.compactMap(\.statement).filter { kind == nil || $0.kind == kind }.map(\.sql)
  }
}

/// Calls a closure while the first event that meets a condition is recorded.
final class FirstEventListener: EventSink {
  private let condition: @Sendable (Event) -> Bool
  private let body: Mutex<(@Sendable () -> Void)?>

  init(of condition: @escaping @Sendable (Event) -> Bool, _ body: @escaping @Sendable () -> Void) {
    self.condition = condition
    self.body = Mutex(body)
  }

  var detail: EventDetail { [] }

  func record(_ event: Event) {
    guard condition(event) else { return }
    let body = body.withLock { body in
      defer { body = nil }
      return body
    }
    body?()
  }
}

/// A thread-safe list of lines.
final class LineList: Sendable {
  private let list = Mutex<[String]>([])

  var lines: [String] {
    list.withLock { $0 }
  }

  func add(_ line: String) {
    list.withLock { $0.append(line) }
  }
}
