import ProfileEvents

extension LogTally {
  /// A fault was filled; the statement before it did so, if it came from the database.
  mutating func fault(_ message: LogMessage, _ kind: LogKind, _ lane: inout Lane) {
    let entity = LogTally.entity(in: message.text)
    guard message.text.contains("from database") else {
      hit(message.text)
      return
    }
    let closed = lane.nesting.closed ?? lane.nesting.closeUntimed(after: 0)
    lane.nesting.closed = nil
    var subject = entity ?? "?"
    if kind == .objectFault {
      count { $0.costs.count(.misses, entity: entity) }
    } else {
      subject += "." + (LogTally.quoted(message.text) ?? "?")
      let relationship = subject
      count { $0.costs.count(.misses, relationship: relationship) }
    }
    guard let closed else { return }
    let statement = closed.open.statement
    if kind == .objectFault {
      shapes[statement].objectFaults += 1
      learn(entity, statement)
    } else {
      shapes[statement].relationshipFaults += 1
    }
    let sighting = StormWatch.Sighting(
      kind: .faultStorm, subject: subject, statement: statement, line: closed.open.line,
      time: closed.open.time, ordinal: closed.open.ordinal, microseconds: closed.total)
    count { $0.storms.see(sighting) }
  }

  /// A fault that the row cache filled, which only our framework's log tells.
  mutating func hit(_ text: LogBytes) {
    tellsHits = true
    let entity = LogTally.entity(in: text)
    guard text.contains("relationship fault") else {
      count { $0.costs.count(.hits, entity: entity) }
      return
    }
    let relationship = "\(entity ?? "?").\(LogTally.quoted(text) ?? "?")"
    count { $0.costs.count(.hits, relationship: relationship) }
  }

  /// The SELECT before was a prefetch.
  ///
  /// `Prefetching with key 'attachments'.  Got 1581 rows.`
  mutating func prefetch(_ text: LogBytes, _ lane: inout Lane) {
    let closed = lane.nesting.closed ?? lane.nesting.closeUntimed(after: 0)
    lane.nesting.closed = nil
    if let closed { shapes[closed.open.statement].prefetches += 1 }
    let key = LogTally.quoted(text)
    count { $0.costs.count(.prefetches, relationship: key) }
  }

  /// `… on entity 'Person' with sql text …`, `(entity: Word; …`: what the statement was for.
  mutating func name(_ text: LogBytes, _ lane: inout Lane) {
    let entity =
      text.starts(with: "fetch using")
      ? LogTally.quoted(text) : text.after("(entity: ")?.before(";").string
    guard let last = lane.last, let entity else { return }
    shapes[last].entity = entity
    learn(entity, last)
  }

  /// Notes whose rows a table has; of a hierarchy's table that is not known.
  private mutating func learn(_ entity: String?, _ statement: Int) {
    guard let entity, !entity.isEmpty, !entity.hasPrefix("<"),
      let table = shapes[statement].table?.uppercased()
    else { return }
    if let known = entities[table], known != entity {
      entities[table] = LogTally.several
    } else {
      entities[table] = entity
    }
  }

  /// In the place of an entity's name: the table has rows of several.
  static let several = ""

  /// The entity of an object ID's URI: `<x-coredata://STORE/Country/p4>`.
  static func entity(in text: LogBytes) -> String? {
    guard let path = text.after("x-coredata://")?.after("/") else { return nil }
    let name = path.bytes.prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") && !$0.isBlank
    }
    return name.isEmpty ? nil : LogBytes(name).string
  }

  /// What stands between the first pair of quotes, single or double.
  static func quoted(_ text: LogBytes) -> String? {
    guard
      let start = text.bytes.firstIndex(where: {
        $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"")
      }),
      let end = text.bytes[(start + 1)...].firstIndex(of: text.bytes[start])
    else { return nil }
    return LogBytes(text.bytes[(start + 1)..<end]).string
  }
}
