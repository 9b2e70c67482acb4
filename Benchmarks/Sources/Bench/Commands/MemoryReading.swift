import ArgumentParser
import Foundation

/// The command that `measure` runs in a child process.
///
/// Prints one reading of memory use as JSON.
struct MemoryReading: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory", abstract: "Measure the memory use of one kind of object.")

  @Argument(help: "The kind of object: fault, realized, floor, or grdb.")
  var kind: String

  @Option(help: "The number of rows in the table.")
  var rows = 100_000

  func run() throws {
    guard let kind = Memory(rawValue: kind) else { throw ValidationError("unknown kind '\(kind)'") }
    let reading = try kind.read(Bed(rows: rows, builder: .inTemporaryFolder()))
    FileHandle.standardOutput.write(try JSONEncoder().encode(reading))
  }
}
