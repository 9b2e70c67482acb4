import OpenCoreData
import PostgresDriver

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The option with the seconds by which each round trip to the server is longer, 0 by default.
///
/// It shows what a program's work costs over a slower network.
public let PostgresRoundTripDelayOption = "PostgresRoundTripDelay"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The option with a Boolean value that indicates whether statements are reported without the
/// schema's name, so that those of stores in several schemas are equal.
package let PostgresOmitsSchemaOption = "PostgresOmitsSchema"

/// The location of a store: a schema of a database.
///
/// A URL is a connection URI of libpq, and may have the query item `schema` in addition, `public`
/// by default: `postgres://user@host/database?schema=library`.
struct StoreLocation {
  let settings: ConnectionSettings
  let schema: String
  /// The schema's name in quotes.
  let quotedSchema: String
  /// The beginning of the name of a table of the model: those of the store's own have no quotes.
  let tablePrefix: String
  /// Whether statements are reported without the schema's name.
  let omitsSchema: Bool

  private static let schemes = ["postgres", "postgresql"]
  private static let schemaItem = "schema"

  /// Reads a URL and the options of a store.
  ///
  /// - Throws: 134080 for a URL of another scheme, or a schema's name that the server can't keep.
  init(_ url: URL, _ options: [AnyHashable: Any]?) throws {
    guard Self.schemes.contains(url.scheme ?? ""),
      var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
    else {
      throw StoreError.make(
        NSPersistentStoreOpenError,
        "The URL of a PostgreSQL store begins with postgres:// and is a connection URI of libpq.")
    }
    let items = components.queryItems ?? []
    schema = items.last { $0.name == Self.schemaItem }?.value ?? "public"
    guard (1...QuotedIdentifier.longest).contains(schema.utf8.count), !schema.utf8.contains(0),
      !schema.hasPrefix("pg_")
    else {
      throw StoreError.make(
        NSPersistentStoreOpenError,
        "The schema of a PostgreSQL store has a name of 1 to 63 bytes that doesn't begin with pg_.")
    }
    quotedSchema = QuotedIdentifier.of(schema)
    tablePrefix = quotedSchema + ".\""
    let others = components.percentEncodedQueryItems?.filter { $0.name != Self.schemaItem } ?? []
    components.percentEncodedQueryItems = others.isEmpty ? nil : others
    omitsSchema = options?[PostgresOmitsSchemaOption].flatMap(ModelValue.integer) == 1
    var settings = ConnectionSettings(uri: components.string ?? "")
    if let timeout = options?[NSPersistentStoreTimeoutOption].flatMap(ModelValue.real), timeout > 0
    {
      let longest = Double(Int32.max / 1000)
      settings.connectTimeout = Int(min(timeout, longest).rounded(.up))
      settings.statementTimeout = Int((min(timeout, longest) * 1000).rounded(.up))
    }
    settings.roundTripDelay =
      options?[PostgresRoundTripDelayOption].flatMap(ModelValue.real).map { max(0, $0) } ?? 0
    settings.isReadOnly =
      options?[NSReadOnlyPersistentStoreOption].flatMap(ModelValue.integer) == 1
    self.settings = settings
  }

  /// Returns the qualified name of one of the store's own tables.
  func qualified(_ name: String) -> String { "\(quotedSchema).\(name)" }
}
