import ManagedModel

/// Names the tables of many-to-many relationships, by rule or as a file has them.
struct JoinTables {
  private let file: FileSchema?
  private let ignoresMissing: Bool

  /// Join columns in use, of which a second one of the same name gets a 1 behind it; with a file,
  /// the join tables in use.
  private var taken: Set<String> = []
  private var placed: [ObjectIdentifier: SQLToMany.Storage] = [:]

  init(file: FileSchema?, ignoresMissing: Bool = false) {
    self.file = file
    self.ignoresMissing = ignoresMissing
  }

  /// Where a many-to-many relationship is kept.
  ///
  /// Both sides of a pair answer with the same table.
  mutating func storage(
    of relationship: NSRelationshipDescription, from source: SQLEntity, to destination: SQLEntity
  ) throws(SchemaMismatch) -> SQLToMany.Storage {
    if let storage = placed[ObjectIdentifier(relationship)] { return storage }
    guard let inverse = relationship.inverseRelationship else {
      preconditionFailure("A many-to-many relationship has an inverse.")
    }
    // The side of the lower number names the table. Entities are visited by number and their
    // relationships by name, so the side that comes first is that side.
    let wanted = Wanted(relationship, inverse, source: source.number, destination.number)
    let pair: Pair
    if let file, let found = find(wanted, in: file) {
      pair = found
    } else if file == nil || ignoresMissing {
      pair = invent(wanted)
    } else {
      throw SchemaMismatch(
        entity: source.name, property: relationship.name, table: wanted.table, column: nil)
    }
    placed[ObjectIdentifier(inverse)] = .joinTable(
      table: pair.table, sourceColumn: pair.destinationColumn,
      destinationColumn: pair.sourceColumn,
      orderColumn: try orderColumn(of: inverse, destination, pair.sourceColumn, in: pair.table))
    let storage = SQLToMany.Storage.joinTable(
      table: pair.table, sourceColumn: pair.sourceColumn,
      destinationColumn: pair.destinationColumn,
      orderColumn: try orderColumn(of: relationship, source, pair.destinationColumn, in: pair.table)
    )
    placed[ObjectIdentifier(relationship)] = storage
    return storage
  }

  /// The column with the places in an ordered relationship, whose keys `column` holds.
  private func orderColumn(
    of relationship: NSRelationshipDescription, _ entity: SQLEntity, _ column: String,
    in table: String
  ) throws(SchemaMismatch) -> String? {
    guard relationship.isOrdered else { return nil }
    let name = SQLNames.joinOrder(column)
    guard let file else { return name }
    let orders = (file.tables[table.uppercased()]?.columns ?? [])
      .filter { $0.name.uppercased().hasPrefix("Z_FOK_") }
    let ending = relationship.name.uppercased()
    let found =
      orders.first { $0.name.uppercased() == name.uppercased() }
      ?? orders.first { $0.name.uppercased().hasSuffix(ending) }
      ?? (orders.count == 1 ? orders[0] : nil)
    guard let found else {
      if ignoresMissing { return name }
      throw SchemaMismatch(
        entity: entity.name, property: relationship.name, table: table, column: name)
    }
    return found.name
  }

  /// The names that the rule gives.
  ///
  /// A column is named by the relationship that yields its keys.
  private struct Wanted {
    let table: String
    let inverseTable: String
    let sourceColumn: String
    let destinationColumn: String
    let name: String
    let inverseName: String

    init(
      _ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription,
      source: Int, _ destination: Int
    ) {
      name = relationship.name.uppercased()
      inverseName = inverse.name.uppercased()
      table = SQLNames.join(source, name)
      inverseTable = SQLNames.join(destination, inverseName)
      sourceColumn = relationship === inverse ? "REFLEXIVE" : SQLNames.join(source, inverseName)
      destinationColumn = SQLNames.join(destination, name)
    }
  }

  private struct Pair {
    let table: String
    let sourceColumn: String
    let destinationColumn: String
  }

  private mutating func invent(_ wanted: Wanted) -> Pair {
    Pair(
      table: wanted.table, sourceColumn: take(wanted.sourceColumn),
      destinationColumn: take(wanted.destinationColumn))
  }

  private mutating func take(_ column: String) -> String {
    column == "REFLEXIVE" ? column : SQLNames.take(column, from: &taken)
  }

  /// Finds the table: by its rule name, by the other side's, then any whose columns fit.
  ///
  /// Where the numbers in the names are not this file's, the fit must be the only one.
  private mutating func find(_ wanted: Wanted, in file: FileSchema) -> Pair? {
    let names = [wanted.table, wanted.inverseTable]
    let others = file.tables.values
      .filter { $0.name.hasPrefix("Z_") && !names.contains($0.name.uppercased()) }
      .sorted { $0.name < $1.name }
    let candidates = (names.compactMap { file.tables[$0] } + others)
      .filter { !taken.contains($0.name) }
    let exact = candidates.compactMap { match(wanted, $0, exactNumbers: true) }
    let stale = candidates.compactMap { match(wanted, $0, exactNumbers: false) }
    let found = exact.first ?? (stale.count == 1 ? stale[0] : nil)
    if let found { taken.insert(found.table) }
    return found
  }

  private func match(_ wanted: Wanted, _ table: FileSchema.Table, exactNumbers: Bool) -> Pair? {
    func column(_ full: String, _ name: String, not other: String?) -> String? {
      let keys = table.columns.map(\.name)
        .filter { !$0.uppercased().hasPrefix("Z_FOK_") && $0 != other }
      if let exact = keys.first(where: { $0.uppercased() == full }) { return exact }
      return keys.first { key in
        let key = key.uppercased()
        return exactNumbers ? isSuffixed(key, full) : isNumbered(key, name)
      }
    }
    guard let destination = column(wanted.destinationColumn, wanted.name, not: nil),
      let source = column(wanted.sourceColumn, wanted.inverseName, not: destination)
    else { return nil }
    return Pair(table: table.name, sourceColumn: source, destinationColumn: destination)
  }

  /// Whether a column is a name with a number behind it: `Z_23USERS1`.
  private func isSuffixed(_ column: String, _ name: String) -> Bool {
    column.hasPrefix(name) && Int(column.dropFirst(name.count)) != nil
  }

  /// Whether a column is a name with any entity number before it: `Z_14USERS`, `Z_14USERS1`.
  private func isNumbered(_ column: String, _ name: String) -> Bool {
    guard column.hasPrefix("Z_") else { return false }
    let rest = column.dropFirst(2).drop(while: \.isNumber)
    return rest == name || isSuffixed(String(rest), name)
  }
}
