import ProfileEvents
import WorkbenchText

extension LogAggregator {
  /// What fired: an object, with its entity, or if the log hides it, the table of its SELECT; or
  /// `Entity.relationship`.
  enum FaultSubject: Equatable {
    case object(entity: String)
    case hiddenObject(table: String?)
    case relationship(String)

    var name: String {
      switch self {
      case .object(let entity): entity
      case .hiddenObject: "?"
      case .relationship(let name): name
      }
    }

    /// Adds misses to costs.
    func count(_ misses: Int, in costs: inout LogCosts) {
      switch self {
      case .object(let entity): costs.count(.misses, misses, entity: entity)
      case .hiddenObject(let table): costs.count(.misses, misses, entity: nil, table: table)
      case .relationship(let name): costs.count(.misses, misses, relationship: name)
      }
    }
  }

  /// Counts a fulfilled fault.
  ///
  /// If it was fulfilled from the store, the statement before it is its SELECT.
  mutating func fault(_ message: LogMessage, _ kind: LogKind) {
    let entity = LogAggregator.entity(in: message.text)
    // Core Data logs only faults that the database fulfills; the words can be truncated or hidden.
    guard !message.text.contains("from row cache") else { return hit(message.text) }
    let closed = thread.nesting.takeClosed() ?? thread.nesting.closeUntimed(after: 0)
    let subject: FaultSubject =
      if kind == .relationshipFault {
        .relationship("\(entity ?? "?").\(LogAggregator.quoted(message.text) ?? "?")")
      } else if let entity {
        .object(entity: entity)
      } else {
        .hiddenObject(table: closed.flatMap { shapes.traits[$0.open.statement].tableKey })
      }
    guard let closed else {
      count { subject.count(1, in: &$0.costs) }
      return
    }
    timeline?.identify(
      closed,
      as: kind == .objectFault ? .objectFault(subject.name) : .relationshipFault(subject.name))
    let statement = closed.open.statement
    uncount(closed.open)
    if kind == .objectFault {
      shapes[statement].objectFaults += 1
      recordEntity(entity, statement)
    } else {
      shapes[statement].relationshipFaults += 1
    }
    let occurrence = RepeatedStatementDetector.Occurrence(
      kind: .faultStorm, subject: subject.name, statement: statement, thread: thread.name,
      line: closed.open.line, time: closed.open.time, ordinal: closed.open.ordinal,
      microseconds: closed.total)
    counting(closed.open) { tally in
      tally.countMiss(of: subject, by: statement)
      tally.count { $0.storms.add(occurrence) }
    }
  }

  /// Counts a fault fulfilled from the row cache, which only OpenCoreData logs.
  mutating func hit(_ text: LogBytes) {
    logsHits = true
    let entity = LogAggregator.entity(in: text)
    guard text.contains("relationship fault") else {
      count { $0.costs.count(.hits, entity: entity) }
      return
    }
    let relationship = "\(entity ?? "?").\(LogAggregator.quoted(text) ?? "?")"
    count { $0.costs.count(.hits, relationship: relationship) }
  }

  /// Counts a prefetch, whose SELECT is the one before it.
  mutating func prefetch(_ text: LogBytes) {
    let closed = thread.nesting.takeClosed() ?? thread.nesting.closeUntimed(after: 0)
    let key = LogAggregator.quoted(text)
    timeline?.identify(closed, as: .prefetch(key))
    guard let closed else {
      count { $0.costs.count(.prefetches, relationship: key) }
      return
    }
    let statement = closed.open.statement
    uncount(closed.open)
    shapes[statement].prefetches += 1
    counting(closed.open) { tally in
      tally.countReads(of: statement) { $0.prefetches += 1 }
      tally.count { $0.costs.count(.prefetches, relationship: key) }
    }
  }

  /// A placeholder for the entity of a table that contains several entities.
  static let several = ""

  /// Returns the entity in an object ID's URI: `<x-coredata://STORE/Country/p4>`.
  static func entity(in text: LogBytes) -> String? {
    guard let uri = text.after("x-coredata://"), let slash = uri.index(of: UInt8(ascii: "/")) else {
      return nil
    }
    let path = uri.bytes[(slash + 1)...].prefix(InputLimits.logName)
    let end = path.withUnsafeBufferPointer { path in
      path.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ">") || $0.isWhitespace }
    }
    let name = path.prefix(end ?? path.count)
    return name.isEmpty ? nil : LogBytes(name).string
  }

  /// Returns the text in the first pair of single or double quotation marks.
  static func quoted(_ text: LogBytes) -> String? {
    let start = min(
      text.index(of: UInt8(ascii: "'")) ?? .max, text.index(of: UInt8(ascii: "\"")) ?? .max)
    guard start < .max else { return nil }
    let rest = LogBytes(text.bytes[(start + 1)...])
    return rest.index(of: text.bytes[start]).map {
      LogBytes(rest.bytes[..<$0].prefix(InputLimits.logName)).string
    }
  }
}
