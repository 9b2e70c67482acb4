import Foundation

/// `POST run`: the text of a scenario to run instead of a lesson's.
struct RunRequest: Decodable, Sendable {
  /// The session of the tab; `nil` for a new one.
  var session: String?
  /// The name of the lesson, from whose folder relative paths start.
  var lesson: String
  var text: String

  /// - Throws: A `RequestError` for invalid JSON.
  init(_ data: Data) throws(RequestError) {
    self = try JSONRequest.decode(data)
  }
}

/// The answer to a `RunRequest`.
struct RunAnswer: Encodable, Sendable {
  var session: String
  /// What happened, in a few words.
  var state: String
  var messages: String
  /// The URL of the new page below the token; `nil` if there's none.
  var page: String?
}
