package import ProfileEvents
package import ScenarioLanguage

/// What a rule must know of the step whose events it judges.
package struct StepContext: Sendable {
  /// How the step gets from the objects of its result to those of another entity.
  package struct Path: Sendable, Equatable {
    /// The entity that has the relationship.
    package var owner: String
    package var relationship: String
    /// The whole key path from the objects of the result, as for a prefetch: `country.continent`.
    package var keyPath: String

    package init(owner: String, relationship: String, keyPath: String) {
      self.owner = owner
      self.relationship = relationship
      self.keyPath = keyPath
    }
  }

  /// That the step was reading through a relationship while some events happened.
  package struct Route: Sendable, Equatable {
    /// The greatest event number before.
    package var after: Int
    /// The greatest event number when it was over.
    package var through: Int
    package var path: Path

    package init(after: Int, through: Int, path: Path) {
      self.after = after
      self.through = through
      self.path = path
    }
  }

  /// That the step sorted its objects in memory, before it did anything else.
  package struct Sorting: Sendable, Equatable {
    /// Attributes that the store has, and to-one relationships on the way to them.
    package var keys: [SortKey]
    /// The greatest event number when it was done.
    package var through: Int

    package init(keys: [SortKey], through: Int) {
      self.keys = keys
      self.through = through
    }
  }

  /// The fetch that brought the objects the step reads; nil when a fetch did not bring them.
  package var fetch: Step?
  /// The objects the step was given.
  ///
  /// An entity can also be reached from itself (`manager`), so that its name isn't enough;
  /// when this is empty, the name decides.
  package var held: Set<ObjectReference>
  /// By the name of an object's own entity (each concrete subentity of a destination has its own
  /// entry): the key path that leads there.
  package var reachedThrough: [String: Path]
  /// Which way was gone when, of a step that reaches one entity in several ways.
  ///
  /// In chronological order, not overlapping; for other events, the entity's name decides.
  package var routes: [Route]
  /// How the step sorted its objects in memory; nil when it did not.
  package var sorting: Sorting?
  /// Whether the step made a Swift array of a batched result.
  package var makesArray = false
  /// Key paths of to-many relationships of which the step read the number and nothing else.
  package var counted: Set<String> = []

  package init(
    fetch: Step? = nil, held: Set<ObjectReference> = [], reachedThrough: [String: Path] = [:],
    routes: [Route] = []
  ) {
    self.fetch = fetch
    self.held = held
    self.reachedThrough = reachedThrough
    self.routes = routes
  }

  /// The way on which an event's object was reached; nil when none is known.
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
