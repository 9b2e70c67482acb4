import SQLiteDriver

/// The entities of a store without a model, read off its tables.
///
/// Entity names are exact: `Z_PRIMARYKEY` has them. Property names are guesses, as columns are in
/// capitals; so is which integer is a relationship: one with the index that relationships always have.
struct SchemaEntities {
  let schema: InspectedSchema
  let connection: Connection

  /// Depth first, alphabetically.
  ///
  /// One COUNT a table.
  func entities() throws(SQLiteError) -> [InspectedEntity] {
    var result: [InspectedEntity] = []
    for root in children(of: 0) {
      let table = schema.table(ofRoot: root.name)
      let rows = try table.map { table throws(SQLiteError) in try self.rows(in: table) } ?? [:]
      add(root, depth: 0, below: nil, table: table, rows: rows, to: &result)
    }
    return result
  }

  private func children(of number: Int64) -> [InspectedSchema.Entity] {
    schema.entities.filter { $0.superNumber == number && $0.number != number }
      .sorted { $0.name < $1.name }
  }

  /// Adds an entity and those below it, and returns its rows with theirs.
  @discardableResult
  private func add(
    _ entity: InspectedSchema.Entity, depth: Int, below parent: String?, table: String?,
    rows: [Int64: Int], to result: inout [InspectedEntity]
  ) -> Int {
    let place = result.count
    let own = rows[entity.number] ?? 0
    let subentities = children(of: entity.number)
    // A chain that is longer than the list of entities would be a circle.
    let isSane = depth <= schema.entities.count
    result.append(
      InspectedEntity(
        name: entity.name, depth: depth, count: own, ownCount: own, isAbstract: false,
        superentity: parent, subentities: subentities.map(\.name), table: table, className: nil,
        attributes: depth == 0 ? attributes(in: table) : [],
        relationships: depth == 0 ? relationships(in: table) : []))
    var total = own
    for child in isSane ? subentities : [] {
      total += add(
        child, depth: depth + 1, below: entity.name, table: table, rows: rows, to: &result)
    }
    result[place].count = total
    return total
  }

  /// Rows by the number of their entity.
  private func rows(in table: String) throws(SQLiteError) -> [Int64: Int] {
    let name = table.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"")
    var rows: [Int64: Int] = [:]
    for row in try connection.values("SELECT Z_ENT, COUNT(*) FROM \"\(name)\" GROUP BY Z_ENT") {
      if case .integer(let entity) = row[0], case .integer(let count) = row[1] {
        rows[entity] = Int(count)
      }
    }
    return rows
  }

  private func attributes(in table: String?) -> [InspectedAttribute] {
    properties(of: table).filter { !isRelationship($0, in: table) }.map { column in
      InspectedAttribute(
        name: guess(column.name), type: column.type, isOptional: true, isTransient: false,
        isDerived: false)
    }
  }

  private func relationships(in table: String?) -> [InspectedRelationship] {
    properties(of: table).filter { isRelationship($0, in: table) }.map { column in
      InspectedRelationship(
        name: guess(column.name), destination: nil, inverse: nil, isToMany: false,
        isOrdered: false, isOptional: true, deleteRule: nil)
    }
  }

  /// The columns of properties: `ZNAME`, not `Z_PK`, `Z_FOK_…` or `Z4_…`.
  private func properties(of table: String?) -> [InspectedSchema.Column] {
    (table.flatMap { schema.tables[$0] } ?? []).filter { column in
      let rest = column.name.dropFirst()
      return column.name.hasPrefix("Z") && rest.first?.isLetter == true
    }.sorted { $0.name < $1.name }
  }

  private func isRelationship(_ column: InspectedSchema.Column, in table: String?) -> Bool {
    column.type == "INTEGER"
      && schema.indexes.contains { index in
        index.name.uppercased() == "\(table ?? "")_\(column.name)_INDEX".uppercased()
          && index.columns == [column.name]
      }
  }

  /// `ZPREPTIME` was `prepTime` or `preptime`: nothing tells.
  private func guess(_ column: String) -> String {
    column.dropFirst().lowercased()
  }
}
