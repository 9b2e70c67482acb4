extension IndexCandidate {
  /// Columns that a covering index may add beyond those it searches and sorts by.
  private static let mostCovered = 3

  /// What could help one table of a statement, narrow ones first.
  ///
  /// They are only ideas: which of them helps is found out by trying.
  /// - Parameter sparse: Columns of the table that are NULL in most rows.
  static func all(for needs: TableNeeds, sparse: Set<String>) -> [IndexCandidate] {
    let order = normal(needs.order.filter { !needs.equal.contains($0.column) })
    let starts = needs.equal.indices.map { first in
      [needs.equal[first]] + needs.equal.enumerated().filter { $0.offset != first }.map(\.element)
    }
    var lists: [[Part]] = needs.equal.map { [Part($0)] }
    lists += needs.ranges.map { [Part($0)] } + [order]
    for start in starts.map({ $0.map { Part($0) } }) {
      lists += [start, start + order] + needs.ranges.map { start + [Part($0)] }
    }
    // What is sorted by first can also be filtered on the way.
    lists += needs.ranges.map { range in
      order.contains { $0.column == range } ? order : order + [Part(range)]
    }
    let used = Set(needs.equal + needs.ranges + needs.order.map(\.column))
    let rest = needs.columns.filter { !used.contains($0) && $0 != "Z_PK" }
    if rest.count <= mostCovered {
      let others = (needs.ranges + rest).filter { name in
        !needs.order.contains { $0.column == name }
      }
      for start in starts.isEmpty ? [[]] : starts {
        let head = start.map { Part($0) }
        lists.append(head + order + others.map { Part($0) })
        lists += needs.ranges.map { range in
          head + [Part(range)]
            + (needs.order.map(\.column) + rest).filter { $0 != range && !start.contains($0) }
            .map { Part($0) }
        }
      }
    }
    return distinct(lists, table: needs.table, sparse: sparse, compared: needs.equal + needs.ranges)
  }

  private static func distinct(
    _ lists: [[Part]], table: String, sparse: Set<String>, compared: [String]
  ) -> [IndexCandidate] {
    var candidates: [IndexCandidate] = []
    for parts in lists where !parts.isEmpty && Set(parts.map(\.column)).count == parts.count {
      var candidate = IndexCandidate(table: table, parts: parts)
      if !candidates.contains(candidate) { candidates.append(candidate) }
      // NULL fulfils no comparison, so that SQLite may leave those rows out.
      let first = parts[0].column
      if sparse.contains(first), compared.contains(first) {
        candidate.notNull = first
        if !candidates.contains(candidate) { candidates.append(candidate) }
      }
    }
    return candidates.sorted { $0.parts.count < $1.parts.count }
  }

  /// Keys that all descend are written ascending: an index is read from either end.
  private static func normal(_ keys: [TableNeeds.Key]) -> [Part] {
    let turned = keys.allSatisfy(\.isDescending)
    return keys.map { Part($0.column, isDescending: !turned && $0.isDescending) }
  }
}
