import ProfileEvents
import Synchronization

/// Assembles events into operations; inner events end first.
final class OperationCollector: EventSink {
  let detail: EventDetail = .failures
  private let body: @Sendable (CoreDataOperation) -> Void
  /// The operations that have ended on each thread inside of those that are still running.
  private let threads = Mutex<[UInt64: UnfinishedOperations]>([:])

  init(_ body: @escaping @Sendable (CoreDataOperation) -> Void) {
    self.body = body
  }

  func record(_ event: Event) {
    switch event.kind {
    case .rowCacheHit, .rowCacheMiss, .migration, .migrationStep, .storeOpening: return
    default: break
    }
    let finished = threads.withLock { threads in
      var unfinished = threads[event.thread] ?? UnfinishedOperations()
      let wasEmpty = unfinished.isEmpty
      let finished = unfinished.take(event)
      if !unfinished.isEmpty {
        threads[event.thread] = unfinished
      } else if !wasEmpty {
        threads[event.thread] = nil
      }
      return finished
    }
    guard !finished.isEmpty else { return }
    let offset = MonotonicClock.epoch()
    for var operation in finished {
      operation.move(by: offset)
      body(operation)
    }
  }
}

/// The operations that have ended on a thread while those around them are running.
///
/// An operation contains what has a higher ID than its own when it ends, because IDs are in the
/// order in which events begin, and events on a thread are nested.
struct UnfinishedOperations {
  private struct Node {
    let id: Int
    let parent: Int
    /// `nil` for an event that's only counted.
    var operation: CoreDataOperation?
    var counters = Counters()
    /// The number of operations after it that belong to its parent but aren't listed, and their
    /// counts.
    var omitted = 0
    var omittedCounters = Counters()

    /// The operation, including the counts of those after it that aren't listed.
    var listed: CoreDataOperation? {
      var listed = operation
      listed?.omitted += omitted
      listed?.costs = Costs(counters + omittedCounters)
      return listed
    }

    mutating func count(_ other: Counters) {
      counters = counters + other
      operation?.costs = Costs(counters)
    }
  }

  /// A read that failed in an event that hasn't ended.
  private struct FailedRead {
    /// The ID of that event.
    let parent: Int
    let failure: CoreDataOperation.Failure
    let context: String?
    let time: UInt64
    /// Whether a call such as `fetch` caused it, rather than an access to an object.
    let isRequest: Bool
  }

  /// The number of operations to list; more are only counted.
  static let limit = 1_000
  /// The number of statements to compare to find one with the same text.
  private static let reach = 16

  /// In the order of IDs.
  private var nodes: [Node] = []
  private var failedReads: [FailedRead] = []
  /// The index of the node of the statement that ended last.
  private var lastStatement: Int?

  var isEmpty: Bool { nodes.isEmpty && failedReads.isEmpty }

  /// Adds an event, and returns the outermost operations that have ended with it.
  mutating func take(_ event: Event) -> [CoreDataOperation] {
    guard let failure = event.failure else { return close(event) }
    switch failure {
    case .operation(_, let code):
      markStatement(in: event.id, CoreDataOperation.Failure(code))
      return close(event)
    case .read(let code):
      note(event, CoreDataOperation.Failure(code))
      return []
    case .blockEnd:
      return closeFailed(before: event)
    }
  }

  private mutating func close(_ event: Event) -> [CoreDataOperation] {
    var operation = CoreDataOperation(event)
    if case .operation(_, let code) = event.failure {
      operation?.failure = CoreDataOperation.Failure(code)
    }
    if !failedReads.isEmpty {
      // Events of these kinds end even if a read in them has failed.
      if event.kind == .relationshipFault || event.kind == .batchLoad {
        operation?.failure = failedReads.first { $0.parent == event.id }?.failure
      }
      failedReads.removeAll { $0.parent >= event.id }
    }
    var counters = Counters()
    counters.count(event)
    guard let operation else {
      // If a COMMIT fails, no other statement has failed; a ROLLBACK follows the one that has.
      if event.kind == .statement, event.statement?.sql != "ROLLBACK" { lastStatement = nil }
      if event.parent == 0 { return removeNodes(after: event.id).compactMap(\.listed) }
      if event.roundTrips > 0 { count(counters, event) }
      return []
    }
    let node = finish(operation, event, counters)
    guard event.parent == 0 else {
      add(node)
      return []
    }
    if nodes.count >= Self.limit { collapse() }
    return node.operation.map { [$0] } ?? []
  }

  /// Keeps only the first operation, with the counts of the others.
  ///
  /// The remaining ones belong to an operation of another context that's still running, or have
  /// failed outside of a block, whose end isn't reported.
  private mutating func collapse() {
    for node in nodes.dropFirst() {
      nodes[0].omittedCounters = nodes[0].omittedCounters + node.counters + node.omittedCounters
      nodes[0].omitted += node.omitted + (node.operation?.count ?? 0)
    }
    nodes.removeSubrange(1...)
    lastStatement = nil
  }

  /// Returns an operation for a fetch or fault whose end isn't reported, with the operations in it.
  private mutating func closeFailed(before event: Event) -> [CoreDataOperation] {
    defer { failedReads = [] }
    guard let read = failedReads.min(by: { $0.parent < $1.parent }), event.parent == 0 else {
      return []
    }
    let children = nodes.filter { $0.id > read.parent }.compactMap(\.operation)
    let begin = children.first?.begin ?? read.time
    let operation = CoreDataOperation(
      kind: read.isRequest ? .fetch : .fault, entity: children.first?.entity, relationship: nil,
      context: read.context, source: nil, sql: nil, begin: begin, duration: read.time &- begin,
      rows: 0, failure: read.failure)
    var event = event
    (event.id, event.parent) = (read.parent, 0)
    return finish(operation, event, Counters()).operation.map { [$0] } ?? []
  }

  /// Returns the node of an operation that has ended, and moves the operations in it into it.
  private mutating func finish(
    _ operation: CoreDataOperation, _ event: Event, _ counters: Counters
  ) -> Node {
    var node = Node(id: event.id, parent: event.parent, operation: operation, counters: counters)
    for child in removeNodes(after: event.id) {
      node.counters = node.counters + child.counters + child.omittedCounters
      node.operation?.omitted += child.omitted
      if let operation = child.operation { node.operation?.operations.append(operation) }
    }
    node.operation?.costs = Costs(node.counters)
    return node
  }

  private mutating func removeNodes(after id: Int) -> [Node] {
    guard let last = nodes.last, last.id > id else { return [] }
    let start = nodes.lastIndex { $0.id <= id }.map { $0 + 1 } ?? 0
    defer {
      nodes.removeSubrange(start...)
      lastStatement = nil
    }
    return Array(nodes[start...])
  }

  private mutating func add(_ node: Node) {
    let isStatement = node.operation?.kind == .statement
    if isStatement, let index = indexOfSameStatement(node) {
      nodes[index].operation?.add(node.operation)
      nodes[index].count(node.counters)
      lastStatement = index
    } else if nodes.count >= Self.limit {
      let last = nodes.count - 1
      nodes[last].omittedCounters = nodes[last].omittedCounters + node.counters
      nodes[last].omitted += node.operation?.count ?? 0
    } else {
      nodes.append(node)
      if isStatement { lastStatement = nodes.count - 1 }
    }
  }

  /// Counts an event that isn't an operation.
  private mutating func count(_ counters: Counters, _ event: Event) {
    if let last = nodes.indices.last, nodes[last].parent == event.parent {
      nodes[last].omittedCounters = nodes[last].omittedCounters + counters
    } else {
      nodes.append(Node(id: event.id, parent: event.parent, counters: counters))
    }
  }

  /// Returns the index of the same INSERT, UPDATE, or DELETE of the same transaction.
  private func indexOfSameStatement(_ node: Node) -> Int? {
    guard node.counters.selects == 0, let sql = node.operation?.sql else { return nil }
    for index in nodes.indices.reversed().prefix(Self.reach) {
      guard nodes[index].parent == node.parent else { return nil }
      if let other = nodes[index].operation, other.sql == sql, other.failure == nil { return index }
    }
    return nil
  }

  private mutating func note(_ event: Event, _ failure: CoreDataOperation.Failure) {
    guard event.parent > 0 else { return }
    markStatement(in: event.parent, failure)
    guard !failedReads.contains(where: { $0.parent == event.parent }) else { return }
    failedReads.append(
      FailedRead(
        parent: event.parent, failure: failure, context: event.context, time: event.begin,
        isRequest: event.callSite != nil))
  }

  /// Marks the statement that ended last as failed, if SQLite has caused the error.
  private mutating func markStatement(in parent: Int, _ failure: CoreDataOperation.Failure) {
    guard failure.resultCode != nil, let index = lastStatement, nodes[index].parent >= parent else {
      return
    }
    nodes[index].operation?.failure = failure
  }
}

extension CoreDataOperation {
  /// The number of operations: this one, and all in it.
  fileprivate var count: Int { operations.reduce(1 + omitted) { $0 + $1.count } }

  /// Adds another execution of the same statement.
  fileprivate mutating func add(_ other: CoreDataOperation?) {
    guard let other else { return }
    executions += other.executions
    duration += other.duration
    rows += other.rows
  }
}
