import FlyingFox
import FlyingSocks
import MoodyHTTP
public import OpenCoreData

/// An HTTP service for moods.
///
/// | request | answer |
/// | --- | --- |
/// | `GET /moods` | the latest moods |
/// | `POST /moods` | the moods that are stored now, and those that are rejected |
/// | `POST /removals` | the moods that aren't stored any longer |
/// | `GET /changes?after=TOKEN` | what has changed after a token |
/// | `GET /token?after=TOKEN&wait=SECONDS` | the latest token, once it's another one |
///
/// Requests and answers are JSON. All can be repeated.
public final class MoodService: Sendable {
  private let server: HTTPServer
  private let store: MoodStore

  /// Creates a service that doesn't listen yet.
  ///
  /// - Parameters:
  ///   - store: The moods.
  ///   - port: The port on the loopback interface, or 0 for any that's free.
  public init(store: MoodStore, port: UInt16) throws {
    self.store = store
    server = HTTPServer(
      address: try .inet(ip4: "127.0.0.1", port: port), timeout: RequestLimits.wait + 10,
      logger: .disabled)
  }

  /// Listens until the task is cancelled or `stop()` is called.
  ///
  /// - Throws: An error if the port is in use.
  public func run() async throws {
    await addRoutes()
    try await server.run()
  }

  /// Waits until the service listens, and returns its URL.
  ///
  /// - Throws: An error if it doesn't listen within ten seconds.
  public func url() async throws -> URL {
    try await server.waitUntilListening(timeout: 10)
    guard case .ip4(let address, port: let port)? = await server.listeningAddress,
      let url = URL(string: "http://\(address):\(port)")
    else { throw URLError(.cannotConnectToHost) }
    return url
  }

  /// Stops listening, and closes all connections.
  public func stop() async {
    await server.stop()
  }

  private func addRoutes() async {
    await server.appendRoute("GET /moods") { [store] _ in
      try Self.response(await store.latest(limit: RequestLimits.moods))
    }
    await server.appendRoute("POST /moods") { [store] request in
      try await Self.respond(to: request) { (upload: UploadRequest) -> UploadResponse? in
        guard upload.moods.count <= RequestLimits.moods, upload.user.utf8.count <= 100
        else { return nil }
        return try await store.upload(upload.moods, by: upload.user)
      }
    }
    await server.appendRoute("POST /removals") { [store] request in
      try await Self.respond(to: request) { (removals: Removals) -> Removals? in
        guard removals.ids.count <= RequestLimits.moods else { return nil }
        return try await store.remove(removals.ids)
      }
    }
    await server.appendRoute("GET /changes") { [store] request in
      try await Self.respond {
        try await store.changes(after: request.query["after"], limit: RequestLimits.moods)
      }
    }
    await server.appendRoute("GET /token") { [store] request in
      // Not a number isn't greater than 0 either.
      let wait = request.query["wait"].flatMap(Double.init).map { $0 > 0 ? $0 : 0 } ?? 0
      return try await Self.respond {
        try await Self.token(
          of: store, after: request.query["after"], wait: min(wait, RequestLimits.wait))
      }
    }
  }

  /// Encodes an answer to a request with a token, which may be invalid or expired.
  private static func respond(
    _ body: () async throws -> some Encodable
  ) async throws -> HTTPResponse {
    do {
      return try response(await body())
    } catch is HistoryToken.Invalid {
      return HTTPResponse(statusCode: .badRequest)
    }
  }

  /// Waits until the latest token is another one than the client's, or the time is over.
  private static func token(
    of store: MoodStore, after seen: String?, wait: TimeInterval
  ) async throws -> TokenResponse {
    let end = ContinuousClock.now + .seconds(wait)
    while true {
      let token = try store.currentToken(seen: seen)
      if token != seen || .now >= end { return TokenResponse(token: token) }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Decodes a request, and encodes its answer; without an answer, the request is invalid.
  private static func respond<Request: Decodable, Answer: Encodable>(
    to request: HTTPRequest, _ body: (Request) async throws -> Answer?
  ) async throws -> HTTPResponse {
    var data = Data()
    for try await bytes in request.bodySequence {
      data += bytes
      guard data.count <= RequestLimits.bytes else {
        return HTTPResponse(statusCode: .payloadTooLarge)
      }
    }
    guard let decoded = try? JSONDecoder().decode(Request.self, from: data),
      let answer = try await body(decoded)
    else { return HTTPResponse(statusCode: .badRequest) }
    return try response(answer)
  }

  private static func response(_ answer: some Encodable) throws -> HTTPResponse {
    HTTPResponse(
      statusCode: .ok, headers: [.contentType: "application/json"],
      body: try JSONEncoder().encode(answer))
  }
}
