import CFloor

/// The statements that SQLite reports for the connections opened in a block.
struct StatementTrace {
  struct Entry {
    let sql: String
    let runs, rows: Int
  }

  let entries: [Entry]

  /// Traces a block that opens its own store.
  init(_ block: () throws -> Void) rethrows {
    cfloor_trace_begin()
    defer {
      cfloor_trace_end()
      cfloor_trace_clear()
    }
    try block()
    entries = (0..<cfloor_trace_count()).map { index in
      Entry(
        sql: cfloor_trace_text(index).map { String(cString: $0) } ?? "",
        runs: cfloor_trace_runs(index), rows: cfloor_trace_rows(index))
    }
  }

  /// The pragmas that each connection of the framework runs, in order.
  var pragmas: [String] {
    entries.map(\.sql).filter { $0.uppercased().hasPrefix("PRAGMA") }
  }

  /// Returns the only statement with a prefix.
  ///
  /// - Throws: A `BenchError` if there isn't exactly one.
  func statement(_ beginning: String, containing part: String = "") throws -> String {
    let found = entries.map(\.sql).filter {
      $0.hasPrefix(beginning) && (part.isEmpty || $0.contains(part))
    }
    guard found.count == 1, let first = found.first else {
      throw BenchError("\(found.count) statements begin with '\(beginning)': \(found)")
    }
    return first
  }
}
