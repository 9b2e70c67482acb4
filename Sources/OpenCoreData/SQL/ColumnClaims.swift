/// Assigns the columns of one table, each only once.
///
/// Without a file, the name follows the rule: the plain name, then with suffix 1, 2 …. With a file,
/// it's the existing column.
struct ColumnClaims {
  private let file: FileSchema.Table?
  /// The columns of every table belong to no property.
  private var taken: Set = [SQLNames.primaryKey, SQLNames.entity, SQLNames.version]

  /// Names that a property has without a suffix: `ZITEM1` isn't a second `ZITEM` then.
  private let reserved: Set<String>

  init(file: FileSchema.Table?, reserved: Set<String>) {
    self.file = file
    self.reserved = reserved
  }

  /// Claims a column.
  ///
  /// - Parameters:
  ///   - bases: The names to look for, best first.
  ///   - declaration: The type the column should have. Decides between columns of one name.
  /// - Returns: The column's name; `nil` if the file has none.
  mutating func claim(_ bases: [String], declaration: String) -> String? {
    for base in bases {
      guard let name = file.map({ find(base, declaration, in: $0) }) ?? invent(base) else {
        continue
      }
      taken.insert(name.uppercased())
      return name
    }
    return nil
  }

  private func invent(_ base: String) -> String? {
    guard taken.contains(base) else { return base }
    return SQLNames.free(base) { taken.contains($0) || reserved.contains($0) }
  }

  private func find(_ base: String, _ declaration: String, in table: FileSchema.Table) -> String? {
    let candidates = table.columns
      .compactMap { column -> (suffix: Int, column: FileSchema.Column)? in
        let name = column.name.uppercased()
        guard name.hasPrefix(base), !taken.contains(name) else { return nil }
        let rest = name.dropFirst(base.count)
        if rest.isEmpty { return (0, column) }
        guard !reserved.contains(name), let suffix = Int(rest), suffix > 0 else { return nil }
        return (suffix, column)
      }
      .sorted { $0.suffix < $1.suffix }
    let match = candidates.first { $0.column.type == declaration } ?? candidates.first
    return match?.column.name
  }
}
