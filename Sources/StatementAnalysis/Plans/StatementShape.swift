import ManagedModel
package import ProfileEvents
package import SQLiteDriver

/// A statement with the totals of all its executions.
package struct StatementShape: Sendable, Equatable {
  /// The minimum number of executions of a statement that's worth a finding.
  ///
  /// Fewer single-row statements cost too little to report.
  package static let minimumRepeats = 10

  /// The statement's number, from 1, in the order of first execution.
  package var number: Int
  package var kind: StatementKind
  /// The SQL with its placeholders.
  package var sql: String
  package var entity: String?
  package var count: Int
  /// The number of rows that all executions return or change.
  package var rows: Int
  /// The duration of all executions.
  package var nanoseconds: UInt64
  package var firstCallSite: CallSite?
  /// The lines of the `EXPLAIN QUERY PLAN` tree; empty if no plan was requested.
  package var plan: [String] = []
  /// The assessment of the plan in sentences; empty without a plan.
  package var assessment: String = ""
  /// The notes on the plan; empty without a plan.
  package var notes: [PlanNote] = []
  /// The estimated rows that one execution visits, or `nil` if the store has no statistics.
  package var estimate: PlanEstimate?
  /// The work of SQLite for all executions, or `nil` if it wasn't recorded.
  package var work: StatementWork?
  /// The bound values of the first execution, in SQLDebug's format, or `nil` if they weren't
  /// recorded.
  ///
  /// They're the user's private data. Use them only to rerun the statement, and never print them.
  package var binds: [String]?
  /// The arrays that the first execution binds as `_Z_intarrayN`, or `nil` if they weren't
  /// recorded; as private as the bound values.
  package var arrays: [ContiguousArray<Int64>]?
  /// The work of one execution on a server, in the unit of its index trials; `nil` for SQLite.
  package var serverCost: Int?
  /// Whether a server's plan reads rows that it discards, or sorts.
  package var suggestsIndex = false

  package init(
    number: Int, kind: StatementKind, sql: String, entity: String? = nil, count: Int, rows: Int,
    nanoseconds: UInt64, firstCallSite: CallSite? = nil
  ) {
    self.number = number
    self.kind = kind
    self.sql = sql
    self.entity = entity
    self.count = count
    self.rows = rows
    self.nanoseconds = nanoseconds
    self.firstCallSite = firstCallSite
  }

  /// The line that Core Data logs for the statement (`-com.apple.CoreData.SQLDebug 1`).
  package var logLine: String { "CoreData: sql: \(sql)" }

  /// Returns the statement with a plan and its assessment.
  ///
  /// - Parameters:
  ///   - lines: The `QueryPlan.lines` of this statement.
  ///   - present: The indexes of the store; empty if they're unknown.
  package func explained(by lines: [String], present: [FileIndex] = []) -> StatementShape {
    var shape = self
    shape.plan = lines
    let assessment = PlanAssessment(sql: sql, lines: lines, count: count, present: present)
    shape.assessment = assessment.text
    shape.notes = assessment.notes
    return shape
  }
}

/// Parses bound values in the format of SQLDebug.
package enum BindText {
  /// Returns the value that a string describes: `18`, `1.5`, `"s"`, `(null)`, `<0aff>`.
  ///
  /// A value can follow its type, as in `(int64)18`. Anything else is returned as a string value.
  package static func value(_ text: String) -> SQLiteValue {
    if text == "(null)" { return .null }
    let text = withoutType(text)
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
      return .text(String(text.dropFirst().dropLast()))
    }
    if let number = Int64(text) { return .integer(number) }
    if let number = Double(text) { return .real(number) }
    if let bytes = bytes(text) { return .blob(bytes) }
    return .text(text)
  }

  private static func withoutType(_ text: String) -> String {
    guard text.hasPrefix("("), let end = text.firstIndex(of: ")") else { return text }
    let type = text[..<end].dropFirst()
    let value = text[end...].dropFirst()
    guard !type.isEmpty, type.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }),
      !value.isEmpty
    else { return text }
    return String(value)
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count >= 2, digits.count.isMultiple(of: 2), digits.first == UInt8(ascii: "<"),
      digits.last == UInt8(ascii: ">")
    else { return nil }
    var bytes: [UInt8] = []
    for position in stride(from: 1, to: digits.count - 1, by: 2) {
      let pair = String(decoding: digits[position..<(position + 2)], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
