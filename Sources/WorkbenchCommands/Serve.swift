import ArgumentParser
import Foundation
import RunReports
import Synchronization
import WorkbenchServer
import WorkbenchText

/// `cdprof serve`: shows a course in a browser, where its scenarios can be changed and run.
struct Serve: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Show a folder of scenarios as a course in a browser, to change and run.",
    discussion: """
      Open the URL that's printed. It contains a token, and only this machine can reach it. What \
      you change in a page is kept in the browser; no file is changed. Ctrl-C ends the server.

      Exit status: 0 after Ctrl-C, 1 if the port can't be used, 65 if a scenario is invalid, 66 \
      if a file is missing or the folder contains no scenario.
      """)

  @Argument(
    help: ArgumentHelp("A folder of scenarios, with its subfolders.", valueName: "folder"),
    completion: .directory)
  var folder = "Scenarios"

  @Option(
    help: ArgumentHelp(
      """
      The port to listen on, 0 for any free port; by default, \(Serve.usualPort), or any other \
      if it's in use. Browsers keep answers and edited scenarios for each port.
      """, valueName: "n"))
  var port: UInt16?

  /// The port without --port, which is always the same, so that the browser finds what it kept.
  private static let usualPort: UInt16 = 8417

  func execute(_ console: Console) throws -> ExitStatus {
    let course = try CourseFolder(folder)
    let server: CourseServer
    do {
      server = try self.server(of: course)
    } catch let error as CourseServer.PortError {
      console.writeError("\(error.message)\nuse another port with --port, or 0 for any free port")
      return .runFailed
    }
    let stop = StopRequest()
    Signals.perform { signal in
      // The shell of a tab has ended; the write to it fails, and the other tabs go on.
      if signal == SIGPIPE { return }
      guard signal == SIGINT, !stop.request() else { Signals.endProgram(signal) }
      server.stop()
    }
    defer { Signals.perform { Signals.endProgram($0) } }
    console.write([
      "\(NumberText.counted(server.lessons, "lesson")) at \(server.url)", "Ctrl-C ends the server.",
    ])
    server.run()
    return .success
  }

  private func server(of course: CourseFolder) throws -> CourseServer {
    if let port { return try CourseServer(course, port: port) }
    do {
      return try CourseServer(course, port: Serve.usualPort)
    } catch is CourseServer.PortError {
      return try CourseServer(course, port: 0)
    }
  }
}
