package import ProfileEvents

/// What a rule must know of the step whose events it judges.
package struct StepContext: Sendable {
  /// How the step comes from the objects it holds to those of another entity.
  package struct Path: Sendable, Equatable {
    /// The entity that has the relationship.
    package var owner: String
    package var relationship: String
    /// The whole key path from the held objects, as a prefetch takes it: `country.continent`.
    package var keyPath: String

    package init(owner: String, relationship: String, keyPath: String) {
      self.owner = owner
      self.relationship = relationship
      self.keyPath = keyPath
    }
  }

  /// The fetch that brought the objects the step reads; nil when a fetch did not bring them.
  package var fetch: FetchText?
  /// The objects the step was given.
  ///
  /// An entity can also be reached from itself (`manager`), so that its name alone does not tell;
  /// when this is empty, the name decides.
  package var held: Set<ObjectReference>
  /// By the name of an object's own entity (each concrete sub-entity of a destination has its own
  /// entry): the key path that leads there.
  package var reachedThrough: [String: Path]

  package init(
    fetch: FetchText? = nil, held: Set<ObjectReference> = [], reachedThrough: [String: Path] = [:]
  ) {
    self.fetch = fetch
    self.held = held
    self.reachedThrough = reachedThrough
  }
}
