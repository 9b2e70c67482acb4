/// Something that the model wants and the file does not have.
struct SchemaMismatch: Error, Hashable, Sendable, CustomStringConvertible {
  let entity: String
  let property: String?

  /// The table that is missing, or that misses the column.
  let table: String

  /// The column that is missing, nil when the table is.
  let column: String?

  /// Whether the file does not number the entity; nothing is said of its table then.
  var isUnnumbered = false

  var description: String {
    if isUnnumbered {
      return "The model has the entity \(entity), which the file's table "
        + "\(SQLNames.primaryKeyTable) does not list."
    }
    let wanted = property.map { "\(entity).\($0)" } ?? "the entity \(entity)"
    guard let column else {
      return "The model has \(wanted), but the file has no table \(table) for it."
    }
    return "The model has \(wanted), but the file's table \(table) has no column \(column)."
  }
}
