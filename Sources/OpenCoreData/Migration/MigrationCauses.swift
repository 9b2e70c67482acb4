import ManagedModel

/// Finds the differences of two models that cause a statement of the migration between them.
struct MigrationCauses {
  /// What a difference changes in the tables.
  private struct Scope {
    var paths: Set<String> = []
    /// The tables of both versions, in uppercase.
    var tables: Set<String> = []
    /// The columns of both versions, in uppercase.
    var columns: Set<String> = []
    /// The names of indexes, unique indexes, and R-trees, in uppercase.
    var indexes: Set<String> = []
    /// Whether entity IDs can change.
    var renumbers = false
  }

  /// An index or R-tree.
  private struct Object {
    /// Its place among all.
    let position: Int
    /// The table and the columns, in uppercase.
    let table: String
    let columns: [String]
  }

  private let scopes: [Scope?]
  private let plan: LightweightMigrationPlan
  private var byPath: [String: [Int]] = [:]
  private var byTable: [String: [Int]] = [:]
  private var byColumn: [String: [Int]] = [:]
  private var byIndex: [String: [Int]] = [:]
  private let renumbering: [Int]
  /// The indexes of the file, and the R-trees of both versions, by name in uppercase.
  private var objects: [String: Object] = [:]
  /// The places of the tables that are copied, by both names in uppercase.
  private var copies: [String: Int] = [:]

  /// - Parameters:
  ///   - differences: The differences between the plan's models.
  ///   - plan: The plan for a store without rows.
  init(of differences: [ModelDifference], in plan: LightweightMigrationPlan) {
    self.plan = plan
    scopes = differences.map { plan.isStructural($0) ? Self.scope(of: $0, in: plan) : nil }
    renumbering = scopes.indices.filter { [scopes] in scopes[$0]?.renumbers == true }
    for (index, scope) in scopes.enumerated() {
      guard let scope else { continue }
      for path in scope.paths { byPath[path, default: []].append(index) }
      for table in scope.tables { byTable[table, default: []].append(index) }
      for column in scope.columns { byColumn[column, default: []].append(index) }
      for name in scope.indexes { byIndex[name, default: []].append(index) }
    }
    for index in plan.objects.indexes {
      add(index.name, index.table, index.columns.compactMap(\.self))
    }
    for range in plan.sourceSchema.rangeIndexes + plan.destinationSchema.rangeIndexes {
      add(range.name, range.table, range.columns)
    }
    for (position, table) in plan.tables.enumerated() where table.change == .copy {
      for name in [table.root.table, table.sourceName].map({ $0.uppercased() })
      where copies[name] == nil {
        copies[name] = position
      }
    }
  }

  /// Adds an index or R-tree, unless there's one with the name.
  private mutating func add(_ name: String, _ table: String, _ columns: [String]) {
    let name = name.uppercased()
    guard objects[name] == nil else { return }
    objects[name] = Object(
      position: objects.count, table: table.uppercased(), columns: columns.map { $0.uppercased() })
  }

  /// Returns the positions of the differences of a property; if it has none, of those of its
  /// inverse, because a relationship's keys can be stored at either end.
  func of(path: String) -> [Int] {
    if let own = byPath[path] { return own }
    let words = path.split(separator: ".", maxSplits: 1).map(String.init)
    guard words.count == 2 else { return [] }
    let inverses = [plan.source, plan.destination].compactMap { model in
      let entity = model.entity(named: words[0])?.description
      return entity?.relationshipsByName[words[1]]?.inverseRelationship
    }
    return Set(inverses.flatMap { byPath["\($0.entity?.name ?? "").\($0.name)"] ?? [] }).sorted()
  }

  /// Returns the positions of the differences that cause a statement; none if each migration runs
  /// it.
  func of(_ statement: MigrationStatements.Statement) -> [Int] {
    let words = Self.words(of: statement.sql)
    let path = statement.purpose.firstRange(of: ": ").map {
      String(statement.purpose[..<$0.lowerBound])
    }
    switch statement.phase {
    case .housekeeping: return renumbering
    case .removeObjects, .createIndexes, .createTriggers: return ofObject(statement.sql, words)
    case .alterTables:
      let renamed = statement.sql.contains(" RENAME TO ") ? path.map(of(path:)) ?? [] : []
      return renamed.isEmpty ? ofAlteration(statement, words) : renamed
    case .renameTables, .copyRows, .dropTables, .keepJoinRows, .joinTables, .fillColumns:
      let direct = path.map(of(path:)) ?? []
      if !direct.isEmpty { return direct }
      if let table = copiedTable(words) { return ofCopy(table) }
      if statement.purpose.hasSuffix(": compute values") { return [] }
      let owners = owners(of: words)
      return owners.isEmpty ? renumbering : owners
    }
  }

  /// Returns the differences of columns in a statement's tables, which are among its words.
  private func owners(of words: Set<String>, in tables: Set<String>? = nil) -> [Int] {
    let tables = tables ?? words
    // Many tables can have a column of the same name, and one table many columns.
    let ofTables = tables.reduce(0) { $0 + (byTable[$1]?.count ?? 0) }
    let ofColumns = words.reduce(0) { $0 + (byColumn[$1]?.count ?? 0) }
    guard ofColumns <= ofTables else {
      return changes(ofTables: tables).filter {
        scopes[$0].map { !$0.columns.isDisjoint(with: words) } ?? false
      }
    }
    return Set(words.flatMap { byColumn[$0] ?? [] })
      .filter { scopes[$0].map { !$0.tables.isDisjoint(with: tables) } ?? false }.sorted()
  }

  private func changes(ofTables names: some Sequence<String>) -> [Int] {
    Set(names.flatMap { byTable[$0] ?? [] }).sorted()
  }

  /// Returns the causes of a statement that changes a table in place.
  private func ofAlteration(
    _ statement: MigrationStatements.Statement, _ words: Set<String>
  ) -> [Int] {
    let owners = owners(of: words)
    let isOfColumn = statement.sql.hasPrefix("ALTER") && !statement.sql.contains(" RENAME TO ")
    guard !isOfColumn, owners.isEmpty || words.contains("Z_ENT") else { return owners }
    return Set(owners).union(renumbering).sorted()
  }

  /// Returns the causes of a statement that creates or drops an index, an R-tree, or a trigger.
  private func ofObject(_ sql: String, _ words: Set<String>) -> [Int] {
    if sql.contains(" TRIGGER ") { return [] }
    let named = Set(words.flatMap { byIndex[$0] ?? [] }).sorted()
    if !named.isEmpty { return named }
    // A column of another table can have the name of a table.
    let table = sql.firstRange(of: " ON ").map {
      Self.words(of: String(sql[$0.upperBound...].prefix { $0 != "(" }))
    }
    let object = table == nil ? object(among: words) : nil
    let tables = table ?? object.map { Set([$0.table]) } ?? words
    if let copied = copiedTable(tables) { return ofCopy(copied) }
    let owners = owners(of: words.union(object?.columns ?? []), in: tables)
    guard owners.isEmpty else { return owners }
    // The columns are as before, so it's the entities that require the index, or don't anymore.
    let changed = changes(ofTables: tables)
    let entities = changed.filter { scopes[$0]?.renumbers == true }
    return entities.isEmpty ? changed : entities
  }

  /// Returns the index or R-tree whose name is among the words of a statement that doesn't name its
  /// table; `nil` for any other statement.
  private func object(among words: Set<String>) -> Object? {
    words.compactMap { objects[$0] }.min { $0.position < $1.position }
  }

  // MARK: Copies

  /// Returns the table that a statement copies, or creates or indexes because it's copied.
  private func copiedTable(_ words: Set<String>) -> TableMigration? {
    words.compactMap { copies[$0] }.min().map { plan.tables[$0] }
  }

  /// Returns the differences for which a table can't be changed in place.
  private func ofCopy(_ table: TableMigration) -> [Int] {
    let names = [table.root.table, table.source?.table ?? ""].map { $0.uppercased() }
    let affected = changes(ofTables: names)
    let used = Set(
      table.columns.flatMap { $0.sources.values.compactMap { $0.column?.uppercased() } })
    let lost = table.source.map { plan.storedColumns(of: $0).subtracting(used) } ?? []
    let retyped = table.columns.filter { $0.sources.values.contains(where: \.changesType) }
    let reasons = lost.union(retyped.map { $0.name.uppercased() })
    let causes = affected.filter { position in
      scopes[position].map { !$0.columns.isDisjoint(with: reasons) } ?? false
    }
    return causes.isEmpty ? affected : causes
  }

  /// Returns the identifiers in a statement, in uppercase.
  private static func words(of sql: String) -> Set<String> {
    Set(
      sql.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map { $0.uppercased() })
  }
}

extension MigrationCauses {
  private static func scope(
    of difference: ModelDifference, in plan: LightweightMigrationPlan
  ) -> Scope {
    var scope = Scope()
    let isRemoved = difference.kind == .removed && difference.subject == .entity
    let name = difference.entity ?? ""
    let later = isRemoved ? nil : plan.destination.entity(named: name)
    let former = later.map(plan.formerEntity) ?? plan.source.entity(named: name)
    for entity in [later, former].compactMap({ $0 }) {
      scope.tables.insert(entity.table.uppercased())
    }
    switch difference.subject {
    case .entity:
      scope.renumbers = true
      scope.paths = Set([difference.entity, difference.former].compactMap { $0 })
      for entity in [later, former].compactMap({ $0 }) {
        let names = entity.description.indexes.map { "Z_RT_\(entity.name)_\($0.name)" }
        scope.indexes.formUnion(names.map { $0.uppercased() })
      }
      // A table gets the columns of an added entity, and loses those of one whose rows leave it.
      let staysInTable =
        former.map { plan.heirs[ObjectIdentifier($0.root)] === later?.root } ?? false
      if !staysInTable, let entity = former ?? later {
        for column in entity.ownColumns { add(column, to: &scope) }
      }
    case .attribute, .relationship, .fetchedProperty:
      scope.paths = [difference.path]
      let oldName =
        difference.kind == .renamed ? difference.former : difference.name
      add(later, difference.name, to: &scope)
      add(
        former, later.flatMap { plan.formerName(of: difference.name ?? "", in: $0) } ?? oldName,
        to: &scope)
      for entity in [former].compactMap({ $0 }) {
        if let oldName { scope.paths.insert("\(entity.name).\(oldName)") }
      }
    case .index:
      let name = difference.name ?? ""
      for entity in [later, former].compactMap({ $0 }) {
        scope.indexes.insert(
          NSManagedObjectModel.storeIndexName(name.indexName, ofEntity: entity.name).uppercased())
        scope.indexes.insert("Z_RT_\(entity.name)_\(name)".uppercased())
      }
    case .constraint:
      let names = (difference.name ?? "").replacing(", ", with: "_")
      for entity in [later, former].compactMap({ $0 }) {
        scope.indexes.insert("Z_\(entity.name)_UNIQUE_\(names)".uppercased())
      }
    case .model, .configuration, .fetchRequest: break
    }
    if difference.subject == .index || difference.subject == .constraint { scope.tables = [] }
    return scope
  }

  private static func add(_ column: SQLColumn, to scope: inout Scope) {
    scope.columns.formUnion(
      [column.name, column.entityColumn, column.orderColumn].compactMap { $0?.uppercased() })
  }

  /// Adds the columns of a property, and the tables that contain them.
  private static func add(_ entity: SQLEntity?, _ name: String?, to scope: inout Scope) {
    guard let entity, let name else { return }
    let prefix = name + "."
    for column in entity.columns
    where column.property.name == name || column.property.name.hasPrefix(prefix) {
      add(column, to: &scope)
    }
    guard let list = entity.toMany[name] else { return }
    switch list.storage {
    case .foreignKey(let column, let order):
      scope.tables.insert(list.destination.table.uppercased())
      scope.columns.formUnion([column, order].compactMap { $0?.uppercased() })
    case .joinTable(let table, let own, let other, let order):
      scope.tables.insert(table.uppercased())
      scope.columns.formUnion([own, other, order].compactMap { $0?.uppercased() })
    }
  }
}

extension LightweightMigrationPlan {
  /// Returns whether a difference can change tables, indexes, or values.
  fileprivate func isStructural(_ difference: ModelDifference) -> Bool {
    guard difference.kind == .changed else {
      return ![.model, .configuration, .fetchRequest, .fetchedProperty].contains(
        difference.subject)
    }
    // Any migration creates changed indexes and computes derived values.
    guard difference.effect != .none || difference.subject == .index || difference.isOfDerivation
    else { return false }
    let detail = difference.detail ?? ""
    let others = [
      "hash modifier", "minimum count", "maximum count", "optional now", "abstract",
      "no longer abstract",
    ]
    return !others.contains { detail.hasPrefix($0) }
  }
}

extension String {
  /// The name of an index of the older forms, which differences describe.
  fileprivate var indexName: String {
    if hasPrefix("indexed ") { return String(dropFirst(8)) }
    if hasPrefix("compound ") { return String(dropFirst(9)).replacing(", ", with: "_") }
    return self
  }
}
