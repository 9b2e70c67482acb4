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

  /// What a step that migrated the store can be compared with.
  package struct Migration: Sendable, Equatable {
    /// The version that the store was migrated to.
    package var version: String
    /// The mapping model, if inferring one gives the same store; otherwise, `nil`.
    package var inferableMapping: String?
    /// A Boolean value that indicates whether one inferred migration gives the same store as several.
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
  /// The objects of the result that the step works on.
  ///
  /// A relationship can refer to its own entity, as `manager` does, so the entity's name doesn't
  /// distinguish these objects. If the set is empty, only the name is used.
  package var resultObjects: Set<ObjectReference>
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
  /// A Boolean value that indicates whether the step converted a batched result to a Swift array.
  package var makesArray = false
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

  /// Returns the path on which an event's object was reached, or `nil` if it's unknown.
  func path(of event: Event, entity: String) -> Path? {
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
