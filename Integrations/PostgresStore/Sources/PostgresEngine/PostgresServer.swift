public import EngineInterface
public import OpenCoreData
import PostgresDriver
import PostgresStore

public import class ManagedModel.NSManagedObjectModel

/// A PostgreSQL server that scenarios run on: each store is in a schema of its own, which is
/// dropped at the end.
///
/// The names of the schemas begin with `cdprof_` and a number that's random for each process. Other
/// schemas are never changed. Schemas of processes that were killed are dropped by the next one.
public final class PostgresServer: DatabaseServer, @unchecked Sendable {
  // `control` and `count` are used under `lock`
  private let lock = NSLock()
  private let control: PostgresConnection
  private var count = 0
  /// The URL without a schema.
  private let base: URLComponents
  private let delay: Duration
  private let schemas: SchemaNames

  /// `PostgreSQL`.
  public let name = "PostgreSQL"
  /// The server's version, without that of a distribution.
  public let version: String
  /// The type `postgres`, which is registered.
  public let storeType = NSPersistentStore.StoreType.postgres
  /// False.
  public let executesBatchRequests = false

  /// Connects to a database, and drops the schemas that killed processes have left.
  ///
  /// - Parameters:
  ///   - store: A connection URI of libpq, such as `postgres://user@host/database`.
  ///   - delay: The time by which each round trip of the stores is longer.
  /// - Throws: 134080 if it isn't such a URI, or the server can't be reached; the error contains no
  ///   password.
  public init(_ store: String, delay: Duration = .zero) throws {
    NSPersistentStoreCoordinator.registerStoreClass(PostgresStore.self, type: .postgres)
    guard let url = URL(string: store), var base = URLComponents(string: store) else {
      throw PostgresServer.error(
        "The value of --store isn't a URL such as postgres://host/database.")
    }
    schemas = SchemaNames()
    let items = (base.percentEncodedQueryItems ?? []).filter {
      !["schema", "application_name"].contains($0.name)
    }
    base.percentEncodedQueryItems =
      items + [URLQueryItem(name: "application_name", value: schemas.prefix)]
    self.base = base
    self.delay = delay
    guard ["postgres", "postgresql"].contains(url.scheme ?? "") else {
      throw PostgresServer.error("The value of --store begins with postgres://.")
    }
    do {
      control = try PostgresConnection(ConnectionSettings(uri: base.string ?? ""))
      let words = try control.query("SHOW server_version").text(0, 0) ?? ""
      // A distribution adds its own version in parentheses.
      version = words.split(separator: " ").first.map(String.init) ?? words
      try schemas.claim(control)
      try schemas.dropAbandoned(control)
    } catch {
      throw PostgresServer.error("PostgreSQL: \(error)")
    }
  }

  /// The connection URI without its password.
  public var address: String {
    var components = base
    components.password = nil
    if components.user?.isEmpty == true { components.user = nil }
    let items = components.percentEncodedQueryItems?.filter { item in
      let name = item.name.removingPercentEncoding ?? ""
      // That of the user, and that of a key: `sslpassword`.
      return !name.hasSuffix("password") && name != "application_name"
    }
    components.percentEncodedQueryItems = items?.isEmpty == false ? items : nil
    return components.string ?? "postgres://…"
  }

  /// The delay of each round trip; nil for none.
  public var conditions: String? {
    guard delay > .zero else { return nil }
    let milliseconds = delay / .milliseconds(1)
    let text = milliseconds.formatted(.number.grouping(.never).precision(.fractionLength(0...3)))
    return "each round trip delayed by \(text) ms"
  }

  /// Returns the reason why a PostgreSQL store can't have a model, such as a derived attribute.
  public func obstacle(to model: NSManagedObjectModel) -> String? {
    do {
      _ = try StoreNames(model)
      return nil
    } catch {
      let text = (error as NSError).localizedDescription
      return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
  }

  /// The options for the delay, and for statements without the schema's name.
  public var storeOptions: [String: any Sendable] {
    [
      PostgresOmitsSchemaOption: true,
      PostgresRoundTripDelayOption: delay / .seconds(1),
    ]
  }

  // MARK: Stores

  /// Creates a schema.
  public func makeStoreURL() throws -> URL {
    try working { connection in
      let schema = nextSchema()
      try connection.execute(schemas.creation(of: schema))
      return try url(schema)
    }
  }

  /// Copies the tables of a schema into a new one, and updates their statistics.
  public func copyStore(at url: URL) throws -> URL {
    let source = try schema(of: url)
    return try working { connection in
      let schema = nextSchema()
      do {
        try connection.transaction {
          try connection.execute(schemas.creation(of: schema))
          try SchemaCopy(from: source, to: schema).run(on: connection)
        }
        // The copies' plans then are those of a table that the server has looked at.
        try SchemaCopy.analyze(schema, on: connection)
      } catch {
        _ = try? connection.execute(schemas.removal(of: schema))
        throw error
      }
      return try self.url(schema)
    }
  }

  /// Drops a schema that this object has made.
  public func removeStore(at url: URL) {
    guard let schema = try? schema(of: url) else { return }
    _ = try? working { try $0.execute(schemas.removal(of: schema)) }
  }

  /// Drops all schemas that this object has made, after ending the connections that might use them.
  public func removeAllStores() {
    // Another thread may use the control connection, and hold locks, until the process ends.
    guard let connection = try? PostgresConnection(ConnectionSettings(uri: base.string ?? ""))
    else { return }
    schemas.dropAll(connection)
  }

  private func nextSchema() -> String {
    count += 1
    return schemas.name(count)
  }

  private func working<R>(_ body: (PostgresConnection) throws -> R) throws -> R {
    lock.lock()
    defer { lock.unlock() }
    do {
      let count = control.connectCount
      let result = try body(control)
      // A lost connection has lost the claim.
      if control.connectCount != count { try schemas.claim(control) }
      return result
    } catch let error as PostgresError {
      throw PostgresServer.error("PostgreSQL: \(error)")
    }
  }

  private func url(_ schema: String) throws -> URL {
    var components = base
    components.queryItems =
      (components.queryItems ?? []) + [URLQueryItem(name: "schema", value: schema)]
    guard let url = components.url else {
      throw PostgresServer.error(
        "The value of --store isn't a URL such as postgres://host/database.")
    }
    return url
  }

  /// Returns the schema of a store.
  ///
  /// - Throws: 134080 for a schema that this object hasn't made.
  private func schema(of url: URL) throws -> String {
    let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems
    guard let schema = items?.last(where: { $0.name == "schema" })?.value, schemas.isOwn(schema)
    else { throw PostgresServer.error("This store isn't one of a scenario.") }
    return schema
  }

  // MARK: Plans

  /// Returns the plans of `EXPLAIN (ANALYZE, BUFFERS)`, which runs each query again.
  ///
  /// INSERTs, UPDATEs, and DELETEs are run on a copy of the data from before, each in a transaction
  /// that is rolled back; their plans are estimated if they would write nothing there. The copy is
  /// made only if there are any.
  public func plans(
    of statements: [ServerStatement], at url: URL, copiedFrom data: URL
  ) throws -> [ServerPlan] {
    let after = try connection(to: schema(of: url))
    guard !statements.allSatisfy(\.isQuery) else {
      return statements.map { plan(of: $0, on: after) }
    }
    let copy = try copyStore(at: data)
    defer { removeStore(at: copy) }
    let before = try connection(to: schema(of: copy))
    return statements.map { plan(of: $0, on: $0.isQuery ? after : before) }
  }

  private func plan(
    of statement: ServerStatement, on connection: PostgresConnection
  ) -> ServerPlan {
    do {
      guard statement.isQuery else { return try WritePlan(of: statement, on: connection).plan }
      return PostgresPlan(lines: try PostgresPlan.lines(of: statement, on: connection)).plan
    } catch {
      return ServerPlan(lines: ["no plan: \(error)"])
    }
  }

  /// Copies a store into a schema in which indexes are tried.
  public func makeIndexTrials(
    at url: URL, model: NSManagedObjectModel
  ) throws -> any IndexTrials {
    let copy = try copyStore(at: url)
    do {
      return try PostgresTrials(
        connection(to: schema(of: copy)), schema: schema(of: copy), model: model
      ) { [self] in removeStore(at: copy) }
    } catch {
      removeStore(at: copy)
      throw error
    }
  }

  /// Connects for statements that name tables without a schema.
  private func connection(to schema: String) throws -> PostgresConnection {
    var settings = ConnectionSettings(uri: base.string ?? "")
    settings.schema = schema
    do {
      return try PostgresConnection(settings)
    } catch {
      throw PostgresServer.error("PostgreSQL: \(error)")
    }
  }

  private static func error(_ message: String) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: NSPersistentStoreOpenError,
      userInfo: [NSLocalizedDescriptionKey: message])
  }
}
