/// What is known of a named result before anything runs.
package struct HeldShape: Sendable, Equatable {
  /// The entity that was fetched or inserted.
  package var entity: String
  package var kind: ResultKind

  package init(entity: String, kind: ResultKind = .objects) {
    self.entity = entity
    self.kind = kind
  }
}
