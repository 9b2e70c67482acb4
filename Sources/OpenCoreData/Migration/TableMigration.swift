import ManagedModel
import SQLiteDriver

/// What becomes of the table of a destination root entity.
struct TableMigration {
  enum Change {
    /// A new, empty table.
    case create
    /// A new table with copies of rows of another table, which keeps the rest.
    case split
    /// A new table with copies of all rows that remain, instead of the old one.
    case copy
    /// The old table, with columns and values changed in place.
    case alter
  }

  let root: SQLEntity
  let columns: [MigratedColumn]
  /// The root entity of the source table; `nil` for a new table.
  let source: SQLEntity?
  let change: Change
  /// The source entities whose rows the table gets.
  let members: [SQLEntity]
  /// The source entities whose rows leave the table that's kept.
  let leaving: [SQLEntity]
  /// The name of the source table while rows are copied from it.
  let sourceName: String
  /// An expression for the new entity IDs; `nil` if they don't change.
  let numbers: String?
  /// The new numbers of the entities of the source table, for columns that contain entity IDs.
  let renumber: (String) -> String?
  let createTable: String

  /// The new names of columns, by their uppercase old names; for a table that's altered.
  var newNames: [String: String] {
    guard change == .alter else { return [:] }
    return keptNames.filter { $0.key != $0.value.uppercased() }
  }

  /// The names of all columns that stay, by their uppercase old names.
  var keptNames: [String: String] {
    columns.reduce(into: [:]) { names, column in
      if let old = Self.base(of: column) { names[old.uppercased()] = column.name }
    }
  }

  /// Returns whether all rows keep their values in some columns, so that an R-tree over them stays
  /// valid.
  func keepsValues(of names: [String]) -> Bool {
    change == .alter && leaving.isEmpty
      && columns.filter { names.contains($0.name) }.allSatisfy { column in
        column.sources.values.allSatisfy { $0 == .column(column.name) }
      }
  }

  /// Returns whether the statement that changes values in place sets a column.
  func setsValues(of name: String) -> Bool {
    columns.contains { $0.name == name && $0.sources.values.contains(where: changesValues) }
  }

  private var table: String { SQLSyntax.quoted(root.table) }
  private var purpose: String { root.name }

  /// Returns the column of the source table that a column keeps; `nil` if it's new or has several
  /// sources.
  private static func base(of column: MigratedColumn) -> String? {
    let kept = Set(column.sources.values.compactMap(\.column))
    return kept.count == 1 ? kept.first : nil
  }

  // MARK: Statements

  func add(to statements: inout MigrationStatements) {
    switch change {
    case .create: statements.add(.copyRows, "\(purpose): create the table", createTable)
    case .split, .copy: addCopies(to: &statements)
    case .alter: addAlterations(to: &statements)
    }
  }

  private func addCopies(to statements: inout MigrationStatements) {
    guard let source else { return }
    if change == .copy { renameTables(source, in: &statements) }
    statements.add(.copyRows, "\(purpose): create the table", createTable)
    let kept = columns.filter { $0.sources.values.contains { $0 != .null && $0 != .cleared } }
    let names = ["Z_PK", "Z_ENT", "Z_OPT"] + kept.map { SQLSyntax.quoted($0.name) }
    let values = ["Z_PK", numbers ?? "Z_ENT", "Z_OPT"] + kept.map(copied)
    var condition = ""
    if change == .split {
      condition = " WHERE Z_ENT IN (\(LightweightMigrationPlan.list(members)))"
    } else if !leaving.isEmpty {
      condition = " WHERE Z_ENT NOT IN (\(LightweightMigrationPlan.list(leaving)))"
    }
    statements.add(
      .copyRows, "\(purpose): copy the rows",
      "INSERT INTO \(table) (\(names.joined(separator: ", "))) "
        + "SELECT \(values.joined(separator: ", ")) FROM \(SQLSyntax.quoted(sourceName))\(condition)",
      rowsOf: sourceName)
  }

  private func renameTables(_ source: SQLEntity, in statements: inout MigrationStatements) {
    statements.add(
      .renameTables, "\(purpose): rename the old table",
      "ALTER TABLE \(SQLSyntax.quoted(source.table)) RENAME TO \(SQLSyntax.quoted(sourceName))")
  }

  /// Returns the expression of a column's values in a copy.
  private func copied(_ column: MigratedColumn) -> String {
    if let only = column.onlySource, column.sources.count == members.count || isPlain(only) {
      return expression(only)
    }
    return "CASE Z_ENT\(cases(column.sources)) END"
  }

  /// Returns whether a source can be evaluated for the rows of other entities, whose column is
  /// null.
  private func isPlain(_ source: ColumnSource) -> Bool {
    if case .column = source { true } else { false }
  }

  private func cases(_ sources: [Int: ColumnSource]) -> String {
    sources.filter { $0.value != .null && $0.value != .cleared }.sorted { $0.key < $1.key }
      .map { " WHEN \($0.key) THEN \(expression($0.value))" }.joined()
  }

  private func expression(_ source: ColumnSource, in name: String? = nil) -> String {
    func quoted(_ column: String) -> String { SQLSyntax.quoted(name ?? column) }
    switch source {
    case .column(let column): return quoted(column)
    case .real(let column): return "CAST(\(quoted(column)) AS REAL)"
    case .marked(let column): return "CAST(x'01' || \(quoted(column)) AS BLOB)"
    case .filled(let source, let value):
      return "IFNULL(\(expression(source, in: name)), \(value.literal))"
    case .constant(let value): return value.literal
    case .null, .cleared: return "NULL"
    case .entityNumbers(let column): return renumber(quoted(column)) ?? quoted(column)
    case .entityNumber(let number, let keys):
      let keys = SQLSyntax.quoted(newNames[keys.uppercased()] ?? keys)
      return "CASE WHEN \(keys) IS NOT NULL THEN \(number) END"
    }
  }

  private func addAlterations(to statements: inout MigrationStatements) {
    guard let source else { return }
    if source.table.uppercased() != root.table.uppercased() {
      if sourceName != source.table { renameTables(source, in: &statements) }
      statements.add(
        .alterTables, "\(purpose): rename the table",
        "ALTER TABLE \(SQLSyntax.quoted(sourceName)) RENAME TO \(table)")
    }
    if !leaving.isEmpty {
      statements.add(
        .alterTables, "\(purpose): delete rows of other entities",
        "DELETE FROM \(table) WHERE Z_ENT IN (\(LightweightMigrationPlan.list(leaving)))",
        rowsOf: root.table)
    }
    for column in columns {
      guard let old = Self.base(of: column) else {
        statements.add(
          .alterTables, "\(purpose): add \(column.name)",
          "ALTER TABLE \(table) ADD COLUMN \(SQLSyntax.quoted(column.name)) \(column.type.declaration)"
        )
        continue
      }
      guard old.uppercased() != column.name.uppercased() else { continue }
      statements.add(
        .alterTables, "\(purpose): rename \(old) to \(column.name)",
        "ALTER TABLE \(table) RENAME COLUMN \(SQLSyntax.quoted(old)) TO "
          + SQLSyntax.quoted(column.name))
    }
    addUpdate(to: &statements)
  }

  /// Adds the one statement that changes values in place, if any change.
  private func addUpdate(to statements: inout MigrationStatements) {
    var assignments: [String] = []
    var conditions: [String] = []
    if let numbers {
      assignments.append("Z_ENT = \(numbers)")
      conditions.append("Z_ENT IS NOT \(numbers)")
    }
    for column in columns {
      let changed = column.sources.filter { changesValues($0.value) }
      guard let first = changed.values.first else { continue }
      let name = SQLSyntax.quoted(column.name)
      let isUniform = changed.count == members.count && changed.values.allSatisfy { $0 == first }
      let entities = isUniform ? nil : changed.keys.sorted().map { "\($0)" }.joined(separator: ", ")
      let value =
        isUniform
        ? expression(first, in: column.name)
        : "CASE Z_ENT"
          + changed.sorted { $0.key < $1.key }
          .map { " WHEN \($0.key) THEN \(expression($0.value, in: column.name))" }.joined()
          + " ELSE \(name) END"
      assignments.append("\(name) = \(value)")
      let isOfEntities = entities.map { "Z_ENT IN (\($0))" }
      let differs = "\(name) IS NOT \(value)"
      conditions.append(isOfEntities.map { "(\($0) AND \(differs))" } ?? differs)
    }
    guard !assignments.isEmpty else { return }
    statements.add(
      .alterTables, "\(purpose): set values",
      "UPDATE \(table) SET \(assignments.joined(separator: ", ")) "
        + "WHERE \(conditions.joined(separator: " OR "))", rowsOf: root.table)
  }

  /// Returns whether a column that's kept or added has other values than before.
  private func changesValues(_ source: ColumnSource) -> Bool {
    switch source {
    case .column, .null: false
    case .real, .marked, .filled, .constant, .cleared, .entityNumber: true
    case .entityNumbers(let column): renumber(SQLSyntax.quoted(column)) != nil
    }
  }
}

extension LightweightMigrationPlan {
  /// Decides what becomes of each table.
  mutating func planTables() {
    let roots = destination.roots
    let columns = roots.map(migratedColumns)
    for (root, columns) in zip(roots, columns) {
      guard let source = root.family.compactMap(formerEntity).first?.root,
        heirs[ObjectIdentifier(source)] === root, canAlter(source, to: root, columns)
      else { continue }
      keptRoots.insert(ObjectIdentifier(source))
      noteUnusedColumns(of: source, in: root, columns)
    }
    tables = tableMigrations(zip(roots, columns))
  }

  private func tableMigrations(
    _ columns: some Sequence<(SQLEntity, [MigratedColumn])>
  ) -> [TableMigration] {
    columns.map { root, columns in
      let members = root.family.compactMap(formerEntity)
      guard let source = members.first?.root else {
        return TableMigration(
          root: root, columns: columns, source: nil, change: .create, members: [], leaving: [],
          sourceName: "", numbers: nil, renumber: { _ in nil },
          createTable: destinationSchema.table(of: root))
      }
      let change: TableMigration.Change =
        heirs[ObjectIdentifier(source)] !== root
        ? .split : keptRoots.contains(ObjectIdentifier(source)) ? .alter : .copy
      let staying = Set(members.map(\.number))
      return TableMigration(
        root: root, columns: columns, source: source, change: change, members: members,
        leaving: change == .split ? [] : source.family.filter { !staying.contains($0.number) },
        sourceName: sourceName(of: source),
        numbers: renumbered("Z_ENT", of: source), renumber: { renumbered($0, of: nil) },
        createTable: destinationSchema.table(of: root))
    }
  }

  /// Returns the name of a source table while rows are copied.
  ///
  /// A table that is copied, or whose name another one gets, is renamed.
  func sourceName(of source: SQLEntity) -> String {
    let table = source.table.uppercased()
    let heir = heirs[ObjectIdentifier(source)]
    let isCopied = heir != nil && !keptRoots.contains(ObjectIdentifier(source))
    let isReplaced = table != heir?.table.uppercased() && entityTables.contains(table)
    return isCopied || isReplaced ? Self.temporaryName(of: source.table) : source.table
  }

  /// Returns the temporary name of a table.
  static func temporaryName(of table: String) -> String { "Z_MIGRATION_\(table)" }

  /// Returns, for each source root, the destination root that keeps its table.
  func heirs(among roots: [SQLEntity]) -> [ObjectIdentifier: SQLEntity] {
    var heirs: [ObjectIdentifier: SQLEntity] = [:]
    for root in roots {
      for member in root.family {
        guard let former = formerEntity(of: member) else { continue }
        let key = ObjectIdentifier(former.root)
        if heirs[key] == nil || former.superentity == nil { heirs[key] = root }
      }
    }
    return heirs
  }

  /// Returns whether a table can be kept: no column is lost, split, merged, or of another type.
  ///
  /// A lost column can stay if its removal is deferred.
  private func canAlter(
    _ source: SQLEntity, to root: SQLEntity, _ columns: [MigratedColumn]
  ) -> Bool {
    var used: Set<String> = []
    let names = Set(
      (file.tables[source.table.uppercased()]?.columns ?? []).map { $0.name.uppercased() })
    for column in columns {
      let sources = column.sources.values
      if sources.contains(where: \.changesType) { return false }
      let kept = Set(sources.compactMap { $0.column?.uppercased() })
      guard kept.count <= 1 else { return false }
      let isNamed = kept.first == column.name.uppercased()
      // A new or renamed column can't have a name that's in use.
      if !isNamed, names.contains(column.name.uppercased()) { return false }
      if let name = kept.first, !used.insert(name).inserted { return false }
    }
    return (!cleansUp(root.table) || storedColumns(of: source).isSubset(of: used))
      && keepsConstraints(source, root, columns)
  }

  /// Adds a table that keeps columns of removed properties to the deferred work.
  private mutating func noteUnusedColumns(
    of source: SQLEntity, in root: SQLEntity, _ columns: [MigratedColumn]
  ) {
    let used = Set(columns.flatMap { $0.sources.values.compactMap { $0.column?.uppercased() } })
    if !storedColumns(of: source).isSubset(of: used) { deferred.addChanged(root.table) }
  }

  /// Returns the columns of a source table that belong to properties, in uppercase; also those of
  /// properties that an earlier version had, if their removal was deferred.
  func storedColumns(of root: SQLEntity) -> Set<String> {
    var names: Set<String> = []
    for column in root.family.flatMap(\.ownColumns) {
      names.formUnion([column.name, column.entityColumn, column.orderColumn].compactMap { $0 })
    }
    for hidden in sourceSchema.hiddenInverses(in: root) {
      names.formUnion([hidden.column, hidden.orderColumn].compactMap { $0 })
    }
    if pending.hasChanged(root.table) {
      let all = file.tables[root.table.uppercased()]?.columns.map(\.name) ?? []
      names.formUnion(all.filter { !SQLNames.rowColumns.contains($0.uppercased()) })
    }
    return Set(names.map { $0.uppercased() })
  }

  /// Returns whether each constraint in `CREATE TABLE`, as in older files, is still required.
  private func keepsConstraints(
    _ source: SQLEntity, _ root: SQLEntity, _ columns: [MigratedColumn]
  ) -> Bool {
    guard let constraints = objects.constraints[source.table.uppercased()] else { return true }
    let names = columns.reduce(into: [String: String]()) { names, column in
      for old in column.sources.values.compactMap(\.column) {
        names[old.uppercased()] = column.name
      }
    }
    let required = destinationSchema.uniqueIndexes(of: root)
    return constraints.allSatisfy { index in
      required.contains { index.matches($0, renaming: names) }
    }
  }
}
