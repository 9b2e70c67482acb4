import Foundation
import OpenCoreData
import PostgresFixtures

/// A process with two contexts of one coordinator, each of which writes a journal.
///
///     chaos-client URL FOLDER NUMBER
///
/// It ends when the file FOLDER/stop exists, or when the program that has started it is gone.
@main
struct ChaosClient {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let url = URL(string: arguments[1]), let number = Int(arguments[3])
    else { exit(2) }
    let folder = URL(fileURLWithPath: arguments[2])
    let stop = folder.appendingPathComponent("stop").path
    let parent = getppid()
    let coordinator = try ChaosModel.open(url)
    let group = DispatchGroup()
    for writer in [2 * number, 2 * number + 1] {
      let journal = try ChaosJournal(folder.appendingPathComponent("journal\(writer)"))
      let writer = ChaosWriter(writer, ChaosModel.context(coordinator), journal)
      nonisolated(unsafe) let run = writer.run
      group.enter()
      Thread {
        run { FileManager.default.fileExists(atPath: stop) || getppid() != parent }
        group.leave()
      }.start()
    }
    group.wait()
  }
}
