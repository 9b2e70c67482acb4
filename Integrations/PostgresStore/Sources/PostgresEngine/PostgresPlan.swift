import EngineInterface
import OpenCoreData
import PostgresDriver

/// What `EXPLAIN (ANALYZE, BUFFERS)` prints of a statement that ran, and the rows that it visited.
struct PostgresPlan {
  let lines: [String]
  private var nodes: [Node] = []
  /// The rows of an INSERT that weren't inserted, because there are others with their keys.
  private var conflicts = 0.0

  /// A node of the plan.
  private struct Node {
    /// Such as `Index Scan using mood_date_idx on mood t0`.
    let text: String
    /// The rows that it returned, in all loops.
    let rows: Double
    let loops: Double
    /// The rows that it read and discarded, in all loops.
    var removed = 0.0

    var isScan: Bool {
      // A table or an index may have the word in its name.
      let kind = text.firstMatch(of: #/^(.+?) (?:on|using) /#).map { $0.1 } ?? text[...]
      return kind.contains("Scan") && kind != "Bitmap Index Scan"
    }
    /// An incremental sort has few rows at a time.
    var isSort: Bool { text == "Sort" }
    var table: String? {
      text.firstMatch(of: #/ on ("(?:[^"]|"")+"|\S+)/#).map { String($0.1) }
    }
  }

  /// Returns the plan's text, after running a query with its values.
  ///
  /// - Throws: The server's error, such as for a value whose type it can't infer.
  static func lines(
    of statement: ServerStatement, on connection: PostgresConnection
  ) throws(PostgresError) -> [String] {
    try lines(of: statement, "ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF", on: connection)
  }

  /// Returns the plan's text.
  ///
  /// - Parameter options: Those of EXPLAIN; the statement runs if `ANALYZE` is one of them.
  /// - Throws: The server's error.
  static func lines(
    of statement: ServerStatement, _ options: String, on connection: PostgresConnection
  ) throws(PostgresError) -> [String] {
    let values = (statement.values ?? []).map(PostgresValue.init(reported:))
    let result = try connection.query("EXPLAIN (\(options)) \(statement.sql)", values)
    return (0..<result.rowCount).compactMap { result.text($0, 0) }
  }

  /// Reads a plan's text.
  init(lines: [String]) {
    self.lines = lines
    for line in lines {
      let text = line.drop { $0 == " " || $0 == "-" || $0 == ">" }
      // A condition may contain anything.
      let isNode = nodes.isEmpty || line.drop { $0 == " " }.hasPrefix("->")
      if isNode, let match = text.firstMatch(of: /^(.+?)  ?\(actual rows=([\d.]+) loops=(\d+)\)/) {
        let loops = Double(match.3) ?? 1
        nodes.append(
          Node(text: String(match.1), rows: (Double(match.2) ?? 0) * loops, loops: loops))
      } else if let match = text.firstMatch(of: /^Rows Removed by [\w ]+: (\d+)/),
        let last = nodes.indices.last
      {
        nodes[last].removed += (Double(match.1) ?? 0) * nodes[last].loops
      } else if let match = text.firstMatch(of: /^Conflicting Tuples: (\d+)/) {
        conflicts += Double(match.1) ?? 0
      }
    }
  }

  /// The rows that the statement wrote, or tried to; nil if it only reads, or hasn't run.
  ///
  /// A node that writes doesn't count them itself without RETURNING: those of the node below it
  /// are the rows that it got.
  var writtenRows: Int? {
    let writes = nodes.firstIndex { $0.text.contains(#/^(?:Insert|Update|Delete) on /#) }
    guard let writes, writes + 1 < nodes.count else { return nil }
    return Int(nodes[writes + 1].rows - conflicts)
  }

  /// The rows that scans read and that sorts sorted.
  var visitedRows: Int {
    let scanned = nodes.filter(\.isScan).reduce(0) { $0 + $1.rows + $1.removed }
    return Int(scanned + nodes.indices.reduce(0) { $0 + sortedRows(at: $1) })
  }

  /// The indexes that it used.
  var indexes: Set<String> {
    Set(
      nodes.compactMap { node in
        let name =
          node.text.firstMatch(of: #/ using ("(?:[^"]|"")+"|\S+) on /#)?.1
          ?? node.text.firstMatch(of: #/^Bitmap Index Scan on ("(?:[^"]|"")+"|\S+)/#)?.1
        return name.map(Self.unquoted)
      })
  }

  /// Returns the name of an identifier as the server prints it.
  static func unquoted(_ name: Substring) -> String {
    guard name.hasPrefix("\"") else { return String(name) }
    return String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"")
  }

  /// The plan with what it costs.
  var plan: ServerPlan {
    var sentences: [String] = []
    for (index, node) in nodes.enumerated() {
      let sorted = sortedRows(at: index)
      if sorted > 0 { sentences.append("Sorts \(Self.counted(sorted)).") }
      guard node.isScan, let table = node.table else { continue }
      if node.text.hasPrefix("Seq Scan") {
        sentences.append(
          "Reads all \(Self.counted(node.rows + node.removed)) of \(table)"
            + (node.removed > 0 ? " and discards \(Self.number(node.removed))." : "."))
      } else if node.removed > 0 {
        sentences.append(
          "Discards \(Self.number(node.removed)) of \(Self.counted(node.rows + node.removed)) that "
            + "the index finds in \(table).")
      }
    }
    let suggestsIndex = nodes.indices.contains { sortedRows(at: $0) > 0 || nodes[$0].removed > 0 }
    return ServerPlan(
      lines: lines, assessment: sentences.joined(separator: " "), suggestsIndex: suggestsIndex,
      cost: visitedRows)
  }

  /// Returns the rows that a sort gets from the node below it; 0 for other nodes.
  private func sortedRows(at index: Int) -> Double {
    guard nodes[index].isSort, index + 1 < nodes.count else { return 0 }
    return nodes[index + 1].rows
  }

  private static func number(_ value: Double) -> String {
    Int(value).formatted(.number.locale(Locale(identifier: "en_US")))
  }

  private static func counted(_ value: Double) -> String {
    "\(number(value)) row\(value == 1 ? "" : "s")"
  }
}

extension PostgresValue {
  /// Creates a value of the type that the server infers, from a value in the form of a store's
  /// report.
  init(reported text: String) {
    // A combining mark at the beginning joins the quote into another `Character`.
    let bytes = text.utf8
    let isEnclosed = { (first: Unicode.Scalar, last: Unicode.Scalar) in
      bytes.count >= 2 && bytes.first == UInt8(ascii: first) && bytes.last == UInt8(ascii: last)
    }
    if text == "(null)" {
      self = .literal(nil)
    } else if isEnclosed("\"", "\"") {
      self = .literal(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self))
    } else if isEnclosed("<", ">") {
      self = .literal("\\x" + text.dropFirst().dropLast())
    } else {
      self = .literal(text)
    }
  }
}
