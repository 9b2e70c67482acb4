extension QueryPlan {
  /// The steps that read every row of a stored table or of one of its indexes.
  ///
  /// `SCAN … USING COVERING INDEX` is one: it reads the whole index. Scans of integer arrays and
  /// other virtual tables, of constant rows and of subqueries are not; a subquery that is read
  /// under another name than its own cannot be told from a table and counts.
  package var fullScans: [Node] {
    let nodes = nodes
    let inner = Set(nodes.compactMap(\.definedName))
    return nodes.filter { node in
      guard node.operation == .scan, !node.isVirtualTable, let table = node.table else {
        return false
      }
      return !inner.contains(table) && !node.detail.hasPrefix("SCAN SUBQUERY ")
    }
  }

  /// Whether some stored table is read as a whole.
  package var isFullScan: Bool {
    !fullScans.isEmpty
  }

  /// What rows are sorted or told apart for outside an index: `ORDER BY`, `GROUP BY`, `DISTINCT`,
  /// `UNION`, or `RIGHT PART OF ORDER BY` where an index gives the first part.
  package var tempBTrees: [String] {
    nodes.compactMap(\.tempBTreePurpose)
  }

  /// Whether rows are sorted or told apart outside an index.
  package var usesTempBTree: Bool {
    !tempBTrees.isEmpty
  }

  /// Whether some table is searched by its primary key.
  package var searchesPrimaryKey: Bool {
    nodes.contains { $0.operation == .search && $0.usesPrimaryKey }
  }

  /// Whether SQLite makes an index for this statement alone, each time it runs.
  package var usesAutomaticIndex: Bool {
    nodes.contains(where: \.isAutomaticIndex)
  }

  /// The names of the stored indexes used, in plan order, each once.
  package var indexes: [String] {
    var names: [String] = []
    for case let name? in nodes.map(\.index) where !names.contains(name) {
      names.append(name)
    }
    return names
  }
}
