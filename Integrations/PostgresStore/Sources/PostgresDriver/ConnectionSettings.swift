import Foundation

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
  /// The schema of names without one; nil for those of the server's search path.
  package var schema: String?
  /// The seconds by which each round trip is longer, to see what work costs over a slower network.
  package var roundTripDelay = 0.0

  /// Creates the settings of a server.
  package init(uri: String) {
    self.uri = uri
  }

  /// Returns a message of libpq without the URI and its passwords, which an error in them repeats.
  func redacted(_ message: String) -> String {
    let secrets = passwords
    let known = secrets.reduce(message.replacing(uri, with: "…")) { text, secret in
      text.replacing("\"\(secret)\"", with: "\"…\"")
    }
    // In quotes, there's a part of the URI, which may be a part of a password, or have one.
    return known.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
      .map { index, part in
        let isSecret = secrets.contains { part.contains($0) || $0.contains(part) }
        return index % 2 == 1 && !part.isEmpty && isSecret ? "…" : String(part)
      }.joined(separator: "\"")
  }

  /// The passwords of the URI, as they're written and as libpq reads them.
  private var passwords: [String] {
    guard let start = uri.firstRange(of: "://")?.upperBound else { return [] }
    let rest = uri[start...]
    var found: [Substring] = []
    if let end = rest.lastIndex(of: "@"), let colon = rest[..<end].firstIndex(of: ":") {
      let password = rest[rest.index(after: colon)..<end]
      // libpq ends the password at the first @, and then reads a host.
      found = [password] + password.split(separator: "@")
    }
    for item in rest.drop(while: { $0 != "?" }).dropFirst().split(separator: "&") {
      let name = item.prefix { $0 != "=" }
      guard (name.removingPercentEncoding ?? "").hasSuffix("password") else { continue }
      found.append(item.dropFirst(name.count + 1))
    }
    let written = found.map(String.init)
    return (written + written.compactMap(\.removingPercentEncoding)).filter { !$0.isEmpty }
  }
}
