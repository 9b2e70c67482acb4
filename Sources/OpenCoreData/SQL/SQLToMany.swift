package import ManagedModel

/// How the file keeps a to-many relationship.
package struct SQLToMany: @unchecked Sendable {
  // Unchecked: a description does not change once its model is in use.

  /// Where the keys of the destinations are.
  package enum Storage: Hashable, Sendable {
    /// A column of the destination's table holds the source's key.
    case foreignKey(column: String, orderColumn: String?)
    /// A table of its own holds pairs of keys.
    case joinTable(
      table: String, sourceColumn: String, destinationColumn: String, orderColumn: String?)
  }

  /// The relationship in the model.
  package let relationship: NSRelationshipDescription

  /// The entity at the other end.
  ///
  /// Valid as long as the `SQLModel` is held.
  package unowned let destination: SQLEntity

  /// Where the keys are.
  package let storage: Storage

  /// The column with the place in the list, when the relationship is ordered.
  package var orderColumn: String? {
    switch storage {
    case .foreignKey(_, let orderColumn): orderColumn
    case .joinTable(_, _, _, let orderColumn): orderColumn
    }
  }

  /// Whether the other end is to-many as well.
  package var isManyToMany: Bool {
    if case .joinTable = storage { true } else { false }
  }
}
