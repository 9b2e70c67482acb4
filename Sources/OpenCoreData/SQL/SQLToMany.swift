import ManagedModel

/// How the file keeps a to-many relationship.
struct SQLToMany: @unchecked Sendable {
  // Unchecked: a description does not change once its model is in use.

  enum Storage: Hashable, Sendable {
    /// A column of the destination's table holds the source's key.
    case foreignKey(column: String, orderColumn: String?)
    /// A table of its own holds pairs of keys.
    case joinTable(
      table: String, sourceColumn: String, destinationColumn: String, orderColumn: String?)
  }

  let relationship: NSRelationshipDescription

  /// The entity at the other end.
  ///
  /// Valid as long as the `SQLModel` is held.
  unowned let destination: SQLEntity

  let storage: Storage

  /// The column with the place in the list, when the relationship is ordered.
  var orderColumn: String? {
    switch storage {
    case .foreignKey(_, let orderColumn): orderColumn
    case .joinTable(_, _, _, let orderColumn): orderColumn
    }
  }

  /// Whether the other end is to-many as well.
  var isManyToMany: Bool {
    if case .joinTable = storage { true } else { false }
  }
}
