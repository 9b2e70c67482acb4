import OpenCoreData

/// Finds tables of many-to-many relationships that one side can only read as a whole.
///
/// A join table's primary key serves one side; the other needs an index that begins with its column.
/// Stores of old versions of Apple's framework have none.
struct OneWayJoinTableRule: ModelRule {
  static let name = "one-way-join-table"

  func findings(in checked: CheckedModel) -> [ModelFinding] {
    guard let schema = checked.schema else { return [] }
    return schema.tables.sorted { $0.key < $1.key }.flatMap { table, columns -> [ModelFinding] in
      let keys = columns.map(\.name).filter { !$0.uppercased().hasPrefix("Z_FOK_") }
      guard keys.count == 2, keys.allSatisfy(isKey), table.uppercased().hasPrefix("Z_") else {
        return []
      }
      let leading = Set(schema.indexes.filter { $0.table == table }.compactMap(\.columns.first))
      return keys.filter { !leading.contains($0) }.map { key in
        let other = keys.first { $0 != key } ?? key
        return finding(
          "The join table \(table) has no index that begins with \(key): following the "
            + "relationship from that side reads the whole table.",
          "Create an index on \(table) (\(key), \(other)), or migrate the store once.", nil)
      }
    }
  }

  /// `Z_4TAGS`, or the column of a relationship that is its own inverse.
  private func isKey(_ column: String) -> Bool {
    column == "REFLEXIVE"
      || column.hasPrefix("Z_") && column.dropFirst(2).first?.isNumber == true
  }
}
