import CoreDataCosts
import Hummingbird
import Logging
import MoodService
import OpenCoreData
import OpenCoreDataObservability

/// Serves the moods of a store on 127.0.0.1:8080: `mood-service [STORE]`.
///
/// Bootstrap a tracer and metrics at the beginning of `main`, such as those of swift-otel; without
/// them, only lines are written, to standard output.
@main
struct MoodServiceCommand {
  static func main() async throws {
    LoggingSystem.bootstrap(StreamLogHandler.standardOutput)
    var logger = Logger(label: "mood-service")
    logger.logLevel = .debug
    let path = CommandLine.arguments.dropFirst().first ?? "moods.sqlite"
    let store = try MoodStore(at: URL(filePath: path))
    let observation = store.container.instrument(logger: logger)
    defer { observation.cancel() }
    let application = Application(
      router: store.router(), configuration: .init(address: .hostname("127.0.0.1", port: 8080)),
      logger: logger)
    try await application.runService()
  }
}
