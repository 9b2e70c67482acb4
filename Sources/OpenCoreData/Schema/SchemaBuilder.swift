import ManagedModel
import ProfileEvents
import SQLiteDriver

/// Creates the schema of a new store, with Core Data's text and order of statements.
struct SchemaBuilder: Sendable {
  let model: SQLModel
  /// Each stored to-many relationship once, in the entity that declares it, by entity and name.
  let declaredToMany: [SQLToMany]
  /// The columns of to-many relationships without an inverse, by the root entity of their table.
  let hiddenColumns: [ObjectIdentifier: [HiddenColumn]]
  /// The to-many relationships with these columns, in the same order.
  let hiddenLists: [ObjectIdentifier: [SQLToMany]]

  /// A column in the destination's table, for a to-many relationship without an inverse.
  typealias HiddenColumn = (column: String, orderColumn: String?)

  /// **Cost:** one pass over the relationships; describing a table then needs no further pass.
  init(model: SQLModel) {
    self.model = model
    declaredToMany = model.entities.flatMap { entity in
      entity.toMany.values
        .filter { $0.relationship.entity === entity.description }
        .sorted { $0.relationship.name < $1.relationship.name }
    }
    var hidden: [ObjectIdentifier: [HiddenColumn]] = [:]
    var lists: [ObjectIdentifier: [SQLToMany]] = [:]
    for relationship in declaredToMany where relationship.relationship.inverseRelationship == nil {
      guard case .foreignKey(let column, let orderColumn) = relationship.storage else { continue }
      let root = ObjectIdentifier(relationship.destination.root)
      hidden[root, default: []].append((column, orderColumn))
      lists[root, default: []].append(relationship)
    }
    hiddenColumns = hidden
    hiddenLists = lists
  }

  /// The pragmas to run first in an empty file, which can't be changed later.
  static let newFilePragmas = [("page_size", "4096"), ("auto_vacuum", "2")]

  /// All `CREATE` statements: tables, join tables, indexes, unique indexes, R-trees, triggers of
  /// derived attributes, housekeeping.
  var statements: [String] { tables + indexes.map(\.sql) + others }

  /// The `CREATE` statements but those of indexes, for each of which SQLite reads the schema.
  var statementsWithoutIndexes: [String] { tables + others }

  private var tables: [String] { model.roots.map(table) + joinTables.map(\.table) }

  private var others: [String] { rangeIndexes.flatMap(\.statements) + triggers + Self.housekeeping }

  /// Returns whether a file has had no schema: it's empty, or its creation was interrupted.
  ///
  /// **Cost:** a read of the header, which isn't an event.
  static func isBlank(_ connection: Connection) throws -> Bool {
    try connection.values("PRAGMA schema_version") == [[.integer(0)]]
  }

  /// Creates the schema and the initial rows, in one transaction, unless another process has
  /// created them.
  ///
  /// - Parameters:
  ///   - connection: A connection to an empty file, opened with `newFilePragmas`.
  ///   - metadata: The contents of `Z_METADATA`.
  ///   - modelCache: The archived model; `nil` for none.
  ///   - logger: Logs the statements.
  /// - Returns: Whether it has created them.
  @discardableResult
  func create(
    on connection: Connection, metadata: StoreMetadata, modelCache: [UInt8]?,
    loggingTo logger: StoreOpeningLogger? = nil
  ) throws -> Bool {
    func run(_ sql: String, _ kind: StatementKind = .housekeeping) throws {
      try logger.logging(sql, kind) { try connection.execute(sql) }
    }
    func insert(_ sql: String, _ values: [SQLiteValue]) throws {
      _ = try logger.logging(sql) { try connection.values(sql, values) }
    }
    try run("BEGIN EXCLUSIVE", .transaction)
    do {
      guard try Self.isBlank(connection) else {
        try run("ROLLBACK", .transaction)
        return false
      }
      for statement in statements { try run(statement) }
      for entity in model.entities {
        try insert(
          "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, 0)",
          [
            .integer(Int64(entity.number)), .text(entity.name),
            .integer(Int64(entity.superentity?.number ?? 0)),
          ])
      }
      try metadata.write(to: connection, loggingTo: logger)
      if let modelCache {
        try insert("INSERT INTO Z_MODELCACHE(Z_CONTENT) VALUES(?)", [.blob(modelCache)])
      }
      try run("COMMIT", .transaction)
      return true
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
  /// Returns the table of a root entity and its descendants.
  ///
  /// Columns are grouped: integers and to-one relationships entity by entity, then the order keys
  /// for ordered inverses, then reals and dates entity by entity, then each other type.
  func table(of root: SQLEntity) -> String {
    var definitions = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
    for (name, type) in columns(of: root) {
      definitions.append("\(SQLSyntax.quoted(name)) \(type.declaration)")
    }
    return "CREATE TABLE \(SQLSyntax.quoted(root.table)) "
      + "( \(definitions.joined(separator: ", ")) )"
  }

  func columns(of root: SQLEntity) -> [(name: String, type: StoredType)] {
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

  /// Returns a table's columns for to-many relationships without an inverse.
  func hiddenInverses(in root: SQLEntity) -> [HiddenColumn] {
    hiddenColumns[ObjectIdentifier(root)] ?? []
  }

  /// The tables of many-to-many relationships, each with its index for the inverse direction.
  var joinTables: [(table: String, index: SchemaIndex)] {
    var seen: Set<String> = []
    return declaredToMany.compactMap { relationship in
      guard
        case .joinTable(let name, let source, let destination, let order) = relationship.storage,
        seen.insert(name).inserted
      else { return nil }
      // The columns are in the order of Core Data's stores: the naming side's own first, but
      // reversed if both ends are one entity.
      let isReflexive = relationship.destination.description === relationship.relationship.entity
      let keys = isReflexive ? [destination, source] : [source, destination]
      let back = relationship.relationship.inverseRelationship.flatMap {
        $0 === relationship.relationship ? nil : relationship.destination.toMany[$0.name]
      }
      let orders = [back?.orderColumn, order].compactMap { $0 }
      let table = SQLSyntax.quoted(name)
      let quotedKeys = keys.map(SQLSyntax.quoted)
      let definitions =
        (quotedKeys + orders.map(SQLSyntax.quoted)).map { "\($0) INTEGER" }
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
  /// All indexes of the file, in the order of creation, each with a name of its own.
  var indexes: [SchemaIndex] {
    let roots = model.roots
    var names = ClaimedNames(
      tableNames + rangeIndexes.flatMap { range in RangeIndex.tableEndings.map { range.name + $0 } }
    )
    var seen: Set<SchemaIndex> = []
    return (roots.flatMap(indexes) + joinTables.map(\.index) + roots.flatMap(uniqueIndexes))
      .filter { seen.insert($0).inserted }
      .map { $0.named(names.take($0.name)) }
  }

  /// The names of the tables of entities and of many-to-many relationships, and of what a file can
  /// have in addition.
  private var tableNames: [String] {
    let joins = declaredToMany.compactMap { list -> String? in
      if case .joinTable(let table, _, _, _) = list.storage { table } else { nil }
    }
    return model.entities.map(\.table) + joins
      + [HousekeepingTables.entities, HousekeepingTables.metadata, HousekeepingTables.modelCache]
      + Self.historyIndexNames
  }

  /// The names of indexes of the history that an index of the model could have.
  private static let historyIndexNames = [
    "Z_TRANSACTION_TransactionAuthorIndex", "Z_TRANSACTION_TransactionTimestampIndex",
    "Z_TRANSACTIONSTRING_UNIQUE_NAME",
  ]

  /// Returns the indexes of a table: to-one relationships, the entity ID of a hierarchy, then the
  /// model's indexes.
  func indexes(of root: SQLEntity) -> [SchemaIndex] {
    let family = root.family
    var columns = family.flatMap(relationships).map(\.name)
    columns += hiddenInverses(in: root).map(\.column)
    if root.hasHierarchy { columns.append(SQLNames.entity) }
    let own = columns.map { column in
      SchemaIndex(name: "\(root.table)_\(column)_INDEX", table: root.table, columns: [column])
    }
    return own + family.flatMap(requestedIndexes)
  }

  /// Returns the unique indexes for the uniqueness constraints of a table.
  func uniqueIndexes(of root: SQLEntity) -> [SchemaIndex] {
    root.family.flatMap { entity in
      entity.description.uniquenessConstraintNames.compactMap { uniqueIndex(for: $0, of: entity) }
    }
  }

  /// Returns the unique index for a uniqueness constraint; `nil` if a property isn't stored.
  ///
  /// Its name in the file has a number if another object has the name.
  func uniqueIndex(for names: [String], of entity: SQLEntity) -> SchemaIndex? {
    parts(names.map { ($0, true) }, of: entity).map { parts in
      SchemaIndex(
        name: "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))", table: entity.table,
        parts: parts, isUnique: true)
    }
  }

  /// Returns the indexes that an entity's model specifies, including older forms.
  ///
  /// An index with a range element is excluded: it's a separate table. So is a second one with the
  /// same name.
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
    var seen: Set<String> = []
    return wanted.compactMap { $0 }.filter { seen.insert($0.name).inserted }
  }

  /// Returns an index of an entity's table; `nil` if it has no columns, or one that isn't stored.
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

  /// Returns the columns of an index; `nil` if there are none or one isn't stored.
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
  /// The R-trees that the model specifies, in the order of creation.
  ///
  /// An index with ranges in only some elements, too many elements, or one that isn't a number or
  /// date, is excluded.
  var rangeIndexes: [RangeIndex] {
    var names = ClaimedNames(tableNames)
    return model.entities.flatMap { entity in
      var seen: Set<String> = []
      return entity.description.indexes.filter { seen.insert($0.name).inserted }
        .compactMap { rangeIndex($0, of: entity, &names) }
    }
  }

  private func rangeIndex(
    _ index: NSFetchIndexDescription, of entity: SQLEntity, _ names: inout ClaimedNames
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
    let name = names.take(
      "Z_RT_\(entity.name)_\(index.name)", endings: RangeIndex.tableEndings)
    return RangeIndex(name: name, table: entity.table, columns: columns)
  }
}

extension SchemaBuilder {
  /// The derived attributes of the model, each once, in the entity that declares it.
  ///
  /// Those with an unsupported derivation expression are excluded. One that's derived from another
  /// one comes after it.
  var derivedColumns: [DerivedColumn] {
    var names = ClaimedNames()
    let columns = model.entities.flatMap { entity in
      entity.ownColumns.compactMap {
        DerivedColumn($0, of: entity, in: model)?.claimingTriggers(&names)
      }
    }
    return columns.sourcesFirst
  }

  /// The triggers that keep derived attributes up to date for all writers of the file.
  ///
  /// Each recomputes the value for the rows that a change affects, and passes it to the function
  /// through which it's reported to the store.
  var triggers: [String] {
    derivedColumns.flatMap { column in
      DerivedTriggers(column).all
    }
  }
}

extension NSManagedObjectModel {
  /// Returns the statements that create a store of the model, in order.
  ///
  /// They're those of `addPersistentStore` for a new file, without the subsequent rows.
  ///
  /// - Throws: The errors of `validate()`, without its warnings: such a model has no tables.
  package func creationStatements() throws(ModelErrors) -> [String] { try schema().statements }

  /// Returns the schema of a new store.
  ///
  /// - Throws: The errors of `creationStatements()`.
  func schema() throws(ModelErrors) -> SchemaBuilder {
    let errors = validate().filter { !$0.isWarning }
    guard errors.isEmpty else { throw ModelErrors(errors) }
    return SchemaBuilder(model: SQLModel(model: self))
  }
}
