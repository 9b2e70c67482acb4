import ProfileEvents

/// A save that reached a store, with the statements that it ran to write rows.
struct RecordedSave {
  let save: Event
  /// The INSERT, UPDATE, and DELETE statements for entities and join tables.
  let statements: [Event]

  /// Returns the saves of a recording, in order.
  ///
  /// The saves of child contexts, which run no statements, aren't included.
  static func all(in recording: Recording) -> [RecordedSave] {
    guard recording.events.contains(where: { $0.kind == .save }) else { return [] }
    var enclosing: [Int: Int] = [:]
    var order: [Event] = []
    var statements: [Int: [Event]] = [:]
    // A parent precedes its children.
    for event in recording.events {
      if event.kind == .save {
        order.append(event)
        enclosing[event.id] = event.id
        continue
      }
      guard let save = enclosing[event.parent] else { continue }
      enclosing[event.id] = save
      switch event.statement?.kind {
      case .insert, .update, .delete: statements[save, default: []].append(event)
      case .select, .transaction, .housekeeping, nil: break
      }
    }
    return order.compactMap { save in
      statements[save.id].map { RecordedSave(save: save, statements: $0) }
    }
  }

  /// Returns the name of the entity with the most statements, or `nil` if no statement has an
  /// entity.
  static func mostWritten(in saves: [RecordedSave]) -> String? {
    let counts = saves.flatMap(\.statements).reduce(into: [String: Int]()) { counts, event in
      if let entity = event.entity { counts[entity, default: 0] += 1 }
    }
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }
}
