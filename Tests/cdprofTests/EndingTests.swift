import Foundation
import Testing

@testable import WorkbenchCommands

@Suite("The end of the process")
struct EndingTests {
  /// The signal thread removes temporary folders, which can fail the command on another thread.
  @Test func signalDeterminesTheStatusWhileACommandFails() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(130), observing: [\.standardErrorContent]
    ) {
      // Ending takes as long as removing the folders.
      _ = atexit { _ = usleep(300_000) }
      Thread { Signals.endProgram(SIGINT) }.start()
      while !Ending.hasBegun { _ = usleep(1_000) }
      Thread { Console().writeError("the folder is missing") }.start()
      Ending.end(1)
    }
    let errors = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(!errors.contains("the folder is missing"))
  }
}
