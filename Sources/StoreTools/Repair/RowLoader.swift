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
    let columns: [String]
    let sources: [Source]
    let kind: Kind
    let sql: String
  }

  private enum Kind {
    case objects(root: String)
    case join
    case history(Int)
  }

  private let store: DamagedStore
  private let old: SQLModel
  private let new: SQLModel
  private let connection: Connection
  private var targets: [Int32: Target] = [:]
  private var numbers: [Int64: Int64] = [:]
  /// The identifiers of the tables with the objects of an entity ID.
  private var tableOfEntity: [Int64: Int32] = [:]
  private(set) var losses = RepairLosses()

  init(
    _ store: DamagedStore, old: SQLModel, new: SQLModel, into connection: Connection
  ) throws {
    (self.store, self.old, self.new, self.connection) = (store, old, new, connection)
    for entity in old.entities {
      numbers[Int64(entity.number)] = Int64(new.entity(for: entity.description).number)
    }
    let columns = try Self.columns(on: connection)
    addObjectTables(columns)
    addJoinTables()
    for (number, name) in HistoryTables.numbers { addHistory(name, number, columns) }
  }

  /// Returns the columns of each table of the new store.
  private static func columns(on connection: Connection) throws -> [String: [String]] {
    let rows = try connection.values(
      "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
        + "WHERE m.type = 'table' ORDER BY m.name, c.cid")
    return rows.reduce(into: [:]) { columns, row in
      guard case .text(let table) = row[0], case .text(let name) = row[1] else { return }
      columns[table, default: []].append(name)
    }
  }

  private mutating func add(
    _ name: String, as newName: String, _ kind: Kind, _ pairs: [(old: String, new: String)],
    entityIDs: Set<String> = []
  ) {
    guard let table = store.tables[name.uppercased()] else { return }
    var (columns, sources): ([String], [Source]) = ([], [])
    let present = table.definition.columns.map { $0.name.uppercased() }
    for pair in pairs where !columns.contains(pair.new) {
      guard let index = present.firstIndex(of: pair.old.uppercased()) else { continue }
      if case .join = kind {
        sources.append(.column(index))
      } else if pair.new == "Z_PK" {
        sources.append(.rowID)
      } else {
        sources.append(entityIDs.contains(pair.old) ? .entityID(index) : .column(index))
      }
      columns.append(pair.new)
    }
    let quoted = columns.map(SQLNames.quoted).joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    targets[table.id] = Target(
      name: newName, columns: columns, sources: sources, kind: kind,
      sql: "INSERT OR IGNORE INTO \(SQLNames.quoted(newName)) (\(quoted)) VALUES (\(marks))")
  }

  private mutating func addObjectTables(_ columns: [String: [String]]) {
    for root in old.entities where root.superentity == nil {
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
        return [(column, newColumn)]
          + zip([order], [newOrder]).compactMap { pair in
            pair.0.flatMap { one in pair.1.map { (one, $0) } }
          }
      }
    }
  }

  private mutating func addJoinTables() {
    for entity in old.entities {
      for (name, toMany) in entity.toMany {
        guard
          case .joinTable(let table, let source, let destination, let order) = toMany.storage,
          case .joinTable(let newTable, let newSource, let newDestination, let newOrder)? =
            new.entity(for: entity.description).toMany[name]?.storage
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

  private mutating func addHistory(
    _ name: String, _ number: Int, _ columns: [String: [String]]
  ) {
    guard let wanted = columns[name], let table = store.tables[name] else { return }
    var pairs = wanted.map { ($0, $0) }
    // Other versions of Core Data have other columns, which are kept.
    for column in table.definition.columns.map(\.name)
    where !wanted.contains(column) && column.hasPrefix("Z") {
      let sql = "ALTER TABLE \(name) ADD COLUMN \(SQLNames.quoted(column))"
      if (try? connection.execute(sql)) != nil { pairs.append((column, column)) }
    }
    add(name, as: name, .history(number), pairs, entityIDs: ["ZENTITY"])
  }

  /// Inserts all rows.
  ///
  /// Of several rows with the same key, the one on the most reliable page is inserted.
  /// - Throws: A `SQLiteError` if the new store can't be written.
  mutating func load() throws {
    for leaf in store.leaves {
      let content = store.map.leaf(leaf.number)
      let table = targets[leaf.table] == nil ? 0 : leaf.table
      // Pages of other tables, and those of the housekeeping tables.
      if table == 0, leaf.table != 0 { continue }
      if content.lostCount > 0 { losses.add(undecoded: content.lostCount, in: name(of: table)) }
      for row in content.rows { try insert(row, ownedBy: table) }
    }
    for (id, count) in store.map.damaged { losses.damagedPages[name(of: id), default: 0] += count }
  }

  private func name(of table: Int32) -> String? {
    targets[table]?.name ?? store.tablesByID[table]?.name
  }

  private mutating func insert(_ row: PageMap.Row, ownedBy owner: Int32) throws {
    guard let id = table(of: row, ownedBy: owner), let target = targets[id] else {
      if owner != 0 || isObject(row) { losses.add(undecoded: 1, in: name(of: owner)) }
      return
    }
    var damagedCount = 0
    let values = target.sources.map { source -> SQLiteValue in
      switch source {
      case .rowID: return .integer(row.rowID)
      case .column(let index), .entityID(let index):
        guard index < row.values.count else { return .null }
        guard let value = row.values[index] else {
          damagedCount += 1
          return .null
        }
        guard case .entityID = source, case .integer(let number) = value else { return value }
        return .integer(numbers[number] ?? number)
      }
    }
    _ = try connection.values(target.sql, values)
    let subject = subject(of: row, in: target)
    if connection.changes > 0 {
      losses.recovered[subject, default: 0] += 1
      if damagedCount > 0 { losses.damagedValues[subject, default: 0] += damagedCount }
    } else if try !isPresent(row, in: target) {
      losses.refused[subject, default: 0] += 1
    }
  }

  private func isPresent(_ row: PageMap.Row, in target: Target) throws -> Bool {
    guard target.columns.contains("Z_PK") else { return true }
    let found = try connection.values(
      "SELECT 1 FROM \(SQLNames.quoted(target.name)) WHERE Z_PK = ?", [.integer(row.rowID)])
    return !found.isEmpty
  }

  private func isObject(_ row: PageMap.Row) -> Bool {
    guard row.values.count >= 3, case .null? = row.values[0], case .integer? = row.values[1] else {
      return false
    }
    return true
  }

  private func subject(of row: PageMap.Row, in target: Target) -> String {
    if case .objects(let root) = target.kind {
      guard row.values.count > 1, case .integer(let number)? = row.values[1] else { return root }
      return old.entity(number: Int(clamping: number))?.name ?? root
    }
    return target.name
  }

  /// Returns the table of a row, which its content confirms; nil if no table can contain it.
  private func table(of row: PageMap.Row, ownedBy owner: Int32) -> Int32? {
    let values = row.values
    if isObject(row), case .integer(let number)? = values[1], row.rowID >= 1 {
      var found = tableOfEntity[number]
      if let history = HistoryTables.numbers.first(where: { Int64($0.0) == number }) {
        found = store.tables[history.1]?.id
      }
      guard let id = found, let table = store.tablesByID[id],
        values.count <= table.definition.columns.count
      else { return nil }
      return id
    }
    let isKeys = values.allSatisfy { value in
      switch value {
      case .integer?, .null?: true
      default: false
      }
    }
    guard isKeys, values.count >= 2 else { return nil }
    if let target = targets[owner], case .join = target.kind { return owner }
    guard owner == 0 else { return nil }
    let candidates = targets.filter { id, target in
      guard case .join = target.kind, let table = store.tablesByID[id] else { return false }
      return table.definition.columns.count == values.count
        && (!table.hasRoot || store.map.damaged[id] != nil)
    }
    return candidates.count == 1 ? candidates.first?.key : nil
  }
}

/// The numbers of recovered rows, and what couldn't be recovered, by entity or table.
struct RepairLosses {
  var recovered: [String: Int] = [:]
  /// Values whose overflow pages are corrupt.
  var damagedValues: [String: Int] = [:]
  /// Rows that violate a uniqueness constraint.
  var refused: [String: Int] = [:]
  /// Records that can't be decoded, by table; empty for an unknown table.
  private(set) var undecoded: [String: Int] = [:]
  /// Pages that can't be read, by table.
  var damagedPages: [String?: Int] = [:]

  mutating func add(undecoded count: Int, in table: String?) {
    undecoded[table ?? "", default: 0] += count
  }
}
