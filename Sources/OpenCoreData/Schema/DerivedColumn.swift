import ManagedModel

/// The column of a derived attribute, with what its value follows from in this file.
package struct DerivedColumn: Sendable {
  /// A step of a path of to-one relationships.
  struct Hop: Sendable {
    /// The relationship's column in the table before.
    let column: String
    /// The table it leads to.
    let table: String
  }

  /// A to-many relationship that is counted or summed up.
  struct ToMany: Sendable {
    let storage: SQLToMany.Storage
    /// The table of the destinations.
    let table: String
  }

  enum Source: Sendable {
    case copy(hops: [Hop], column: String, DerivedFormula.Change?)
    case count(ToMany)
    case sum(ToMany, column: String)
    case now
  }

  /// The entity that declares the attribute.
  package let entity: SQLEntity
  /// The attribute's name.
  package let name: String
  /// Its column.
  package let column: String
  let source: Source

  /// Whether it is a count or a sum over a to-many relationship.
  package var isGathered: Bool {
    switch source {
    case .count, .sum: true
    case .copy, .now: false
    }
  }

  /// The names of the triggers that keep it up in a file made here.
  package var triggerNames: [String] { DerivedTriggers(self).names }

  /// Finds the columns that a formula names; nil for a formula that cannot be followed.
  init?(_ column: SQLColumn, of entity: SQLEntity, in model: SQLModel) {
    guard let attribute = column.property as? NSAttributeDescription,
      let text = attribute.derivationText, let formula = DerivedFormula(text),
      let source = Self.source(formula, of: entity, in: model)
    else { return nil }
    self.entity = entity
    name = attribute.name
    self.column = column.name
    self.source = source
  }

  private static func source(
    _ formula: DerivedFormula, of entity: SQLEntity, in model: SQLModel
  ) -> Source? {
    switch formula {
    case .now: return .now
    case .count(let name): return toMany(name, of: entity).map { .count($0) }
    case .sum(let name, let attribute):
      guard let relationship = toMany(name, of: entity),
        let column = entity.toMany[name]?.destination.column(named: attribute)
      else { return nil }
      return .sum(relationship, column: column.name)
    case .copy(let path, let change):
      var (home, hops) = (entity, [Hop]())
      for name in path.dropLast() {
        guard let column = home.column(named: name),
          let relationship = column.property as? NSRelationshipDescription,
          let destination = relationship.destinationEntity.flatMap(model.held)
        else { return nil }
        home = destination
        hops.append(Hop(column: column.name, table: home.table))
      }
      guard let column = home.column(named: path[path.count - 1]),
        column.property is NSAttributeDescription
      else { return nil }
      return .copy(hops: hops, column: column.name, change)
    }
  }

  private static func toMany(_ name: String, of entity: SQLEntity) -> ToMany? {
    entity.toMany[name].map { ToMany(storage: $0.storage, table: $0.destination.table) }
  }
}

extension DerivedColumn {
  /// What the value should be, as SQL; nil where it does not follow from the rows alone.
  ///
  /// - Parameter row: The name or alias by which the statement around it knows the object's row.
  package func value(of row: String) -> String? {
    switch source {
    case .now: return nil
    case .copy(let hops, let column, let change):
      let path = path(hops, to: column, from: row)
      return change.map { "\($0.function.rawValue)(\(path))" } ?? path
    case .count(let relationship):
      return "(SELECT COUNT(*) FROM \(members(relationship, of: row, needsTable: false)))"
    case .sum(let relationship, let column):
      return "(SELECT IFNULL(SUM(d.\(SQLNames.quoted(column))), 0) "
        + "FROM \(members(relationship, of: row, needsTable: true)))"
    }
  }

  private func path(_ hops: [Hop], to column: String, from row: String) -> String {
    let column = SQLNames.quoted(column)
    guard let first = hops.first else { return "\(row).\(column)" }
    var tables = "\(SQLNames.quoted(first.table)) h1"
    for (index, hop) in hops.enumerated().dropFirst() {
      tables +=
        " JOIN \(SQLNames.quoted(hop.table)) h\(index + 1) "
        + "ON h\(index + 1).Z_PK = h\(index).\(SQLNames.quoted(hop.column))"
    }
    return "(SELECT h\(hops.count).\(column) FROM \(tables) "
      + "WHERE h1.Z_PK = \(row).\(SQLNames.quoted(first.column)))"
  }

  /// The rows at the other end: `d` is the destination's table where it is needed.
  private func members(_ relationship: ToMany, of row: String, needsTable: Bool) -> String {
    let table = SQLNames.quoted(relationship.table)
    switch relationship.storage {
    case .foreignKey(let column, _):
      return "\(table) d WHERE d.\(SQLNames.quoted(column)) = \(row).Z_PK"
    case .joinTable(let join, let source, let destination, _):
      let key = "j.\(SQLNames.quoted(source)) = \(row).Z_PK"
      let joined =
        needsTable ? " JOIN \(table) d ON d.Z_PK = j.\(SQLNames.quoted(destination))" : ""
      return "\(SQLNames.quoted(join)) j\(joined) WHERE \(key)"
    }
  }
}

extension DerivedFormula.Change {
  /// The SQL function, which conditions call too.
  var function: ValueFunction {
    switch self {
    case .canonical: .canonical
    case .lowercase: .lowercase
    case .uppercase: .uppercase
    }
  }
}
