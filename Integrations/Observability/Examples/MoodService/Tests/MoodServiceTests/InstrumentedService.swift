import CoreDataCosts
import Hummingbird
import HummingbirdTesting
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import MoodService
import OpenCoreData
import OpenCoreDataObservability
import Tracing

/// The service with a store in a temporary folder, and what its instrumentation records.
final class InstrumentedService: Sendable {
  let store: MoodStore
  let tracer = InMemoryTracer()
  let metrics = TestMetrics()
  let log = InMemoryLogHandler()
  private let folder: URL
  private let observation: CoreDataObservation

  /// A response, its costs, and its spans.
  struct Answer {
    let status: HTTPResponse.Status
    let body: String
    let costs: Costs
    let spans: [FinishedInMemorySpan]

    /// The names of spans and how often each occurs.
    var spanCounts: [String: Int] {
      spans.reduce(into: [:]) { $0[$1.operationName, default: 0] += 1 }
    }
  }

  /// Opens a cold store with moods, each in a country of its own.
  init(moods: Int) async throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("MoodService-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent("Moods.sqlite")
    let filled = try MoodStore(at: url)
    for number in 0..<moods {
      try await filled.add(.init(text: "mood \(number)", country: "\(number)"))
    }
    store = try MoodStore(at: url)
    var options = InstrumentationOptions()
    (options.metrics, options.slowDuration) = (metrics, .seconds(3_600))
    let log = log
    var logger = Logger(label: "coredata") { _ in log }
    logger.logLevel = .debug
    observation = store.container.instrument(logger: logger, options: options)
  }

  deinit {
    observation.cancel()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Sends a request to the router.
  func send(
    _ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil
  ) async throws -> Answer {
    let response = ResponseBox()
    let costs = try await costs(of: store.container) {
      try await withClient { client in
        let found = try await client.execute(
          uri: uri, method: method, headers: [.contentType: "application/json"],
          body: body.map { ByteBuffer(string: $0) })
        response.value = (found.status, String(buffer: found.body))
      }
    }
    let (status, text) = response.value
    return Answer(status: status, body: text, costs: costs, spans: tracer.popFinishedSpans())
  }

  /// Runs a body with a client of the router, whose spans the tracer records.
  func withClient(
    _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void
  ) async throws {
    let application = Application(router: store.router())
    try await withTracer(tracer) {
      try await application.test(.router, body)
    }
  }
}

/// The status and body of a response, set in the block whose costs are counted.
private final class ResponseBox: @unchecked Sendable {  // set before it's read
  var value: (HTTPResponse.Status, String) = (.internalServerError, "")
}
