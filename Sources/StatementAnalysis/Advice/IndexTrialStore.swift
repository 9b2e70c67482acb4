/// A copy of a store on which indexes are tried: of a SQLite file, or on a server.
package protocol IndexTrialStore: AnyObject {
  /// What the work of statements is measured in.
  var unit: AdviceUnit { get }
  /// The indexes that the store has.
  var present: [FileIndex] { get }
  /// Whether `measure(_:)` also runs UPDATE and DELETE statements, and undoes what they change.
  var measuresChanges: Bool { get }

  /// Runs a statement to completion and returns what it took; the copy doesn't change.
  ///
  /// Returns `nil` if the statement can't be run on the copy, such as one for another schema.
  func measure(_ statement: AdvisedStatement) -> IndexMeasure?
  /// Returns the names of the indexes that a statement would use, without running it, or `nil` if
  /// they're unknown.
  func indexes(usedBy statement: AdvisedStatement) -> [String]?

  /// Creates an index, and returns whether that succeeded.
  func make(_ candidate: IndexCandidate, named name: String) -> Bool
  /// Drops an index, if it exists.
  func drop(_ name: String)
  /// Returns the statement that creates an index.
  func sql(of candidate: IndexCandidate, named name: String) -> String
  /// Returns the work of inserting a row, or `nil` if it can't be measured.
  func insertCost(into table: String) -> Int?
  /// Returns the size of an index, or `nil` if it's unknown.
  func size(of index: String) -> (pages: Int, bytes: Int)?
  /// Returns the columns of a table that are NULL in more than half of its rows.
  func sparseColumns(of table: String, among columns: [String]) -> Set<String>

  /// Returns an entity of a table that has all given columns, and the properties of these columns.
  ///
  /// - Parameter preferred: The name of the entity that the statement was executed for.
  func names(
    of columns: [String], in table: String, preferring preferred: String?
  ) -> (entity: String, properties: [String])?
  /// Returns whether a fetch index of a model can describe an index.
  func canDescribe(_ index: IndexCandidate) -> Bool
  /// Returns a name that no index of the entity has: the given name, with a number appended if it's
  /// taken.
  func unusedIndexName(_ name: String, in entity: String?) -> String
  /// Returns whether the store creates the index itself.
  func isAutomatic(_ index: FileIndex) -> Bool
}

/// The cost of one execution of a statement.
package struct IndexMeasure: Equatable {
  /// The work, in the store's unit.
  package var cost: Int
  /// The plan, as the database prints it.
  package var lines: [String]
  /// The names of the indexes that the plan uses.
  package var indexes: Set<String>
  /// The number of rows that an UPDATE or a DELETE changed.
  package var changes = 0

  package init(cost: Int, lines: [String], indexes: Set<String>) {
    self.cost = cost
    self.lines = lines
    self.indexes = indexes
  }
}

/// What index advice measures work in, and what an index must save.
package struct AdviceUnit: Sendable, Equatable {
  /// The noun in the singular, `VM step`.
  package var name: String
  /// The minimum that a proposal saves for the work as a whole.
  package var minimumGain: Int
  /// The minimum that a finding saves.
  package var findingGain: Int

  package init(name: String, minimumGain: Int, findingGain: Int) {
    self.name = name
    self.minimumGain = minimumGain
    self.findingGain = findingGain
  }

  /// The operations of SQLite's bytecode engine.
  ///
  /// Reading a thousand rows takes about as many as a finding saves.
  package static let vmSteps = AdviceUnit(name: "VM step", minimumGain: 2_000, findingGain: 10_000)

  /// The noun in the plural.
  package var plural: String { name + "s" }
}
