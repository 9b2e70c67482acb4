package import ProfileEvents
package import ScenarioLanguage

/// The context that a rule needs to evaluate the events of a step.
package struct StepContext: Sendable {
  /// The key path from the objects of a step's result to objects of another entity.
  package struct Path: Sendable, Equatable {
    /// The entity that has the last relationship of the key path.
    package var owner: String
    package var relationship: String
    /// The complete key path from the objects of the result, as for a prefetch:
    /// `country.continent`.
    package var keyPath: String

    package init(owner: String, relationship: String, keyPath: String) {
      self.owner = owner
      self.relationship = relationship
      self.keyPath = keyPath
    }
  }

  /// A range of events during which the step read through a relationship.
  package struct Route: Sendable, Equatable {
    /// The greatest event number before the range.
    package var after: Int
    /// The greatest event number in the range.
    package var through: Int
    package var path: Path

    package init(after: Int, through: Int, path: Path) {
      self.after = after
      self.through = through
      self.path = path
    }
  }

  /// An in-memory sort, which the step performs before anything else.
  package struct Sorting: Sendable, Equatable {
    /// The sort keys: persistent attributes, with to-one relationships in their key paths.
    package var keys: [SortKey]
    /// The greatest event number when the sort ended.
    package var through: Int

    package init(keys: [SortKey], through: Int) {
      self.keys = keys
      self.through = through
    }
  }

  /// Why the rows that a fetch puts into the row cache don't fulfill the faults of a step.
  package enum CacheObstacle: Sendable {
    /// The step runs in a context of another coordinator, which has a row cache of its own.
    case otherCoordinator
    /// The staleness interval of the step's context is 0, so that every row is too old.
    case noStaleness
  }

  /// What a step that migrated the store can be compared with.
  package struct Migration: Sendable, Equatable {
    /// The version that the store was migrated to.
    package var version: String
    /// The mapping model, if inferring one gives the same store; otherwise, `nil`.
    package var inferableMapping: String?
    /// Whether one inferred migration gives the same store as several.
    package var isPossibleInOne = false
    /// The entities whose indexes the model has and the store doesn't, each with such an index.
    package var missingIndexes: [String: String] = [:]
    /// The entities whose rows an inferred migration copies to a new table, if it isn't deferred.
    package var copiedEntities: Set<String> = []
    /// The entities of which an inferred migration writes rows even if it's deferred.
    package var writtenEntities: Set<String> = []

    package init(version: String) {
      self.version = version
    }
  }

  /// The fetch that returned the objects the step reads, or `nil` if they aren't from a fetch.
  package var fetch: Step?
  /// Why rows that the fetch loads don't fulfill the step's faults, or `nil` if they can.
  package var obstacle: CacheObstacle?
  /// The objects of the result that the step works on.
  ///
  /// A relationship can refer to its own entity, as `manager` does, so the entity's name doesn't
  /// distinguish these objects. If the set is empty, only the name is used.
  package var resultObjects: Set<ObjectReference>
  /// The entities that the objects of the result can have; empty if they're unknown.
  package var resultEntities: Set<String> = []
  /// The key path to the objects of each entity, by the name of an object's own entity.
  ///
  /// Each concrete subentity of a destination has its own entry.
  package var reachedThrough: [String: Path]
  /// The routes of a step that reaches one entity through several key paths.
  ///
  /// They're in chronological order and don't overlap. For events outside them, the entity's name
  /// is used.
  package var routes: [Route]
  /// The step's in-memory sort, or `nil` if it didn't sort.
  package var sorting: Sorting?
  /// The migration, or `nil` if the step isn't one.
  package var migration: Migration?
  /// Whether the step converted a batched result to a Swift array.
  package var makesArray = false
  /// Whether the step is a results controller that read the section of each object.
  package var arrangesSections = false
  /// The key paths of to-many relationships of which the step read only the count.
  package var counted: Set<String> = []

  package init(
    fetch: Step? = nil, resultObjects: Set<ObjectReference> = [],
    reachedThrough: [String: Path] = [:],
    routes: [Route] = []
  ) {
    self.fetch = fetch
    self.resultObjects = resultObjects
    self.reachedThrough = reachedThrough
    self.routes = routes
  }

  /// Returns whether an object that isn't one of `resultObjects` can be an object of the result, by
  /// the name of its entity.
  func canBeInResult(_ entity: String) -> Bool {
    resultObjects.isEmpty && (resultEntities.isEmpty || resultEntities.contains(entity))
  }

  /// Returns the path on which an event's object was reached, or `nil` if it's unknown.
  func path(of event: RecordedEvent, entity: String) -> Path? {
    var low = 0
    var high = routes.count
    while low < high {
      let middle = (low + high) / 2
      if routes[middle].through < event.id { low = middle + 1 } else { high = middle }
    }
    if low < routes.count, routes[low].after < event.id { return routes[low].path }
    return reachedThrough[entity]
  }
}

extension Recording {
  /// Returns whether an event is a parent context's part of the same work of a child context, which
  /// has an event of its own.
  func repeatsEventOfChild(_ event: RecordedEvent) -> Bool {
    guard let outer = self.event(event.parent) else { return false }
    return outer.kind == event.kind && outer.context != event.context
  }
}

/// A save that reached a store, with the statements that it ran to write rows.
struct RecordedSave {
  let save: RecordedEvent
  /// The INSERT, UPDATE, and DELETE statements for entities and join tables.
  let statements: [RecordedEvent]

  /// Returns the saves of a recording, in order.
  ///
  /// The saves of child contexts, which run no statements, aren't included.
  static func all(in recording: Recording) -> [RecordedSave] {
    guard recording.events.contains(where: { $0.kind == .save }) else { return [] }
    var enclosing: [Int: Int] = [:]
    var order: [RecordedEvent] = []
    var statements: [Int: [RecordedEvent]] = [:]
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
