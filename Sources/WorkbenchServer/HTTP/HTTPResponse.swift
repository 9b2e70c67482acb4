import Foundation

/// The response to a request, after which the connection is closed.
struct HTTPResponse: Sendable {
  /// The status of a response.
  enum Status: Int, Sendable {
    case ok = 200
    case badRequest = 400
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case timeout = 408
    case conflict = 409
    case lengthRequired = 411
    case tooLarge = 413
    case unsupportedType = 415
    case headersTooLarge = 431
    case failed = 500
    case unavailable = 503

    /// The words of the status line.
    var reason: String {
      switch self {
      case .ok: "OK"
      case .badRequest: "Bad Request"
      case .forbidden: "Forbidden"
      case .notFound: "Not Found"
      case .methodNotAllowed: "Method Not Allowed"
      case .timeout: "Request Timeout"
      case .conflict: "Conflict"
      case .lengthRequired: "Length Required"
      case .tooLarge: "Content Too Large"
      case .unsupportedType: "Unsupported Media Type"
      case .headersTooLarge: "Request Header Fields Too Large"
      case .failed: "Internal Server Error"
      case .unavailable: "Service Unavailable"
      }
    }
  }

  let status: Status
  private let type: String
  private let body: Data

  private init(_ status: Status, _ type: String, _ body: Data) {
    self.status = status
    self.type = type
    self.body = body
  }

  static func page(_ html: String) -> HTTPResponse {
    HTTPResponse(.ok, "text/html; charset=utf-8", Data(html.utf8))
  }

  /// Returns a response with plain text, by default an error.
  static func text(_ text: String, _ status: Status = .ok) -> HTTPResponse {
    HTTPResponse(status, "text/plain; charset=utf-8", Data(text.utf8))
  }

  /// Returns a response with a value as JSON.
  ///
  /// - Throws: An error of the encoder.
  static func json(_ value: some Encodable) throws -> HTTPResponse {
    HTTPResponse(.ok, "application/json", try JSONEncoder().encode(value))
  }

  /// The headers of every response: nothing is stored, guessed, or shown in a page of another site,
  /// and no other site learns the URL, which contains the token.
  ///
  /// The pages state in addition which scripts and style sheets they allow.
  private static let headers = [
    "Cache-Control: no-store",
    "Connection: close",
    "Content-Security-Policy: frame-ancestors 'self'",
    "Cross-Origin-Opener-Policy: same-origin",
    "Cross-Origin-Resource-Policy: same-origin",
    "Referrer-Policy: no-referrer",
    "X-Content-Type-Options: nosniff",
    "X-Frame-Options: SAMEORIGIN",
  ]

  /// The bytes of the response.
  var data: Data {
    let lines =
      [
        "HTTP/1.1 \(status.rawValue) \(status.reason)", "Content-Type: \(type)",
        "Content-Length: \(body.count)",
      ] + HTTPResponse.headers
    return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
  }
}
