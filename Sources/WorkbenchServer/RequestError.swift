import Foundation

/// An error in a request, as a response.
struct RequestError: Error {
  let status: HTTPResponse.Status
  let message: String

  init(_ status: HTTPResponse.Status, _ message: String) {
    self.status = status
    self.message = message
  }
}

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
