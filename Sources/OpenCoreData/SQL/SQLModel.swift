package import ManagedModel
package import SQLiteDriver

/// A model mapped to the tables of a file.
///
/// Retained by the store while it's open. The mapping is computed when it's created.
package final class SQLModel: @unchecked Sendable {
  // Unchecked: immutable after `init`.

  /// The model that is mapped.
  package let model: NSManagedObjectModel

  /// The entities by ascending ID.
  package let entities: [SQLEntity]

  /// The root entities, one for each table of objects, by ascending ID.
  ///
  /// **Cost:** linear in the entities.
  package var roots: [SQLEntity] { entities.filter { $0.superentity == nil } }

  private let byNumber: [Int: SQLEntity]
  private let byDescription: [ObjectIdentifier: SQLEntity]
  private let byName: [String: SQLEntity]

  /// Maps a model, or one of its configurations, by Core Data's rules, as for a new file.
  package convenience init(model: NSManagedObjectModel, configuration: String? = nil) {
    do {
      try self.init(model: model, configuration: configuration, file: nil)
    } catch {
      fatalError("A mapping for a new file can't lack anything: \(error)")
    }
  }

  /// Maps a model, or one of its configurations, to the tables of a file.
  ///
  /// Entities are matched by name, then by renaming identifier, then by position. Two statements.
  ///
  /// - Parameter ignoresMissing: Whether a table or column that the file lacks gets Core Data's
  ///   default name: a statement that needs it fails then.
  /// - Throws: `SchemaMismatch` for a table or column that the model requires and the file lacks;
  ///   `SQLiteError` if the schema can't be read.
  package convenience init(
    model: NSManagedObjectModel, configuration: String? = nil, connection: Connection,
    ignoresMissing: Bool = false
  ) throws {
    try self.init(
      model: model, configuration: configuration, file: FileSchema(reading: connection),
      ignoresMissing: ignoresMissing)
  }

  /// Maps a model to a file's schema, or by Core Data's rules if there's no file.
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

  /// Returns the entity of a description of this model, or with its name in an equal model; `nil`
  /// if only another store can contain it.
  func storedEntity(for description: NSEntityDescription) -> SQLEntity? {
    byDescription[ObjectIdentifier(description)] ?? description.name.flatMap { byName[$0] }
  }

  /// Returns the entity of a description; it's a programmer error if `storedEntity(for:)` returns
  /// `nil` for it.
  package func entity(for description: NSEntityDescription) -> SQLEntity {
    guard let entity = storedEntity(for: description) else {
      fatalError(
        "The entity \(description.name ?? "without a name") isn't in the model of this store.")
    }
    return entity
  }

  /// Returns the destination of a relationship; `nil` if only another store can contain it.
  package func destination(of relationship: NSRelationshipDescription) -> SQLEntity? {
    relationship.destinationEntity.flatMap(storedEntity)
  }

  /// Returns the entity with a `Z_ENT`.
  package func entity(number: Int) -> SQLEntity? { byNumber[number] }

  /// Returns the entity with a name in the model.
  package func entity(named name: String) -> SQLEntity? { byName[name] }
}

/// An entity in a file: its ID, its table, its columns.
///
/// An entity is valid as long as its `SQLModel` is retained: the references up the hierarchy are
/// unowned.
package final class SQLEntity: @unchecked Sendable {
  // Unchecked: everything is set while the model is built and doesn't change afterward.

  /// The entity's name in the model.
  package let name: String

  /// The entity's `Z_ENT`.
  package let number: Int

  /// The entity in the model.
  package let description: NSEntityDescription

  /// The table of the root entity, which contains the rows of the whole hierarchy.
  package let table: String

  /// The parent entity; `nil` for a root entity.
  package private(set) unowned var superentity: SQLEntity?
  /// The direct subentities.
  package private(set) var subentities: [SQLEntity] = []

  /// The IDs of the entity and all its descendants, ascending.
  package private(set) var concreteNumbers: [Int] = []

  /// One column for each of `description.slotProperties`, in that order.
  package private(set) var columns: [SQLColumn] = []

  /// The stored to-many relationships by name, inherited ones included.
  package private(set) var toMany: [String: SQLToMany] = [:]

  /// The index of a property's slot, by name.
  private(set) var slots: [String: Int] = [:]

  init(description: NSEntityDescription, number: Int, table: String, superentity: SQLEntity?) {
    self.name = description.name ?? ""
    self.number = number
    self.description = description
    self.table = table
    self.superentity = superentity
    superentity?.subentities.append(self)
  }

  /// The root of the entity hierarchy, which may be this entity.
  package var root: SQLEntity {
    var entity = self
    while let parent = entity.superentity { entity = parent }
    return entity
  }

  /// Whether the table contains rows of several entities.
  package var hasHierarchy: Bool { !root.subentities.isEmpty }

  /// From the root down to this entity.
  var lineage: [SQLEntity] {
    (superentity?.lineage ?? []) + [self]
  }

  /// This entity and its descendants, parents before children.
  package var family: [SQLEntity] {
    [self] + subentities.flatMap(\.family)
  }

  /// The columns that this entity adds to its parent's.
  package var ownColumns: ArraySlice<SQLColumn> {
    columns[(superentity?.columns.count ?? 0)...]
  }

  /// Returns the column of a slot by the property's name.
  package func column(named name: String) -> SQLColumn? {
    slots[name].map { columns[$0] }
  }

  /// Sets the columns.
  ///
  /// Parents must be set first.
  func setOwnColumns(_ own: [SQLColumn]) {
    columns = (superentity?.columns ?? []) + own
    slots = Dictionary(
      columns.enumerated().map { ($0.element.property.name, $0.offset) },
      uniquingKeysWith: { _, last in last })
    concreteNumbers = family.map(\.number).sorted()
  }

  /// Sets the to-many relationships.
  ///
  /// Parents must be set first.
  func setOwnToMany(_ own: [SQLToMany]) {
    toMany = superentity?.toMany ?? [:]
    for relationship in own { toMany[relationship.relationship.name] = relationship }
  }
}

/// The columns of one slot of an entity's rows.
package struct SQLColumn: @unchecked Sendable {
  // Unchecked: a description doesn't change while its model is in use.

  /// The attribute or to-one relationship.
  package let property: NSPropertyDescription

  /// The column's name as spelled in the file, such as `ZTITLE` or `ZTEXT1`.
  package let name: String

  /// The column with the ID of the destination's concrete entity, such as `Z3_OWNER`.
  ///
  /// `nil` for an attribute, and for a to-one whose destination has no subentities.
  package let entityColumn: String?

  /// The column with this object's order key in the inverse's ordered to-many.
  package let orderColumn: String?
}

/// The storage of a to-many relationship in the file.
package struct SQLToMany: @unchecked Sendable {
  // Unchecked: a description doesn't change while its model is in use.

  /// The location of the destinations' keys.
  package enum Storage: Hashable, Sendable {
    /// A column of the destination's table contains the source's key.
    case foreignKey(column: String, orderColumn: String?)
    /// A join table contains pairs of keys.
    case joinTable(
      table: String, sourceColumn: String, destinationColumn: String, orderColumn: String?)
  }

  /// The relationship in the model.
  package let relationship: NSRelationshipDescription

  /// The destination entity.
  ///
  /// Valid as long as the `SQLModel` is retained.
  package unowned let destination: SQLEntity

  /// The location of the keys.
  package let storage: Storage

  /// The column with the order key, if the relationship is ordered.
  package var orderColumn: String? {
    switch storage {
    case .foreignKey(_, let orderColumn): orderColumn
    case .joinTable(_, _, _, let orderColumn): orderColumn
    }
  }

  /// Whether the inverse is to-many as well.
  package var isManyToMany: Bool {
    if case .joinTable = storage { true } else { false }
  }
}

/// The entity IDs of a model, by position in the sorted entities or from a file's `Z_PRIMARYKEY`.
struct EntityNumbers {
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var namesInFile: [ObjectIdentifier: String] = [:]

  /// - Parameter descriptions: All entities of the model, in numbering order.
  /// - Parameter ignoresMissing: Whether an entity that the file lacks gets an unused ID.
  init(
    _ descriptions: [NSEntityDescription], file: FileSchema?, ignoresMissing: Bool = false
  ) throws(SchemaMismatch) {
    guard let file else {
      for (index, description) in descriptions.enumerated() {
        numbers[ObjectIdentifier(description)] = index + 1
      }
      return
    }
    if let listed = Self.inOrder(descriptions, file) {
      for (entity, found) in zip(descriptions, listed) {
        numbers[ObjectIdentifier(entity)] = found.number
        namesInFile[ObjectIdentifier(entity)] = found.name
      }
      return
    }
    var open = file.entities
    var taken = Set(open.map(\.number))
    func take(_ description: NSEntityDescription, where matches: (String) -> Bool) -> Bool {
      guard let index = open.firstIndex(where: { matches($0.name) }) else { return false }
      let found = open.remove(at: index)
      numbers[ObjectIdentifier(description)] = found.number
      namesInFile[ObjectIdentifier(description)] = found.name
      return true
    }
    var waiting = descriptions.filter { entity in !take(entity) { $0 == entity.name } }
    waiting = waiting.filter { entity in
      guard let former = entity.explicitRenamingIdentifier else { return true }
      return !take(entity) { $0 == former }
    }
    for entity in waiting {
      let position = descriptions.firstIndex { $0 === entity }.map { $0 + 1 }
      guard let index = open.firstIndex(where: { $0.number == position }) else {
        if ignoresMissing {
          var number = 1
          while taken.contains(number) { number += 1 }
          taken.insert(number)
          numbers[ObjectIdentifier(entity)] = number
          continue
        }
        throw SchemaMismatch(
          entity: entity.name ?? "", property: nil, table: SQLNames.plain(entity.name ?? ""),
          column: nil, isUnnumbered: true)
      }
      let found = open.remove(at: index)
      numbers[ObjectIdentifier(entity)] = found.number
      namesInFile[ObjectIdentifier(entity)] = found.name
    }
  }

  /// Returns the file's entities, if the ID of each is its position in the model and its name is
  /// the current or the former one; otherwise `nil`.
  ///
  /// Names alone aren't sufficient: Core Data keeps the former name of a renamed entity in the
  /// file, which may be the name of another entity of the model.
  private static func inOrder(
    _ descriptions: [NSEntityDescription], _ file: FileSchema
  ) -> [FileSchema.NumberedEntity]? {
    let byNumber = Dictionary(
      file.entities.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    let listed = descriptions.enumerated().compactMap { index, entity in
      byNumber[index + 1].flatMap { found in
        found.name == entity.name || found.name == entity.explicitRenamingIdentifier ? found : nil
      }
    }
    return listed.count == descriptions.count ? listed : nil
  }

  func number(_ description: NSEntityDescription) -> Int {
    numbers[ObjectIdentifier(description)] ?? 0
  }

  /// Returns the entity's name in the file, which may be a former one.
  func nameInFile(_ description: NSEntityDescription) -> String? {
    namesInFile[ObjectIdentifier(description)]
  }
}

extension NSManagedObjectModel {
  /// Returns the name of a configuration if the model has it; otherwise `nil`, for all entities,
  /// which a store of the model has before, in, or after a migration.
  func known(_ configuration: String?) -> String? {
    entities(forConfigurationName: configuration).flatMap { _ in configuration }
  }

  /// Returns the version hashes of a store of a configuration, by entity.
  func versionHashes(of configuration: String?) -> [String: Data] {
    guard configuration != nil else { return entityVersionHashesByName }
    let names = Set(entities(forConfigurationName: configuration)?.compactMap(\.name) ?? [])
    return entityVersionHashesByName.filter { names.contains($0.key) }
  }
}
