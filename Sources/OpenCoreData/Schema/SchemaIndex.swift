import ManagedModel
import SQLiteDriver

/// An index that a model specifies, or that every store has for a relationship.
package struct SchemaIndex: Hashable, Sendable {
  /// One column of an index.
  package struct Part: Hashable, Sendable {
    /// The column, as spelled in the file.
    package let column: String
    /// Whether the order is ascending.
    package let isAscending: Bool
  }

  /// The index's name in new files; older files may use another one.
  package private(set) var name: String
  /// The table, as spelled in the file.
  package let table: String
  /// The columns, leftmost first.
  package let parts: [Part]
  /// Whether it's a unique index.
  package let isUnique: Bool
  /// The WHERE clause of a partial index; `nil` for all rows.
  package let condition: String?
  /// Whether collation and order are explicit, as in indexes that the model specifies.
  private let isSpelledOut: Bool

  /// Creates an index of a relationship or of the entity IDs.
  init(name: String, table: String, columns: [String]) {
    self.name = name
    self.table = table
    parts = columns.map { Part(column: $0, isAscending: true) }
    isUnique = false
    condition = nil
    isSpelledOut = false
  }

  /// Creates an index that the model specifies.
  init(name: String, table: String, parts: [Part], isUnique: Bool = false, condition: String? = nil)
  {
    self.name = name
    self.table = table
    self.parts = parts
    self.isUnique = isUnique
    self.condition = condition
    isSpelledOut = true
  }

  /// Returns the same index under another name.
  func named(_ name: String) -> Self {
    var index = self
    index.name = name
    return index
  }

  /// The statement that creates it.
  package var sql: String {
    "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLSyntax.quoted(name)) \(definition)"
  }

  /// Returns whether a statement creates an index with its columns, under whatever name.
  func isDefined(by sql: String) -> Bool {
    sql.hasPrefix("CREATE \(isUnique ? "UNIQUE " : "")INDEX ") && sql.hasSuffix(" " + definition)
  }

  /// The end of the statement: the table, the columns, and the condition.
  private var definition: String {
    let columns = parts.map { part in
      let column = SQLSyntax.quoted(part.column)
      return isSpelledOut ? "\(column) COLLATE BINARY \(part.isAscending ? "ASC" : "DESC")" : column
    }
    return "ON \(SQLSyntax.quoted(table)) (\(columns.joined(separator: ", ")))"
      + (condition.map { " WHERE \($0)" } ?? "")
  }
}

/// Translates the predicate of a partial index to SQL.
///
/// An index has no parameters, so constants are literals. Supported are comparisons of an entity's
/// own columns with constants, joined by AND, OR, and NOT.
struct IndexCondition {
  let entity: SQLEntity

  /// Returns the WHERE clause; `nil` if it can't be translated, so that the index contains all rows
  /// instead.
  func sql(_ predicate: NSPredicate) -> String? {
    switch predicate {
    case let compound as NSCompoundPredicate: joined(compound)
    case let comparison as NSComparisonPredicate: comparison.isPlain ? compared(comparison) : nil
    default: nil
    }
  }

  private func joined(_ compound: NSCompoundPredicate) -> String? {
    let parts = compound.predicates.compactMap(sql)
    guard parts.count == compound.predicates.count, !parts.isEmpty else { return nil }
    switch compound.compoundPredicateType {
    case .not: return "NOT (\(parts[0]))"
    case .and: return "(" + parts.joined(separator: " AND ") + ")"
    case .or: return "(" + parts.joined(separator: " OR ") + ")"
    }
  }

  private func compared(_ comparison: NSComparisonPredicate) -> String? {
    let (left, right) = (comparison.leftExpression, comparison.rightExpression)
    guard left.expressionType == .keyPath, right.expressionType == .constantValue,
      let column = entity.column(named: left.keyPath)
    else { return nil }
    let name = SQLSyntax.quoted(column.name)
    guard let value = right.constantValue else {
      switch comparison.predicateOperatorType {
      case .equalTo: return "\(name) IS NULL"
      case .notEqualTo: return "\(name) IS NOT NULL"
      default: return nil
      }
    }
    guard let sign = comparison.predicateOperatorType.sign, let literal = literal(value) else {
      return nil
    }
    return "\(name) \(sign) \(literal)"
  }

  private func literal(_ value: Any) -> String? {
    switch value {
    case let value as Bool: value ? "1" : "0"
    case let value as any BinaryInteger: "\(value)"
    case let value as Double: value.isFinite ? "\(value)" : nil
    case let value as Date: "\(value.timeIntervalSinceReferenceDate)"
    case let value as String: SQLSyntax.literal(value)
    case let value as NSNumber: "\(value)"
    default: nil
    }
  }
}

extension NSComparisonPredicate {
  fileprivate var isPlain: Bool { comparisonPredicateModifier == .direct && options.isEmpty }
}

extension NSComparisonPredicate.Operator {
  fileprivate var sign: String? {
    switch self {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    case .equalTo: "="
    case .notEqualTo: "!="
    default: nil
    }
  }
}

/// A fetch index whose elements are ranges: an R-tree next to the table, kept up to date by
/// triggers.
///
/// It contains a row if none of its indexed values is `nil`; the range in each dimension is the
/// value.
package struct RangeIndex: Hashable, Sendable {
  /// The virtual table's name: `Z_RT_Place_byPosition`.
  package let name: String
  /// The table of the rows, as spelled in the file.
  package let table: String
  /// The columns of the dimensions, one to five.
  package let columns: [String]

  /// The maximum of SQLite's module.
  static let maximumDimensions = 5

  /// What SQLite appends to the name for each table that it creates.
  static let tableEndings = ["", "_node", "_parent", "_rowid"]

  /// The statements that create it: the virtual table, then its triggers.
  package var statements: [String] {
    let index = SQLSyntax.quoted(name)
    let key = "Z_PK INTEGER PRIMARY KEY"
    let bounds = columns.flatMap { column in
      ["MIN", "MAX"].map { "\(SQLSyntax.quoted("\(column)_\($0)")) FLOAT" }
    }
    let quoted = columns.map(SQLSyntax.quoted)
    let present = quoted.map { "NEW.\($0) IS NOT NULL" }.joined(separator: " AND ")
    let values = quoted.flatMap { ["NEW.\($0)", "NEW.\($0)"] }.joined(separator: ", ")
    let insert = "INSERT OR REPLACE INTO \(index) SELECT NEW.Z_PK, \(values) WHERE \(present);"
    let delete = "DELETE FROM \(index) WHERE Z_PK = OLD.Z_PK;"
    return [
      "CREATE VIRTUAL TABLE \(index) USING RTREE (\(([key] + bounds).joined(separator: ", ")))",
      trigger("INSERT", "INSERT", insert),
      trigger("UPDATE", "UPDATE OF \(quoted.joined(separator: ", "))", "\(delete) \(insert)"),
      trigger("DELETE", "DELETE", delete),
    ]
  }

  /// The names of the triggers that keep it up to date.
  package var triggerNames: [String] { ["INSERT", "UPDATE", "DELETE"].map(triggerName) }

  private func triggerName(_ suffix: String) -> String { "\(name)_\(suffix)" }

  private func trigger(_ suffix: String, _ event: String, _ body: String) -> String {
    "CREATE TRIGGER IF NOT EXISTS \(SQLSyntax.quoted(triggerName(suffix))) AFTER \(event) "
      + "ON \(SQLSyntax.quoted(table)) FOR EACH ROW BEGIN \(body) END"
  }
}

extension NSManagedObjectModel {
  /// Returns the index for a fetch index of the model in a store: `Z_Mood_byDate`.
  ///
  /// The model doesn't change.
  /// - Parameters:
  ///   - name: The fetch index's name.
  ///   - keys: Attributes and to-one relationships of the entity, leftmost first.
  ///   - predicate: The condition of a partial index; `nil` for all rows.
  /// - Returns: The index; `nil` if the entity is unknown, a key has no column, or the predicate
  ///   can't be translated.
  package func storeIndex(
    named name: String, ofEntity entity: String, keys: [(name: String, isAscending: Bool)],
    where predicate: NSPredicate?
  ) -> SchemaIndex? {
    let model = SQLModel(model: self)
    guard let entity = model.entities.first(where: { $0.name == entity }) else { return nil }
    var condition: String?
    if let predicate {
      guard let sql = IndexCondition(entity: entity).sql(predicate) else { return nil }
      condition = sql
    }
    return SchemaBuilder(model: model).index(
      named: name, of: entity, keys.map { ($0.name, $0.isAscending) }, where: condition)
  }

  /// The names of all indexes in a new store of the model, including those of relationships and
  /// constraints.
  package var storeIndexNames: [String] {
    SchemaBuilder(model: SQLModel(model: self)).indexes.map(\.name)
  }

  /// Returns the name of a fetch index in a store: `Z_Mood_byDate`.
  package static func storeIndexName(_ name: String, ofEntity entity: String) -> String {
    "Z_\(entity)_\(name)"
  }
}
