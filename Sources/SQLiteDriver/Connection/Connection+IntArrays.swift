import CSQLite

extension Connection {
  /// Makes `values` the rows of the table `_Z_intarray<index>`: one column, `value INTEGER`.
  ///
  /// The array is shared, not copied; the values stay until they are replaced. A statement in the
  /// middle of its rows keeps those it began with. Works with every access and in transactions;
  /// nothing reaches the file or its schema.
  package func bindIntArray(
    _ index: Int, _ values: ContiguousArray<Int64>
  ) throws(SQLiteError) {
    try intArray(index).current = IntArray.Values(values)
  }

  /// The array behind a table, registered on first need.
  private func intArray(_ index: Int) throws(SQLiteError) -> IntArray {
    if let array = intArrays[index] { return array }
    let array = IntArray()
    let code = IntArrayModule.register("\(Connection.intArrayPrefix)\(index)", array, on: use())
    guard code == SQLITE_OK else { throw error(code) }
    intArrays[index] = array
    return array
  }

  /// Registers an empty table when that is what a text was refused for.
  func provideIntArray(missedBy error: SQLiteError) throws(SQLiteError) -> Bool {
    let start = "no such table: \(Connection.intArrayPrefix)"
    guard error.message.hasPrefix(start), let index = Int(error.message.dropFirst(start.count)),
      intArrays[index] == nil
    else { return false }
    _ = try intArray(index)
    return true
  }

  private static let intArrayPrefix = "_Z_intarray"
}
