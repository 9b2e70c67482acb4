/// How to reach a server, and how long to wait for it.
package struct ConnectionSettings: Sendable {
  /// A connection URI of libpq, such as `postgres://user@host/database`.
  package let uri: String
  /// The seconds to wait for a connection; libpq waits at least 2.
  package var connectTimeout = 10
  /// The milliseconds after which the server cancels a statement, and the network gives up on sent
  /// data; 0 for no limit.
  package var statementTimeout = 240_000
  /// Whether the server refuses to write.
  package var isReadOnly = false
  /// The number of prepared statements that a connection keeps.
  package var statementLimit = 128

  /// The seconds by which each round trip is longer, to see what work costs over a slower network.
  package var roundTripDelay = 0.0

  /// Creates the settings of a server.
  package init(uri: String) {
    self.uri = uri
  }
}
