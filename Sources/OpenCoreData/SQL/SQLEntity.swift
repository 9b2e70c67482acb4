package import ManagedModel

/// An entity as the file knows it: its number, its table, its columns.
///
/// An entity is valid as long as its `SQLModel` is held: the references up the hierarchy are
/// unowned.
package final class SQLEntity: @unchecked Sendable {
  // Unchecked: everything is set while the model is built and never afterwards.

  /// The entity's name in the model.
  package let name: String

  /// The entity's `Z_ENT`.
  package let number: Int

  /// The entity in the model.
  package let description: NSEntityDescription

  /// The table of the root entity, which holds the rows of the whole hierarchy.
  package let table: String

  /// The parent; nil for a root.
  package private(set) unowned var superentity: SQLEntity?
  /// The direct sub-entities.
  package private(set) var subentities: [SQLEntity] = []

  /// The entity's own number and those of all its descendants, ascending.
  package private(set) var concreteNumbers: [Int] = []

  /// One column for each of `description.slotProperties`, in that order.
  package private(set) var columns: [SQLColumn] = []

  /// The stored to-many relationships by name, inherited ones included.
  package private(set) var toMany: [String: SQLToMany] = [:]

  /// Where a property's slot is, by name.
  private(set) var slots: [String: Int] = [:]

  init(description: NSEntityDescription, number: Int, table: String, superentity: SQLEntity?) {
    self.name = description.name ?? ""
    self.number = number
    self.description = description
    self.table = table
    self.superentity = superentity
    superentity?.subentities.append(self)
  }

  /// The entity at the top of the hierarchy, which may be this one.
  package var root: SQLEntity {
    var entity = self
    while let parent = entity.superentity { entity = parent }
    return entity
  }

  /// Whether the table holds rows of more than one entity.
  package var hasHierarchy: Bool { !root.subentities.isEmpty }

  /// From the root down to this entity.
  var lineage: [SQLEntity] {
    (superentity?.lineage ?? []) + [self]
  }

  /// This entity and its descendants, parents before children.
  package var family: [SQLEntity] {
    [self] + subentities.flatMap(\.family)
  }

  /// The columns that this level adds to its parent's.
  package var ownColumns: ArraySlice<SQLColumn> {
    columns[(superentity?.columns.count ?? 0)...]
  }

  /// The column of a slot by the property's name.
  package func column(named name: String) -> SQLColumn? {
    slots[name].map { columns[$0] }
  }

  /// Sets the columns.
  ///
  /// Parents come first.
  func setOwnColumns(_ own: [SQLColumn]) {
    columns = (superentity?.columns ?? []) + own
    slots = Dictionary(
      columns.enumerated().map { ($0.element.property.name, $0.offset) },
      uniquingKeysWith: { _, last in last })
    concreteNumbers = family.map(\.number).sorted()
  }

  /// Sets the to-many relationships.
  ///
  /// Parents come first.
  func setOwnToMany(_ own: [SQLToMany]) {
    toMany = superentity?.toMany ?? [:]
    for relationship in own { toMany[relationship.relationship.name] = relationship }
  }
}
