import Foundation

/// `POST shell`: a line for the shell of the tab.
struct ShellRequest: Decodable, Sendable {
  /// The session of the tab; `nil` for a new one.
  var session: String?
  /// The name of the lesson, from whose folder relative paths start.
  var lesson: String
  /// The line; empty to run nothing.
  var line: String
  /// The text of a scenario, to start a new shell; `nil` to use the open one.
  var text: String?

  /// - Throws: A `RequestError` for invalid JSON.
  init(_ data: Data) throws(RequestError) {
    self = try JSONRequest.decode(data)
  }
}

/// The answer to a `ShellRequest`.
struct ShellReply: Encodable, Sendable {
  var session: String
  /// The first lines of a new shell.
  var banner: String
  var output: String
  var ended: Bool
}
