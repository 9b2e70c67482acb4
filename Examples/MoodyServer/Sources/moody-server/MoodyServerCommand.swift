import ArgumentParser
import MoodyServer
import OpenCoreData

@main
struct MoodyServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "moody-server", abstract: "Keep moods, and tell clients what has changed.")

  @Option(help: "The store, which is created if there is none.")
  var store = "moody-server.sqlite"

  @Option(help: "The port on this machine; 0 for any that's free.")
  var port: UInt16 = 8_080

  func run() async throws {
    let service = try MoodService(
      store: try MoodStore(storeURL: URL(fileURLWithPath: store)), port: port)
    let listening = Task {
      print("listening on \(try await service.url().absoluteString)")
      fflush(nil)
    }
    try await service.run()
    try await listening.value
  }
}
