import ManagedModel
import SQLiteDriver

/// An index that a model asks for, or that every store has for a relationship.
package struct SchemaIndex: Hashable, Sendable {
  /// One column of an index.
  package struct Part: Hashable, Sendable {
    /// The column, as the file spells it.
    package let column: String
    /// Whether small values come first.
    package let isAscending: Bool
  }

  /// The index's name by the rule for new files; a file may have it under an older one.
  package let name: String
  /// The table, as the file spells it.
  package let table: String
  /// The most significant first.
  package let parts: [Part]
  /// Whether no two rows may have the same values.
  package let isUnique: Bool
  /// What a row must fulfil to be in the index; nil for all rows.
  package let condition: String?
  /// Whether collation and order are written out, as they are where the model asks for the index.
  private let isSpelledOut: Bool

  /// An index of a relationship or of the entity numbers.
  init(name: String, table: String, columns: [String]) {
    self.name = name
    self.table = table
    parts = columns.map { Part(column: $0, isAscending: true) }
    isUnique = false
    condition = nil
    isSpelledOut = false
  }

  /// An index that the model asks for.
  init(name: String, table: String, parts: [Part], isUnique: Bool = false, condition: String? = nil)
  {
    self.name = name
    self.table = table
    self.parts = parts
    self.isUnique = isUnique
    self.condition = condition
    isSpelledOut = true
  }

  /// The statement that makes it.
  package var sql: String {
    let columns = parts.map { part in
      let column = SQLNames.quoted(part.column)
      return isSpelledOut ? "\(column) COLLATE BINARY \(part.isAscending ? "ASC" : "DESC")" : column
    }
    return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLNames.quoted(name)) "
      + "ON \(SQLNames.quoted(table)) (\(columns.joined(separator: ", ")))"
      + (condition.map { " WHERE \($0)" } ?? "")
  }
}

/// Says the predicate of a partial index in SQL.
///
/// An index takes no parameters, so constants are written out. What can be said are comparisons of
/// an entity's own columns with constants, joined by AND, OR and NOT.
struct IndexCondition {
  let entity: SQLEntity

  /// The condition; nil for what cannot be said, so that the index holds all rows instead.
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
    let name = SQLNames.quoted(column.name)
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
    case let value as String: SQLNames.literal(value)
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

/// A fetch index whose elements are ranges: an R-tree beside the table, kept up by triggers.
///
/// A row is in it when all its indexed values are there; its range in each dimension is the value.
package struct RangeIndex: Hashable, Sendable {
  /// The virtual table's name: `Z_RT_Place_byPosition`.
  package let name: String
  /// The table of the rows, as the file spells it.
  package let table: String
  /// The columns of the dimensions, one to five.
  package let columns: [String]

  /// What SQLite's module takes.
  static let maximumDimensions = 5

  /// The statements that make it: the virtual table, then its triggers.
  package var statements: [String] {
    let index = SQLNames.quoted(name)
    let key = "Z_PK INTEGER PRIMARY KEY"
    let bounds = columns.flatMap { column in
      ["MIN", "MAX"].map { "\(SQLNames.quoted("\(column)_\($0)")) FLOAT" }
    }
    let quoted = columns.map(SQLNames.quoted)
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

  /// The names of the triggers that keep it up.
  package var triggerNames: [String] { ["INSERT", "UPDATE", "DELETE"].map(triggerName) }

  private func triggerName(_ suffix: String) -> String { "\(name)_\(suffix)" }

  private func trigger(_ suffix: String, _ event: String, _ body: String) -> String {
    "CREATE TRIGGER IF NOT EXISTS \(SQLNames.quoted(triggerName(suffix))) AFTER \(event) "
      + "ON \(SQLNames.quoted(table)) FOR EACH ROW BEGIN \(body) END"
  }
}

extension NSManagedObjectModel {
  /// The index that a fetch index of the model would be in a store: `Z_Mood_byDate`.
  ///
  /// The model itself stays as it is.
  /// - Parameters:
  ///   - name: the fetch index's name.
  ///   - keys: attributes and to-one relationships of the entity, the most significant first.
  ///   - predicate: what a row must fulfil to be in the index; nil for all rows.
  /// - Returns: nil when the entity is unknown, a key has no column, or SQL cannot say the predicate.
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

  /// The names of all indexes that a new store of the model has, those of relationships and constraints
  /// among them.
  package var storeIndexNames: [String] {
    SchemaBuilder(model: SQLModel(model: self)).indexes.map(\.name)
  }

  /// The name that a fetch index has in a store: `Z_Mood_byDate`.
  package static func storeIndexName(_ name: String, ofEntity entity: String) -> String {
    "Z_\(entity)_\(name)"
  }
}
