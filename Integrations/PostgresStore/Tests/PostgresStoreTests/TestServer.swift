import OpenCoreData
import PostgresDriver
import Testing

/// The server that `test.sh` has started.
enum TestServer {
  /// The URI of its database.
  static let uri = ProcessInfo.processInfo.environment["POSTGRES_STORE_TEST_URL"] ?? ""

  /// Whether the test that takes some minutes is requested.
  static let runsAllScenarios =
    ProcessInfo.processInfo.environment["POSTGRES_STORE_SWEEP"] != nil

  /// The settings of a connection to it.
  static var settings: ConnectionSettings { ConnectionSettings(uri: uri) }

  /// Connects, and fails the test with a hint if the server wasn't started.
  static func connection() throws -> PostgresConnection {
    try #require(!uri.isEmpty, "run test.sh, which starts a server")
    return try PostgresConnection(settings)
  }
}
