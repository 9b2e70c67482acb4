import OpenCoreData
import PostgresDriver

import class ManagedModel.NSComparisonPredicate
import class ManagedModel.NSExpression

/// The strings of columns that are compared with options such as `[c]`, for which Foundation's
/// rules apply.
///
/// The server compares strings of ASCII characters; the others are read, each once, and compared by
/// the framework, so the result is the same as in memory. All statements of the fetch then see one
/// snapshot.
final class LenientStrings {
  private let connection: PostgresConnection
  private var strings: [String: [String]] = [:]

  /// The number of different strings of a column that are read.
  private static let mostStrings = 10_000

  /// Creates one for a fetch on a connection.
  init(_ connection: PostgresConnection) {
    self.connection = connection
  }

  /// Ends the snapshot, if one was necessary.
  func end() {
    connection.endSnapshot()
  }

  /// Returns the different strings of a column.
  ///
  /// - Parameter ascii: Whether strings of ASCII characters are included.
  /// - Throws: A `TranslationError` if there are more than 10,000. Cost: one SELECT for each
  ///   column.
  func strings(
    of column: StoredColumn, includingASCII ascii: Bool, _ piece: String
  ) throws -> [String] {
    let key = "\(column.table),\(column.name),\(ascii)"
    if let known = strings[key] { return known }
    if !connection.isInTransaction { try connection.beginSnapshot() }
    let condition = ascii ? "" : " WHERE octet_length(\(column.name)) <> length(\(column.name))"
    let result = try connection.query(
      "SELECT DISTINCT \(column.name) FROM \(column.table)\(condition) LIMIT $1",
      [.integer(Int64(Self.mostStrings + 1))])
    guard result.rowCount <= Self.mostStrings else {
      throw TranslationError(
        piece,
        "Options such as [c] and [d] follow Unicode's rules in Foundation, so strings beyond ASCII are compared "
          + "by the framework. The column has more than \(Self.mostStrings) of them. Compare without options, "
          + "for example with an attribute that has the string in lowercase.")
    }
    let found = (0..<result.rowCount).compactMap { result.text($0, 0) }
    strings[key] = found
    return found
  }
}

/// The column that a key path ends at.
struct StoredColumn {
  /// The qualified name of the table.
  let table: String
  let name: String
}

extension PredicateTranslator {
  /// Returns a comparison with `[c]`, `[d]`, `[w]`, or `[l]`; nil if it isn't one of strings.
  ///
  /// - Throws: A `TranslationError` unless one side is an attribute and the other a constant.
  func lenient(
    _ left: PredicateOperand, _ right: PredicateOperand, _ rules: ComparisonRules
  ) throws -> SQLText? {
    guard isText(left), isText(right) else { return nil }
    if case .constant = left, case .constant = right { return try constants(left, right, rules) }
    guard rules.type != .matches, let strings,
      let (text, column, constant, isLeft) = columnAndConstant(left, right)
    else {
      throw TranslationError(
        rules.piece,
        "Options such as [c] and [d] follow Unicode's rules in Foundation, which SQL can't express, so the store "
          + "compares an attribute with a constant only, and not by MATCHES.")
    }
    let isServed =
      constant.utf8.allSatisfy { $0 < 0x80 } && !rules.options.contains(.localeSensitive)
    let matching = try strings.strings(of: column, includingASCII: !isServed, rules.piece).filter {
      isLeft
        ? Self.compares($0, constant, rules) : Self.compares(constant, $0, rules)
    }
    // No value is equal to an element of an empty array, also nil, for which the result is unknown.
    let found: SQLText =
      matching.isEmpty
      ? "\(text) <> \(text)"
      : "\(text) = ANY(\(bind: .array(.text, matching.map { .text($0) })))"
    guard isServed else { return found }
    let folds = rules.options.contains(.caseInsensitive)
    let folded: SQLText = folds ? "lower(\(text) COLLATE \"C\")" : text
    let value = PredicateOperand.constant(folds ? constant.lowercased() : constant)
    let bytewise = rules.withoutOptions
    let served =
      isLeft
      ? try bytes(.value(folded, .text), value, bytewise)
      : try bytes(value, .value(folded, .text), bytewise)
    // A string is of ASCII characters if it has as many bytes as characters.
    return "CASE WHEN octet_length(\(text)) = length(\(text)) THEN \(served) ELSE \(found) END"
  }

  private func constants(
    _ left: PredicateOperand, _ right: PredicateOperand, _ rules: ComparisonRules
  ) throws -> SQLText {
    guard rules.type != .matches, case .constant(let first as String) = left,
      case .constant(let second as String) = right
    else { throw TranslationError(rules.piece, "The store can't compare these two constants.") }
    return Self.compares(first, second, rules) ? "TRUE" : "FALSE"
  }

  private func columnAndConstant(
    _ left: PredicateOperand, _ right: PredicateOperand
  ) -> (SQLText, StoredColumn, String, isLeft: Bool)? {
    switch (left, right) {
    case (.value(let text, _), .constant(let value)):
      Self.string(value).flatMap { string in
        columns[text.statement.sql].map { (text, $0, string, true) }
      }
    case (.constant(let value), .value(let text, _)):
      Self.string(value).flatMap { string in
        columns[text.statement.sql].map { (text, $0, string, false) }
      }
    default: nil
    }
  }

  private static func string(_ value: Any?) -> String? {
    value as? String ?? (value as? URL)?.absoluteString
  }

  /// Returns whether two strings satisfy a comparison, as the framework evaluates it in memory.
  private static func compares(_ left: String, _ right: String, _ rules: ComparisonRules) -> Bool {
    NSComparisonPredicate(
      leftExpression: NSExpression(forConstantValue: left),
      rightExpression: NSExpression(forConstantValue: right), modifier: .direct, type: rules.type,
      options: rules.options
    ).evaluate(with: nil)
  }

  private func bytes(
    _ left: PredicateOperand, _ right: PredicateOperand, _ rules: ComparisonRules
  ) throws -> SQLText {
    switch rules.type {
    case .beginsWith, .endsWith, .contains, .like: return try matches(left, right, rules)
    default:
      let (first, second) = try sides(left, right, rules.piece)
      return "\(first) \(raw: rules.sign) \(second)"
    }
  }

  private func isText(_ operand: PredicateOperand) -> Bool {
    switch operand {
    case .value(_, .text): true
    case .constant(let value): value is String || value is URL
    default: false
    }
  }
}
