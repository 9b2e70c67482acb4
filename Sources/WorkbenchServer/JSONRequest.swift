import Foundation

/// The JSON of a request.
enum JSONRequest {
  /// - Throws: A `RequestError` for invalid JSON, or for a missing value.
  static func decode<Request: Decodable>(_ data: Data) throws(RequestError) -> Request {
    do {
      return try JSONDecoder().decode(Request.self, from: data)
    } catch {
      throw RequestError(.badRequest, "The request isn't valid JSON, or a value is missing.")
    }
  }
}

/// An error in a request, as a response.
struct RequestError: Error {
  let status: HTTPResponse.Status
  let message: String

  init(_ status: HTTPResponse.Status, _ message: String) {
    self.status = status
    self.message = message
  }
}

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
