/// What is known of a named result before anything runs.
package struct HeldShape: Sendable, Equatable {
  /// What is held.
  package enum Kind: String, Sendable {
    case objects
    case ids
    case dictionaries
    /// The notification of a save.
    case save
    /// The IDs of rows that a batch request inserted, updated or deleted.
    case rows
  }

  /// The entity that was fetched, inserted or changed; empty for a save.
  package var entity: String
  package var kind: Kind
  /// The context it belongs to.
  package var context: String

  package init(
    entity: String, kind: Kind = .objects, context: String = ContextShape.main
  ) {
    self.entity = entity
    self.kind = kind
    self.context = context
  }

  /// Whether steps can work on its objects, or on the objects of its IDs.
  package var hasObjects: Bool {
    switch kind {
    case .objects, .ids, .rows: true
    case .dictionaries, .save: false
    }
  }

  /// Whether it says what has changed in the store.
  package var canBeMerged: Bool { kind == .save || kind == .rows }

  /// What it holds, for errors.
  package var contents: String {
    switch kind {
    case .objects, .dictionaries: kind.rawValue
    case .ids: "IDs"
    case .save: "a save's notification"
    case .rows: "the IDs of a batch request"
    }
  }
}
