import ArgumentParser
import Foundation

/// What the program runs as a child of itself: one reading of memory, printed as JSON.
struct MemoryReading: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory", abstract: "Read the memory of one kind of object.")

  @Argument(help: "fault, realized, floor or grdb.")
  var kind: String

  @Option(help: "Rows of the table.")
  var rows = 100_000

  func run() throws {
    guard let kind = Memory(rawValue: kind) else { throw ValidationError("no kind '\(kind)'") }
    let reading = try kind.read(Bed(rows: rows, builder: .inTemporaryFolder()))
    FileHandle.standardOutput.write(try JSONEncoder().encode(reading))
  }
}
