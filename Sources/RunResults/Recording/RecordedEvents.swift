import ProfileEvents

/// The events of a recording, in the order in which they began.
///
/// Copies and parts share the recording's tables; a part costs four bytes for each event at most.
package struct RecordedEvents: RandomAccessCollection, Sendable {
  private let tables: SharedEventTables
  /// The positions of the events in the tables, in the order of IDs.
  private let order: [UInt32]
  /// The part of `order` that is included.
  private let range: Range<Int>

  package var startIndex: Int { 0 }
  package var endIndex: Int { range.count }
  /// The number of events.
  package var count: Int { range.count }
  /// Returns the next index.
  package func index(after index: Int) -> Int { index + 1 }
  /// Returns the previous index.
  package func index(before index: Int) -> Int { index - 1 }
  /// Returns the index at a distance, which can be negative.
  package func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
  /// Returns the number of events from one index to another.
  package func distance(from start: Int, to end: Int) -> Int { end - start }

  /// Visits the events in order.
  package struct Iterator: IteratorProtocol {
    fileprivate let events: RecordedEvents
    fileprivate var index = 0

    package mutating func next() -> RecordedEvent? {
      guard index < events.range.count else { return nil }
      defer { index += 1 }
      return events[index]
    }
  }

  /// Returns an iterator over the events in order.
  package func makeIterator() -> Iterator { Iterator(events: self) }

  /// Returns an event.
  ///
  /// - Parameter index: An index in `indices`, whatever the IDs of the events are.
  package subscript(index: Int) -> RecordedEvent {
    guard index >= 0 && index < range.count else { fatalError("index out of range") }
    return RecordedEvent(
      record: tables.records[Int(order[range.lowerBound + index])], tables: tables)
  }

  /// Collects events, which can be in any order.
  init(_ events: [Event]) {
    var collector = EventCollector()
    for event in events { collector.append(event) }
    self.init(collector.tables)
  }

  /// Returns the events of the tables from a position on with the IDs `after + 1 ... through`.
  init(
    _ tables: EventTables, from first: Int = 0, after: Int = Int.min, through: Int = Int.max
  ) {
    self.tables = SharedEventTables(tables)
    order = Self.order(of: tables.records, from: first, after: after, through: through)
    range = order.indices
  }

  private init(tables: SharedEventTables, order: [UInt32], range: Range<Int>? = nil) {
    self.tables = tables
    self.order = order
    self.range = range ?? order.indices
  }

  /// Returns the events with the IDs in a range, which share the order.
  func part(ids: Range<Int>) -> RecordedEvents {
    let first = firstIndex(fromID: ids.lowerBound)
    let end = Swift.max(first, firstIndex(fromID: ids.upperBound))
    return RecordedEvents(
      tables: tables, order: order,
      range: range.lowerBound + first..<range.lowerBound + end)
  }

  /// Returns the positions of records, sorted by ID.
  ///
  /// IDs are nearly dense, so that a table of them is sorted without comparisons.
  private static func order(
    of records: BlockArray<EventTables.Record>, from first: Int, after: Int, through: Int
  ) -> [UInt32] {
    var positions: [UInt32] = []
    positions.reserveCapacity(records.count - first)
    var (least, greatest) = (Int.max, Int.min)
    for position in first..<records.count {
      let id = records[position].id
      guard id > after, id <= through else { continue }
      (least, greatest) = (Swift.min(least, id), Swift.max(greatest, id))
      positions.append(UInt32(position))
    }
    let width = greatest.subtractingReportingOverflow(least).partialValue
    guard positions.count > 1, width >= 0, width < positions.count * 4 else {
      return positions.sorted { records[Int($0)].id < records[Int($1)].id }
    }
    var table = [UInt32](repeating: UInt32.max, count: width + 1)
    for position in positions {
      let offset = records[Int(position)].id - least
      // Only events that didn't come from one hub have the same ID.
      guard table[offset] == UInt32.max else {
        return positions.sorted { records[Int($0)].id < records[Int($1)].id }
      }
      table[offset] = position
    }
    return table.filter { $0 != UInt32.max }
  }

  /// Returns the index of the first event whose ID is at least a number.
  ///
  /// IDs are nearly dense, so it's at the index that it would have if all were included, or a
  /// little before.
  func firstIndex(fromID id: Int) -> Int {
    guard let least = first?.id, id > least else { return 0 }
    let distance = id.subtractingReportingOverflow(least)
    var high = distance.overflow ? count : Swift.min(count, distance.partialValue)
    var low = 0
    if high < count, self[high].id < id {
      // Events that didn't come from one hub can have the same ID.
      (low, high) = (high + 1, count)
    } else {
      var stride = 1
      while high > 0 {
        let probe = Swift.max(0, high - stride)
        guard self[probe].id >= id else {
          low = probe + 1
          break
        }
        high = probe
        stride *= 2
      }
    }
    while low < high {
      let middle = (low + high) / 2
      if self[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the event with an ID, or `nil` if it isn't included.
  func event(_ id: Int) -> RecordedEvent? {
    index(ofID: id).map { self[$0] }
  }

  /// Returns the index of the event with an ID, or `nil` if it isn't included.
  func index(ofID id: Int) -> Int? {
    let index = firstIndex(fromID: id)
    return index < endIndex && self[index].id == id ? index : nil
  }

  /// Returns the events that match a condition; costs four bytes for each.
  func only(_ isIncluded: (RecordedEvent) -> Bool) -> RecordedEvents {
    let records = tables.records
    return RecordedEvents(
      tables: tables,
      order: order[range].filter { position in
        isIncluded(RecordedEvent(record: records[Int(position)], tables: tables))
      })
  }

  /// Returns the events by a key, without those whose key is `nil`; costs four bytes for each.
  func grouped<Key: Hashable>(by key: (RecordedEvent) -> Key?) -> [Key: RecordedEvents] {
    let records = tables.records
    var orders: [Key: [UInt32]] = [:]
    for position in order[range] {
      guard let key = key(RecordedEvent(record: records[Int(position)], tables: tables)) else {
        continue
      }
      orders[key, default: []].append(position)
    }
    return orders.mapValues { RecordedEvents(tables: tables, order: $0) }
  }

  /// Returns the events in the order in which they began and, of those that began together, of IDs.
  var byBegin: RecordedEvents {
    let records = tables.records
    func precedes(_ one: UInt32, _ other: UInt32) -> Bool {
      let (first, second) = (records[Int(one)], records[Int(other)])
      return (first.begin, first.id) < (second.begin, second.id)
    }
    let order = order[range]
    let isSorted = zip(order, order.dropFirst()).allSatisfy { !precedes($1, $0) }
    return isSorted ? self : RecordedEvents(tables: tables, order: order.sorted(by: precedes))
  }
}
