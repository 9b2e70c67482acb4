/// A copy of a store on a server, to try indexes on; it's removed with the last reference.
///
/// Used by one thread.
public protocol IndexTrials: AnyObject {
  /// The unit of costs, a noun in the singular, such as `row`; equal work must have equal costs.
  var unit: String { get }

  /// The costs that an index must save for the whole work to be proposed, and for a finding.
  var minimumGains: (proposal: Int, finding: Int) { get }

  /// Runs a query, and returns what it took; `nil` if it can't be run on the copy.
  func measure(_ statement: ServerStatement) -> TrialMeasure?

  /// Creates an index, and returns whether that succeeded.
  func makeIndex(_ index: TrialIndex, named name: String) -> Bool

  /// Drops an index, if it exists.
  func dropIndex(named name: String)

  /// Returns the statement that creates an index.
  func sql(of index: TrialIndex, named name: String) -> String

  /// Returns the size of an index; `nil` if it's unknown.
  func size(ofIndexNamed name: String) -> (pages: Int, bytes: Int)?

  /// Returns the columns of a table that are NULL in more than half of its rows.
  func sparseColumns(of table: String, among columns: [String]) -> Set<String>

  /// Returns the entity of a table that has all columns, and the properties of these; `nil` if
  /// there's none, as for a join table or a column of the store's own.
  func properties(of columns: [String], in table: String) -> (entity: String, properties: [String])?

  /// The indexes that the store has.
  var presentIndexes: [PresentIndex] { get }
}

/// What a query took.
public struct TrialMeasure: Sendable, Hashable {
  /// The work, in the unit of the trials.
  public let cost: Int
  /// The plan as the server prints it.
  public let lines: [String]
  /// The names of the indexes that it used.
  public let indexes: Set<String>

  /// Creates a measure.
  public init(cost: Int, lines: [String], indexes: Set<String>) {
    (self.cost, self.lines, self.indexes) = (cost, lines, indexes)
  }
}

/// An index to try.
public struct TrialIndex: Sendable, Hashable {
  /// The table as statements name it, without quotes: `schema.table`.
  public let table: String
  /// The columns, leftmost first.
  public let columns: [String]
  /// Whether each column is in descending order.
  public let isDescending: [Bool]
  /// The column that isn't NULL in the rows of a partial index; `nil` for an index of all rows.
  public let notNull: String?

  /// Creates an index of as many columns as orders.
  public init(table: String, columns: [String], isDescending: [Bool], notNull: String?) {
    (self.table, self.columns) = (table, columns)
    (self.isDescending, self.notNull) = (isDescending, notNull)
  }
}

/// An index that a store has.
public struct PresentIndex: Sendable, Hashable {
  /// The index's name.
  public let name: String
  /// The table as statements name it, without quotes: `schema.table`.
  public let table: String
  /// The columns, leftmost first; an expression is an empty string.
  public let columns: [String]
  /// Whether each column is in descending order.
  public let isDescending: [Bool]
  /// Whether no two rows can have the same values.
  public let isUnique: Bool
  /// Whether it contains only some of the rows.
  public let isPartial: Bool
  /// Whether the store makes it itself: for primary keys, relationships, and constraints.
  public let isAutomatic: Bool

  /// Creates an index of as many columns as orders.
  public init(
    name: String, table: String, columns: [String], isDescending: [Bool], isUnique: Bool,
    isPartial: Bool, isAutomatic: Bool
  ) {
    (self.name, self.table, self.columns) = (name, table, columns)
    (self.isDescending, self.isUnique) = (isDescending, isUnique)
    (self.isPartial, self.isAutomatic) = (isPartial, isAutomatic)
  }
}
