import OpenCoreData
import SQLiteDriver

/// Inserts the rows of a corrupt store into a new one.
struct RowLoader {
  /// Where a column's value comes from.
  private enum Source {
    case rowID
    case column(Int)
    /// A column with an entity ID, which can differ between the files.
    case entityID(Int)
  }

  /// A table of the new store, with the columns that the old one has.
  private struct Target {
    let name: String
    let columns: [TableDefinition.Column]
    let sources: [Source]
    let kind: Kind
    /// The number of columns of the old table.
    let columnCount: Int
    /// Whether the file states the columns.
    let hasDefinition: Bool
    let sql: String

    /// Returns whether the old table can have records with a number of values.
    ///
    /// Values of columns that were added later can be missing.
    func canHave(_ count: Int) -> Bool {
      hasDefinition ? count <= columnCount : count == columnCount
    }
  }

  private enum Kind {
    case objects(root: String)
    case join
    case history(Int)
  }

  private let store: CorruptStore
  private let old: SQLModel
  private let new: SQLModel
  private let connection: Connection
  /// The columns of the new store's tables.
  private var newColumns: [String: [TableDefinition.Column]]
  private var targets: [Int32: Target] = [:]
  private var numbers: [Int64: Int64] = [:]
  /// The identifiers of the tables with the objects of an entity ID.
  private var tableOfEntity: [Int64: Int32] = [:]
  /// The entity IDs that the file doesn't state.
  private var assumedNumbers: Set<Int64> = []
  private(set) var losses = RepairLosses()

  init(
    _ store: CorruptStore, old: SQLModel, new: SQLModel, into connection: Connection
  ) throws {
    (self.store, self.old, self.new, self.connection) = (store, old, new, connection)
    newColumns = try Self.columns(on: connection)
    let stated = Set(store.entities.map(\.number))
    for entity in old.entities {
      let number = Int64(entity.number)
      numbers[number] = Int64(new.entity(for: entity.description).number)
      if !stated.contains(number) { assumedNumbers.insert(number) }
    }
    if !assumedNumbers.isEmpty {
      losses.assumptions.append(
        "Z_PRIMARYKEY can't be read completely; entity IDs and Z_MAX are assumed")
    }
    addObjectTables()
    addJoinTables()
    for (number, table) in HistoryTables.entityIDs { addHistory(table, number) }
  }

  /// Returns the columns of each table of the new store.
  private static func columns(
    on connection: Connection
  ) throws -> [String: [TableDefinition.Column]] {
    let rows = try connection.values(
      "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c "
        + "WHERE m.type = 'table' ORDER BY m.name, c.cid")
    return rows.reduce(into: [:]) { columns, row in
      guard case .text(let table) = row[0], case .text(let name) = row[1],
        case .text(let type) = row[2]
      else { return }
      columns[table, default: []].append(TableDefinition.Column(name: name, type: type))
    }
  }

  private mutating func add(
    _ name: String, as newName: String, _ kind: Kind, _ pairs: [(old: String, new: String)],
    entityIDs: Set<String> = []
  ) {
    guard let table = store.tables[name.uppercased()] else { return }
    let known = newColumns[newName] ?? []
    let renamed = renamedColumn(of: table, known, pairs)
    let present = table.definition.columns.map { $0.name.uppercased() }
    let missing = Set(pairs.map(\.old))
      .filter { !present.contains($0.uppercased()) && $0 != renamed?.old }.sorted()
    let isDefined = table.hasDefinition && (missing.isEmpty || hasOnly(pairs, table, kind))
    if !isDefined {
      losses.assumptions.append(
        "the definition of \(name) can't be read; its columns are those of a new store")
    } else if !missing.isEmpty {
      losses.assumptions.append(
        "\(name) has no \(missing.count == 1 ? "column" : "columns") "
          + "\(missing.joined(separator: ", ")); the values are missing")
    }
    var (columns, sources): ([TableDefinition.Column], [Source]) = ([], [])
    for pair in pairs where !columns.contains(where: { $0.name == pair.new }) {
      guard let position = known.firstIndex(where: { $0.name == pair.new }) else { continue }
      var index: Int? = position
      if isDefined {
        index =
          pair.old == renamed?.old ? renamed?.index : present.firstIndex(of: pair.old.uppercased())
      }
      guard let index else { continue }
      if case .join = kind {
        sources.append(.column(index))
      } else if pair.new == "Z_PK" {
        sources.append(.rowID)
      } else {
        sources.append(entityIDs.contains(pair.old) ? .entityID(index) : .column(index))
      }
      columns.append(known[position])
    }
    guard !columns.isEmpty else { return }
    let quoted = columns.map { SQLSyntax.quoted($0.name) }.joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    targets[table.id] = Target(
      name: newName, columns: columns, sources: sources, kind: kind,
      columnCount: isDefined ? present.count : known.count, hasDefinition: isDefined,
      sql: "INSERT OR IGNORE INTO \(SQLSyntax.quoted(newName)) (\(quoted)) VALUES (\(marks))")
  }

  /// Returns whether a table of objects has fewer columns than expected, but no others.
  ///
  /// Its rows have a value for each column, so that no separator of columns is corrupt.
  private func hasOnly(
    _ pairs: [(old: String, new: String)], _ table: CorruptStore.Table, _ kind: Kind
  ) -> Bool {
    guard case .objects = kind else { return false }
    let names = table.definition.columns.map { $0.name.uppercased() }
    let leaf = store.leaves.first { $0.table == table.id && $0.grade == .trusted }
    let rows = leaf.map { store.map.leaf($0.number).rows } ?? []
    return names.starts(with: ["Z_PK", "Z_ENT"])
      && Set(names).isSubset(of: pairs.map { $0.old.uppercased() })
      && rows.map(\.values.count).max() == names.count
  }

  /// Returns the column that the definition lacks, and the index of the one whose name isn't
  /// expected, if there's only one of either: the name is corrupt.
  private mutating func renamedColumn(
    of table: CorruptStore.Table, _ known: [TableDefinition.Column],
    _ pairs: [(old: String, new: String)]
  ) -> (old: String, index: Int)? {
    let columns = table.definition.columns
    let expected = Set(pairs.map { $0.old.uppercased() })
    let others = columns.indices.filter { !expected.contains(columns[$0].name.uppercased()) }
    let missing = pairs.filter { pair in
      !columns.contains { $0.name.uppercased() == pair.old.uppercased() }
    }
    guard table.hasDefinition, columns.count == known.count, others.count == 1,
      let pair = missing.first, missing.allSatisfy({ $0.old == pair.old }),
      let type = known.first(where: { $0.name == pair.new })?.type
    else { return nil }
    let found = columns[others[0]]
    guard found.type == type || !TableDefinition.types.contains(found.type) else { return nil }
    losses.assumptions.append(
      "\(table.name) has no column \(pair.old); \(found.name) is assumed to replace it")
    return (pair.old, others[0])
  }

  private mutating func addObjectTables() {
    for root in old.roots {
      let newRoot = new.entity(for: root.description)
      var pairs = ["Z_PK", "Z_ENT", "Z_OPT"].map { ($0, $0) }
      var entityIDs: Set = ["Z_ENT"]
      for entity in root.family {
        for (was, now) in zip(entity.ownColumns, new.entity(for: entity.description).ownColumns) {
          pairs.append((was.name, now.name))
          if let one = was.entityColumn, let two = now.entityColumn {
            pairs.append((one, two))
            entityIDs.insert(one)
          }
          if let one = was.orderColumn, let two = now.orderColumn { pairs.append((one, two)) }
        }
      }
      pairs += hiddenColumns(of: root)
      add(
        root.table, as: newRoot.table, .objects(root: root.name), pairs, entityIDs: entityIDs)
      guard let id = store.tables[root.table.uppercased()]?.id else { continue }
      for entity in root.family { tableOfEntity[Int64(entity.number)] = id }
    }
  }

  /// Returns the columns of to-many relationships without an inverse in their destination's table.
  private func hiddenColumns(of root: SQLEntity) -> [(String, String)] {
    old.entities.flatMap { entity in
      entity.toMany.flatMap { name, toMany -> [(String, String)] in
        guard toMany.destination.root === root,
          toMany.relationship.inverseRelationship == nil,
          case .foreignKey(let column, let order) = toMany.storage,
          case .foreignKey(let newColumn, let newOrder)? =
            new.entity(for: entity.description).toMany[name]?.storage
        else { return [] }
        var pairs = [(column, newColumn)]
        if let order, let newOrder { pairs.append((order, newOrder)) }
        return pairs
      }
    }
  }

  private mutating func addJoinTables() {
    var added: Set<String> = []
    for entity in old.entities {
      for (name, toMany) in entity.toMany {
        guard
          case .joinTable(let table, let source, let destination, let order) = toMany.storage,
          case .joinTable(let newTable, let newSource, let newDestination, let newOrder)? =
            new.entity(for: entity.description).toMany[name]?.storage,
          added.insert(table).inserted
        else { continue }
        var pairs = [(source, newSource), (destination, newDestination)]
        if let order, let newOrder { pairs.append((order, newOrder)) }
        if let inverse = toMany.relationship.inverseRelationship?.name,
          case .joinTable(_, _, _, let back?)? = toMany.destination.toMany[inverse]?.storage,
          case .joinTable(_, _, _, let newBack?)? =
            new.entity(for: toMany.destination.description).toMany[inverse]?.storage
        {
          pairs.append((back, newBack))
        }
        add(table, as: newTable, .join, pairs)
      }
    }
  }

  private mutating func addHistory(_ name: String, _ number: Int) {
    guard let known = newColumns[name], let table = store.tables[name] else { return }
    // Other versions of Core Data have other columns.
    var names: [String] = []
    for column in table.definition.columns {
      if let same = known.first(where: { $0.name.uppercased() == column.name.uppercased() }) {
        names.append(same.name)
      } else if column.name.hasPrefix("Z"),
        (try? connection.execute(
          "ALTER TABLE \(name) ADD COLUMN \(SQLSyntax.quoted(column.name)) \(column.type)")) != nil
      {
        newColumns[name, default: []].append(column)
        names.append(column.name)
      }
    }
    add(name, as: name, .history(number), names.map { ($0, $0) }, entityIDs: ["ZENTITY"])
  }

  /// Inserts all rows.
  ///
  /// Of several rows with the same key, the one on the most reliable page is inserted.
  /// - Throws: A `SQLiteError` if the new store can't be written.
  mutating func load() throws {
    var misused: [Int32: Int] = [:]
    for leaf in store.leaves where !isHousekeeping(leaf.table) {
      let content = store.map.leaf(leaf.number)
      if content.lostCount > 0 {
        losses.add(undecoded: content.lostCount, in: name(of: leaf.table))
      }
      var isOfOther = false
      for row in content.rows where try !insert(row, from: leaf) { isOfOther = true }
      // The b-tree refers to a page with the content of another table's.
      if isOfOther, leaf.grade == .trusted { misused[leaf.table, default: 0] += 1 }
    }
    for (id, count) in store.map.corrupt.merging(misused, uniquingKeysWith: +) {
      losses.corruptPages[name(of: id), default: 0] += count
    }
  }

  private func name(of table: Int32) -> String {
    if table == CorruptStore.schemaID { return "sqlite_schema" }
    return targets[table]?.name ?? store.tablesByID[table]?.name ?? ""
  }

  private func isHousekeeping(_ table: Int32) -> Bool {
    guard table != 0, targets[table] == nil else { return false }
    let names = [
      HousekeepingTables.metadata, HousekeepingTables.modelCache, HousekeepingTables.entities,
      "sqlite_schema",
    ]
    let name = name(of: table)
    // The shadow tables of R-trees are written with the rows.
    return names.contains(name) || name.uppercased().hasPrefix("SQLITE_") || newColumns[name] != nil
  }

  /// Inserts a row, and returns whether it's one of the leaf page's table.
  private mutating func insert(_ row: PageMap.Row, from leaf: PageMap.LeafPage) throws -> Bool {
    guard let id = table(of: row, on: leaf), let target = targets[id] else {
      if leaf.table != 0, targets[leaf.table] == nil {
        losses.omitted[name(of: leaf.table), default: 0] += 1
      } else {
        losses.add(undecoded: 1, in: name(of: leaf.table))
      }
      return true
    }
    var corruptCount = 0
    let values = target.sources.map { source -> SQLiteValue in
      switch source {
      case .rowID: return .integer(row.rowID)
      case .column(let index), .entityID(let index):
        guard index < row.values.count else { return .null }
        guard let value = row.values[index] else {
          corruptCount += 1
          return .null
        }
        guard case .entityID = source, case .integer(let number) = value else { return value }
        return .integer(numbers[number] ?? number)
      }
    }
    let isCertain = leaf.grade == .trusted && target.hasDefinition
    guard isCertain || zip(target.columns, values).allSatisfy({ $0.accepts($1) }) else {
      losses.add(undecoded: 1, in: target.name)
      return leaf.table == 0 || leaf.table == id
    }
    _ = try connection.values(target.sql, values)
    let subject = subject(of: row, in: target)
    if connection.changes > 0 {
      losses.recovered[subject, default: 0] += 1
      if leaf.grade == .detached || leaf.table != id { losses.detached[subject, default: 0] += 1 }
      if corruptCount > 0 { losses.corruptValues[subject, default: 0] += corruptCount }
    } else if try !isPresent(row, in: target) {
      losses.refused[subject, default: 0] += 1
    }
    return leaf.table == 0 || leaf.table == id
  }

  private func isPresent(_ row: PageMap.Row, in target: Target) throws -> Bool {
    if case .join = target.kind { return true }
    let found = try connection.values(
      "SELECT 1 FROM \(SQLSyntax.quoted(target.name)) WHERE Z_PK = ?", [.integer(row.rowID)])
    return !found.isEmpty
  }

  private func subject(of row: PageMap.Row, in target: Target) -> String {
    if case .objects(let root) = target.kind {
      guard row.values.count > 1, case .integer(let number)? = row.values[1] else { return root }
      return old.entity(number: Int(clamping: number))?.name ?? root
    }
    return target.name
  }

  /// Returns the table of a row, which its content confirms; `nil` if no table can contain it.
  private func table(of row: PageMap.Row, on leaf: PageMap.LeafPage) -> Int32? {
    let values = row.values
    let isOfOmitted = leaf.table != 0 && targets[leaf.table] == nil
    if values.count >= 3, case .null? = values[0], case .integer(let number)? = values[1] {
      var found = tableOfEntity[number]
      if let history = HistoryTables.entityIDs.first(where: { Int64($0.0) == number }) {
        found = store.tables[history.1]?.id
      }
      guard row.rowID >= 1, let id = found, let target = targets[id],
        target.canHave(values.count),
        // The rows of a table with an unknown name can be those of one without a root.
        !isOfOmitted || store.tablesByID[id]?.hasRoot == false,
        !assumedNumbers.contains(number) || leaf.table == id
      else { return nil }
      return id
    }
    guard !isOfOmitted, values.count >= 2, values.allSatisfy({ $0?.isKey == true }) else {
      return nil
    }
    func fits(_ id: Int32) -> Bool {
      guard let target = targets[id], case .join = target.kind else { return false }
      return target.canHave(values.count)
    }
    // Nothing in a join row states its table.
    guard leaf.table == 0 else {
      return leaf.grade != .misplaced && fits(leaf.table) ? leaf.table : nil
    }
    let candidates = targets.keys.filter { id in
      fits(id) && (store.tablesByID[id]?.hasRoot == false || store.map.corrupt[id] != nil)
    }
    return candidates.count == 1 ? candidates.first : nil
  }
}

extension SQLiteValue {
  /// Whether a column of a join table can contain the value.
  fileprivate var isKey: Bool {
    switch self {
    case .integer, .null: true
    default: false
    }
  }
}
