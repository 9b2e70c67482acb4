import ManagedModel
import ProfileEvents
import SQLiteDriver

/// Writes the schema of a new store, in Apple's words and order.
struct SchemaBuilder: Sendable {
  let model: SQLModel
  /// Each stored to-many relationship once, where it is declared, by entity and name.
  let declaredToMany: [SQLToMany]
  /// The columns of to-many relationships without an inverse, by the root whose table has them.
  let hiddenColumns: [ObjectIdentifier: [HiddenColumn]]

  /// A column in the destination's table, for a to-many relationship without an inverse.
  typealias HiddenColumn = (column: String, orderColumn: String?)

  /// Cost: one pass over the relationships; each table is then described without another one.
  init(model: SQLModel) {
    self.model = model
    declaredToMany = model.entities.flatMap { entity in
      entity.toMany.values
        .filter { $0.relationship.entity === entity.description }
        .sorted { $0.relationship.name < $1.relationship.name }
    }
    var hidden: [ObjectIdentifier: [HiddenColumn]] = [:]
    for relationship in declaredToMany where relationship.relationship.inverseRelationship == nil {
      guard case .foreignKey(let column, let orderColumn) = relationship.storage else { continue }
      let root = ObjectIdentifier(relationship.destination.root)
      hidden[root, default: []].append((column, orderColumn))
    }
    hiddenColumns = hidden
  }

  /// What a connection to a file that is still empty runs first: the file takes both for life.
  static let newFilePragmas = [("page_size", "4096"), ("auto_vacuum", "2")]

  /// All `CREATE` statements: tables, join tables, indexes, unique indexes, R-trees, the triggers of
  /// derived attributes, housekeeping.
  var statements: [String] {
    let roots = model.entities.filter { $0.superentity == nil }
    return roots.map(table) + joinTables.map(\.table) + indexes.map(\.sql)
      + rangeIndexes.flatMap(\.statements) + triggers + Self.housekeeping
  }

  /// Creates the schema and the rows every store has, in one transaction.
  ///
  /// - Parameters:
  ///   - connection: A connection to an empty file, opened with `newFilePragmas`.
  ///   - metadata: What `Z_METADATA` holds.
  ///   - modelCache: The archived model, nil for none.
  ///   - teller: Hears of the statements.
  func create(
    on connection: Connection, metadata: StoreMetadata, modelCache: [UInt8]?,
    telling teller: StoreOpeningLogger? = nil
  ) throws {
    func run(_ sql: String, _ kind: StatementKind = .housekeeping) throws {
      try teller.telling(sql, kind) { try connection.execute(sql) }
    }
    func insert(_ sql: String, _ values: [SQLiteValue]) throws {
      _ = try teller.telling(sql) { try connection.values(sql, values) }
    }
    try run("BEGIN EXCLUSIVE", .transaction)
    do {
      for statement in statements { try run(statement) }
      for entity in model.entities {
        try insert(
          "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, 0)",
          [
            .integer(Int64(entity.number)), .text(entity.name),
            .integer(Int64(entity.superentity?.number ?? 0)),
          ])
      }
      try metadata.write(to: connection, telling: teller)
      if let modelCache {
        try insert("INSERT INTO Z_MODELCACHE(Z_CONTENT) VALUES(?)", [.blob(modelCache)])
      }
      try run("COMMIT", .transaction)
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  static let housekeeping = [
    "CREATE TABLE Z_PRIMARYKEY "
      + "(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA "
      + "(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
  ]
}

extension SchemaBuilder {
  /// The table of a root entity and its descendants.
  ///
  /// Columns come in groups: integers and to-one relationships entity by entity, then the places
  /// in ordered inverses, then reals and dates entity by entity, then each other type.
  func table(of root: SQLEntity) -> String {
    var definitions = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
    for (name, type) in columns(of: root) {
      definitions.append("\(SQLNames.quoted(name)) \(type.declaration)")
    }
    return "CREATE TABLE \(SQLNames.quoted(root.table)) "
      + "( \(definitions.joined(separator: ", ")) )"
  }

  private func columns(of root: SQLEntity) -> [(name: String, type: StoredType)] {
    let family = root.family
    var columns: [(name: String, type: StoredType)] = []
    for entity in family {
      columns += attributes(of: entity) { $0 == .integer }
      for column in relationships(of: entity) {
        columns.append((column.name, .integer))
        if let name = column.entityColumn { columns.append((name, .integer)) }
      }
    }
    let hidden = hiddenInverses(in: root)
    columns += hidden.map { ($0.column, .integer) }
    for entity in family {
      columns += relationships(of: entity).compactMap(\.orderColumn).map { ($0, .integer) }
    }
    columns += hidden.compactMap(\.orderColumn).map { ($0, .integer) }
    for entity in family {
      columns += attributes(of: entity) { $0 == .real || $0 == .timestamp }
    }
    for type in [StoredType.decimal, .text, .uuid, .transformable, .binary] {
      for entity in family { columns += attributes(of: entity) { $0 == type } }
    }
    return columns
  }

  private func attributes(
    of entity: SQLEntity, where belongs: (StoredType) -> Bool
  ) -> [(name: String, type: StoredType)] {
    entity.ownColumns.compactMap { column in
      guard let attribute = column.property as? NSAttributeDescription else { return nil }
      let type = StoredType(attribute.attributeType)
      return belongs(type) ? (column.name, type) : nil
    }
  }

  private func relationships(of entity: SQLEntity) -> [SQLColumn] {
    entity.ownColumns.filter { $0.property is NSRelationshipDescription }
  }

  /// The columns in a table for to-many relationships without an inverse.
  func hiddenInverses(in root: SQLEntity) -> [HiddenColumn] {
    hiddenColumns[ObjectIdentifier(root)] ?? []
  }

  /// The tables of many-to-many relationships, each with its index for the way back.
  var joinTables: [(table: String, index: SchemaIndex)] {
    var seen: Set<String> = []
    return declaredToMany.compactMap { relationship in
      guard
        case .joinTable(let name, let source, let destination, let order) = relationship.storage,
        seen.insert(name).inserted
      else { return nil }
      // The pair's columns stand in the order seen in Apple's stores: the naming side's own
      // first, but the other way round when both ends are one entity.
      let isReflexive = relationship.destination.description === relationship.relationship.entity
      let keys = isReflexive ? [destination, source] : [source, destination]
      let back = relationship.relationship.inverseRelationship.flatMap {
        $0 === relationship.relationship ? nil : relationship.destination.toMany[$0.name]
      }
      let orders = [back?.orderColumn, order].compactMap { $0 }
      let table = SQLNames.quoted(name)
      let quotedKeys = keys.map(SQLNames.quoted)
      let definitions =
        (quotedKeys + orders.map(SQLNames.quoted)).map { "\($0) INTEGER" }
        + ["PRIMARY KEY (\(quotedKeys.joined(separator: ", ")))"]
      return (
        "CREATE TABLE \(table) ( \(definitions.joined(separator: ", ")) )",
        SchemaIndex(
          name: "\(name)_\(keys[1])_INDEX", table: name, columns: [keys[1], keys[0]])
      )
    }
  }
}

extension SchemaBuilder {
  /// All indexes of the file, in the order in which they are made.
  var indexes: [SchemaIndex] {
    let roots = model.entities.filter { $0.superentity == nil }
    return roots.flatMap(indexes) + joinTables.map(\.index) + roots.flatMap(uniqueIndexes)
  }

  /// The indexes of a table: to-one relationships, the entity number of a hierarchy, then what
  /// the model asks for.
  func indexes(of root: SQLEntity) -> [SchemaIndex] {
    let family = root.family
    var columns = family.flatMap { entity in
      entity.ownColumns.filter { $0.property is NSRelationshipDescription }.map(\.name)
    }
    columns += hiddenInverses(in: root).map(\.column)
    if root.hasHierarchy { columns.append(SQLNames.entity) }
    let own = columns.map { column in
      SchemaIndex(name: "\(root.table)_\(column)_INDEX", table: root.table, columns: [column])
    }
    var seen: Set<String> = []
    return own + family.flatMap(requestedIndexes).filter { seen.insert($0.name).inserted }
  }

  /// The indexes that keep the uniqueness constraints of a table.
  func uniqueIndexes(of root: SQLEntity) -> [SchemaIndex] {
    root.family.flatMap { entity in
      entity.description.uniquenessConstraintNames.compactMap { names in
        parts(names.map { ($0, true) }, of: entity).map { parts in
          SchemaIndex(
            name: "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))", table: root.table,
            parts: parts, isUnique: true)
        }
      }
    }
  }

  /// The indexes that an entity's model asks for, the older forms included.
  ///
  /// An index with a range element is left out: those are tables of their own.
  private func requestedIndexes(of entity: SQLEntity) -> [SchemaIndex] {
    let description = entity.description
    func index(
      _ name: String, _ elements: [(name: String, ascending: Bool)], _ condition: String? = nil
    ) -> SchemaIndex? {
      self.index(named: name, of: entity, elements, where: condition)
    }
    var wanted = description.ownStoredAttributes.filter(\.isIndexed).map {
      index($0.name, [($0.name, true)])
    }
    wanted += description.compoundIndexNames.map { names in
      index(names.joined(separator: "_"), names.map { ($0, true) })
    }
    wanted += description.indexes
      .filter { $0.elements.allSatisfy { $0.collationType == .binary } }
      .map { described in
        let elements = described.elements.compactMap { element in
          element.property.map { (name: $0.name, ascending: element.isAscending) }
        }
        let condition = described.partialIndexPredicate.flatMap {
          IndexCondition(entity: entity).sql($0)
        }
        return index(described.name, elements, condition)
      }
    return wanted.compactMap { $0 }
  }

  /// An index of an entity's table; nil when it has no column, or one that is not stored.
  func index(
    named name: String, of entity: SQLEntity, _ elements: [(name: String, ascending: Bool)],
    where condition: String?
  ) -> SchemaIndex? {
    parts(elements, of: entity).map { parts in
      SchemaIndex(
        name: NSManagedObjectModel.storeIndexName(name, ofEntity: entity.name),
        table: entity.table, parts: parts, condition: condition)
    }
  }

  /// The columns of an index, nil when there are none or one is not stored.
  private func parts(
    _ elements: [(name: String, ascending: Bool)], of entity: SQLEntity
  ) -> [SchemaIndex.Part]? {
    guard !elements.isEmpty else { return nil }
    var parts: [SchemaIndex.Part] = []
    for element in elements {
      guard let column = entity.column(named: element.name) else { return nil }
      parts.append(SchemaIndex.Part(column: column.name, isAscending: element.ascending))
    }
    return parts
  }
}

extension SchemaBuilder {
  /// The R-trees that the model asks for, in the order in which they are made.
  ///
  /// An index that is a range in some elements only, has too many of them, or one that isn't a number
  /// or date, is left out.
  var rangeIndexes: [RangeIndex] {
    model.entities.flatMap { entity in
      entity.description.indexes.compactMap { rangeIndex($0, of: entity) }
    }
  }

  private func rangeIndex(
    _ index: NSFetchIndexDescription, of entity: SQLEntity
  ) -> RangeIndex? {
    guard !index.elements.isEmpty, index.elements.count <= RangeIndex.maximumDimensions,
      index.elements.allSatisfy({ $0.collationType == .rTree })
    else { return nil }
    let columns = index.elements.compactMap { element -> String? in
      guard let column = element.propertyName.flatMap(entity.column),
        let attribute = column.property as? NSAttributeDescription,
        [.integer, .real, .timestamp].contains(StoredType(attribute.attributeType))
      else { return nil }
      return column.name
    }
    guard columns.count == index.elements.count, Set(columns).count == columns.count else {
      return nil
    }
    return RangeIndex(
      name: "Z_RT_\(entity.name)_\(index.name)", table: entity.table, columns: columns)
  }
}

extension SchemaBuilder {
  /// The derived attributes of the model, each once, where it is declared.
  ///
  /// Those whose formula cannot be followed are left out.
  var derivedColumns: [DerivedColumn] {
    model.entities.flatMap { entity in
      entity.ownColumns.compactMap { DerivedColumn($0, of: entity, in: model) }
    }
  }

  /// The triggers that keep derived attributes right whoever writes to the file.
  ///
  /// Each computes the value again for the rows that a change touches, and hands it to the function
  /// through which the framework learns of it.
  var triggers: [String] {
    derivedColumns.flatMap { column in
      DerivedTriggers(column).all
    }
  }
}

extension NSManagedObjectModel {
  /// The statements that create a store of the model, in the order in which they are run.
  ///
  /// They are those of `addPersistentStore` for a new file, without the rows that follow them.
  ///
  /// - Throws: The errors that `validate()` finds, without its warnings: such a model has no tables.
  package func creationStatements() throws(ModelErrors) -> [String] {
    let errors = validate().filter { !$0.isWarning }
    guard errors.isEmpty else { throw ModelErrors(errors) }
    return SchemaBuilder(model: SQLModel(model: self)).statements
  }
}
