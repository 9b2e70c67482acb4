extension QueryPlan {
  /// Reads a plan that was printed: by the `sqlite3` shell, by `lines`, or by SQLDebug.
  ///
  /// Takes the tree of newer libraries (`` `--SEARCH t0 … ``) and the columns of older ones
  /// (`0|0|0|SEARCH TABLE …`), with or without the line `QUERY PLAN`. Other lines are left out, so
  /// a text without a plan gives one without steps.
  package init(lines: [String]) {
    var rows: [Row] = []
    /// The numbers of the steps that are open, from the outside in.
    var open: [Int] = []
    for line in lines {
      if let (depth, detail) = QueryPlan.drawn(line) {
        open.removeLast(max(0, open.count - depth))
        rows.append(Row(id: rows.count + 1, parent: open.last ?? 0, detail: detail))
        open.append(rows.count)
      } else if let detail = QueryPlan.column(line) {
        rows.append(Row(id: rows.count + 1, parent: 0, detail: detail))
      }
    }
    self.init(rows)
  }

  /// The depth and the words of a line such as `|  |--SCAN t1`.
  private static func drawn(_ line: String) -> (depth: Int, detail: String)? {
    var depth = 0
    var rest = line[...]
    while rest.hasPrefix("|  ") || rest.hasPrefix("   ") {
      depth += 1
      rest = rest.dropFirst(3)
    }
    guard rest.hasPrefix("|--") || rest.hasPrefix("`--") else { return nil }
    return (depth, String(rest.dropFirst(3)))
  }

  /// The words of a line such as `0|0|0|SCAN TABLE ZMOOD AS t0`.
  private static func column(_ line: String) -> String? {
    let parts = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, parts[..<3].allSatisfy({ Int($0) != nil }) else { return nil }
    return String(parts[3])
  }
}
