public import OpenCoreData

/// A database server that scenarios can run on, through a program's own store, instead of SQLite.
///
/// A package that has such a store adopts it, and builds its command-line tool from
/// `WorkbenchCommands.ServerProgram`, which has the commands of `cdprof` over that store. Any
/// thread may use it; a store is used by one thread at a time.
///
/// It makes all stores itself, in schemas, folders, or databases with unique names, so it never
/// modifies or removes anything else.
public protocol DatabaseServer: AnyObject, Sendable {
  /// The name of the database for reports, such as `PostgreSQL`.
  var name: String { get }

  /// The version of the server that runs, such as `17.2`.
  ///
  /// - Throws: An error if the server can't be reached; it contains no password.
  var version: String { get throws }

  /// The URL of its database, for the command that repeats a run; it contains no password.
  var address: String { get }

  /// What makes its costs differ from those of another server, such as `20 ms for each round trip`;
  /// `nil` for nothing.
  var conditions: String? { get }

  /// The registered type of its stores.
  var storeType: NSPersistentStore.StoreType { get }

  /// The options of its stores.
  var storeOptions: [String: any Sendable] { get }

  /// Whether its stores execute batch requests.
  var executesBatchRequests: Bool { get }

  /// Returns the reason why its stores can't have a model, such as
  /// `'total' of 'Order' is a derived attribute`; `nil` if they can.
  func obstacle(to model: NSManagedObjectModel) -> String?

  /// Returns the URL of a new store, which doesn't exist yet.
  ///
  /// - Throws: An error if the server can't be reached; it contains no password.
  func makeStoreURL() throws -> URL

  /// Copies a closed store, and returns the URL of the copy.
  ///
  /// - Throws: An error if the store can't be copied; it contains no password. An incomplete copy
  ///   is removed.
  func copyStore(at url: URL) throws -> URL

  /// Removes a store that it made; does nothing if that's already removed.
  func removeStore(at url: URL)

  /// Removes all remaining stores; called before the process ends, even after a signal.
  func removeAllStores()

  /// Returns the plans of statements that ran on a store, in their order.
  ///
  /// A query may be run again to measure it. Another statement may be run again on a copy, in a
  /// transaction that is rolled back: neither of the stores must change.
  ///
  /// - Parameters:
  ///   - statements: The statements, each with the values of its first execution.
  ///   - url: The closed store as the statements left it.
  ///   - data: The closed store that this one was copied from before the statements ran.
  /// - Throws: An error if the server can't be reached; it contains no password.
  func plans(
    of statements: [ServerStatement], at url: URL, copiedFrom data: URL
  ) throws -> [ServerPlan]

  /// Copies a closed store to try indexes on the copy, which is removed with the result.
  ///
  /// - Parameter model: The store's model.
  /// - Throws: An error if the store can't be copied; it contains no password.
  func makeIndexTrials(at url: URL, model: NSManagedObjectModel) throws -> any IndexTrials
}

/// A statement that a store has reported.
public struct ServerStatement: Sendable, Hashable {
  /// The text with its placeholders.
  public let sql: String
  /// The bound values of one execution, as the store has reported them; `nil` if they're unknown.
  public let values: [String]?
  /// Whether it only reads.
  public let isQuery: Bool
  /// The number of rows that all executions returned or wrote; `nil` if it's unknown.
  public let rows: Int?

  /// Creates a statement.
  public init(sql: String, values: [String]?, isQuery: Bool, rows: Int? = nil) {
    (self.sql, self.values, self.isQuery, self.rows) = (sql, values, isQuery, rows)
  }
}

/// How a server executes a statement.
public struct ServerPlan: Sendable, Hashable {
  /// The plan as the server prints it, or one line with the reason why there's none.
  public var lines: [String]
  /// The assessment of the plan in a sentence: what costs more than it must; empty for no remark.
  public var assessment: String
  /// Whether an index might help: the plan reads rows that it discards, or sorts.
  public var suggestsIndex: Bool
  /// The work of one execution, in the unit of the server's `IndexTrials`; `nil` if it wasn't
  /// measured.
  public var cost: Int?

  /// Creates a plan.
  public init(
    lines: [String], assessment: String = "", suggestsIndex: Bool = false, cost: Int? = nil
  ) {
    self.lines = lines
    self.assessment = assessment
    self.suggestsIndex = suggestsIndex
    self.cost = cost
  }
}
