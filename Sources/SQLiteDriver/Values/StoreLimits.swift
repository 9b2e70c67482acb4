/// The limits of store files, of the SQL that runs on them, and of the files next to them.
///
/// A store can come from anyone: its schema, values, and pages can be made to cost memory and time.
/// `InputLimits` and `ModelLimits` contain the limits of other input; `Documentation/limits.md`
/// lists all of them.
package enum StoreLimits {
  // MARK: Values and statements

  /// The maximum size of a value or row on a read-only or confined connection, in bytes.
  ///
  /// SQLite's own limit is 1 GB, and an expression can make such a value from nothing.
  package static let valueSize: Int32 = 256 << 20
  /// The maximum length of a statement on a read-only connection, in bytes.
  ///
  /// The schema consists of statements, which SQLite parses when it opens the file.
  package static let statementSize: Int32 = 16 << 20
  /// The maximum number of instructions of a compiled statement on a read-only connection.
  ///
  /// The schema can make the program of a short statement large.
  package static let statementInstructions: Int32 = 10_000_000
  /// The maximum length of a `LIKE` or `GLOB` pattern on a read-only connection, in bytes.
  ///
  /// Matching takes time in proportion to the square of the length.
  package static let patternLength: Int32 = 10_000
  /// The maximum recursion depth of triggers on a read-only connection.
  ///
  /// A malicious schema can have triggers that fire each other.
  package static let triggerDepth: Int32 = 10
  /// The maximum number of VM steps of a statement on a read-only connection.
  ///
  /// About a minute; a view or a query in the schema can be endless.
  package static let readOnlySteps = 10_000_000_000
  /// The maximum number of VM steps of a statement of a `sql` step, `.sqlite`, or `advise`.
  ///
  /// Some seconds; the statement comes from a scenario.
  package static let confinedSteps = 1_000_000_000
  /// The maximum time of such a statement, in seconds.
  ///
  /// The call of a function is one VM step, and can make 256 MB.
  package static let confinedTime = 30
  /// The maximum number of VM steps of a statement that changes rows to test an index.
  ///
  /// The triggers of the store run, and might not end.
  package static let trialSteps = 10_000_000
  /// The maximum number of VM steps of a statement that multiplies rows for `migrate --sizes`.
  ///
  /// Some minutes, for stores with millions of rows.
  package static let multiplicationSteps = 20_000_000_000
  /// The maximum number of VM steps of a statement of a migration that `migrate` rehearses.
  ///
  /// About a minute; an index of the store can perform any calculation for each row.
  package static let rehearsalSteps = 10_000_000_000
  /// The maximum time of the rehearsal of a step by `migrate`, in seconds, for a store with an
  /// index that calls a function that can take arbitrarily long.
  ///
  /// The call of a function is one VM step.
  package static let rehearsalTime = 60
  /// The maximum depth of a predicate in SQL.
  ///
  /// SQLite rejects a tree of expressions deeper than 1,000, and each level of a predicate takes
  /// several.
  package static let conditionDepth = 250
  /// The maximum number of values of a predicate in SQL.
  ///
  /// SQLite numbers up to 32,766 bound values of a statement.
  package static let boundValues = 32_000
  /// The maximum number of tables in a join.
  ///
  /// SQLite's own limit; each relationship on a key path joins a table.
  package static let joinedTables = 64

  // MARK: Files

  /// The maximum size of an externally stored value, in bytes.
  ///
  /// It's read into memory at once.
  package static let externalFileSize: Int64 = 2 << 30
  /// The maximum size of an XML or binary store, in bytes.
  ///
  /// It's read into memory at once, and its objects stay there.
  package static let documentSize: Int64 = 2 << 30
  /// The maximum size of a value in the metadata or the model cache, in bytes.
  ///
  /// No property list or compiled model is larger.
  package static let housekeepingValueSize = 64 << 20
  /// The maximum length of a store's identifier, in bytes.
  ///
  /// The URI of each object contains it; a UUID has 36.
  package static let identifierLength = 4_096
  /// The maximum size of the list of external files to remove after an interrupted operation, in
  /// bytes.
  ///
  /// A million files.
  package static let externalFileListSize: Int64 = 37_000_000
  /// The maximum size of a database that a rollback journal of less than an eighth of it restores,
  /// in bytes.
  ///
  /// A journal of some bytes can state any size of the database, and SQLite extends the file.
  package static let restoredSize: Int64 = 64 << 20

  // MARK: Stores without a readable model

  /// The maximum number of VM steps of all statements that infer a model.
  ///
  /// Some seconds; beyond it, columns that may be relationships are attributes.
  package static let inferenceSteps = 200_000_000
  /// The maximum number of columns that are compared to infer relationships; others are attributes.
  ///
  /// Each column is compared with each table.
  package static let inferenceComparisons = 5_000
  /// The maximum depth of inferred subentities; deeper ones are omitted.
  ///
  /// They're placed recursively.
  package static let inferredDepth = 64

  // MARK: Repairs

  /// The maximum number of pages of a file that is repaired.
  ///
  /// Some bytes are kept in memory for each page.
  package static let pages = 1 << 24
  /// The maximum size of a record that is recovered, in bytes.
  ///
  /// SQLite's own limit; a corrupt record can state any size.
  package static let recordSize: UInt64 = 1_000_000_000
  /// The maximum number of tables that are recovered; others are ignored.
  ///
  /// A corrupt schema can name many.
  package static let recoveredTables = 20_000
  /// The maximum length of a `CREATE TABLE` statement that is recovered, in bytes.
  ///
  /// A corrupt schema can contain any text; the table is then recovered without its definition.
  package static let definitionSize = 1 << 20
}
