import SQLiteDriver

/// A derived value that a trigger has written.
struct DerivedValueChange: Hashable, Sendable {
  let table: String
  let entityNumber: Int
  let primaryKey: Int64

  /// The name of the derived attribute.
  let property: String
  let value: SQLiteValue

  /// From the arguments of the trigger's function, nil when they are of other types.
  init?(_ arguments: [SQLiteValue]) {
    guard arguments.count == 5, case .text(let table) = arguments[0],
      case .integer(let number) = arguments[1], case .integer(let primaryKey) = arguments[2],
      case .text(let property) = arguments[3]
    else { return nil }
    self.table = table
    entityNumber = Int(truncatingIfNeeded: number)
    self.primaryKey = primaryKey
    self.property = property
    value = arguments[4]
  }
}
