package import ManagedModel
package import SQLiteDriver

/// A model laid onto the tables of a file.
///
/// Held by the store for as long as it is open. Everything is computed when it is made.
package final class SQLModel: @unchecked Sendable {
  // Unchecked: nothing changes after `init`.

  /// The model that is laid out.
  package let model: NSManagedObjectModel

  /// The entities by ascending number.
  package let entities: [SQLEntity]

  private let byNumber: [Int: SQLEntity]
  private let byDescription: [ObjectIdentifier: SQLEntity]
  private let byName: [String: SQLEntity]

  /// Lays out a model, or a configuration of it, by Apple's rules, as for a new file.
  package convenience init(model: NSManagedObjectModel, configuration: String? = nil) {
    do {
      try self.init(model: model, configuration: configuration, file: nil)
    } catch {
      preconditionFailure("A layout made by rule cannot miss anything: \(error)")
    }
  }

  /// Lays out a model, or a configuration of it, on the tables that a file has.
  ///
  /// Entities are matched by name, then by renaming identifier, then by position. Two statements.
  ///
  /// - Parameter ignoresMissing: Whether a table or column that the file lacks gets its name by rule: a
  ///   statement that needs it fails then.
  /// - Throws: `SchemaMismatch` for a table or column that the model wants and the file lacks;
  ///   `SQLiteError` when the schema cannot be read.
  package convenience init(
    model: NSManagedObjectModel, configuration: String? = nil, connection: Connection,
    ignoresMissing: Bool = false
  ) throws {
    try self.init(
      model: model, configuration: configuration, file: FileSchema(reading: connection),
      ignoresMissing: ignoresMissing)
  }

  /// Lays out a model on a file's schema, or by rule when there's no file.
  init(
    model: NSManagedObjectModel, configuration: String? = nil, file: FileSchema?,
    ignoresMissing: Bool = false
  ) throws(SchemaMismatch) {
    var builder = SQLModelBuilder(
      model: model, configuration: configuration, file: file, ignoresMissing: ignoresMissing)
    let entities = try builder.build()
    self.model = model
    self.entities = entities.sorted { $0.number < $1.number }
    byNumber = Dictionary(
      entities.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    byDescription = Dictionary(
      entities.map { (ObjectIdentifier($0.description), $0) },
      uniquingKeysWith: { first, _ in first })
    byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The entity of a description of this model, or of the same name in an equal model; nil for one
  /// that another store holds.
  func held(_ description: NSEntityDescription) -> SQLEntity? {
    byDescription[ObjectIdentifier(description)] ?? description.name.flatMap { byName[$0] }
  }

  /// The entity of a description; traps for one that `held` does not know.
  package func entity(for description: NSEntityDescription) -> SQLEntity {
    guard let entity = held(description) else {
      preconditionFailure(
        "The entity \(description.name ?? "without a name") is not in the model of this store.")
    }
    return entity
  }

  /// The entity of that `Z_ENT`.
  package func entity(number: Int) -> SQLEntity? { byNumber[number] }

  /// The entity of that name in the model.
  package func entity(named name: String) -> SQLEntity? { byName[name] }
}

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
  /// The direct subentities.
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

/// The column or columns which hold one slot of an entity's rows.
package struct SQLColumn: @unchecked Sendable {
  // Unchecked: a description does not change once its model is in use.

  /// The attribute or to-one relationship.
  package let property: NSPropertyDescription

  /// The column's name as the file spells it, such as `ZTITLE` or `ZTEXT1`.
  package let name: String

  /// The column with the number of the destination's concrete entity, such as `Z3_OWNER`.
  ///
  /// Nil for an attribute, and for a to-one whose destination has no subentities.
  package let entityColumn: String?

  /// The column with the place of this object in the inverse's ordered to-many.
  package let orderColumn: String?
}

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
