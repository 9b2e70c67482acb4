import FlyingSocks
import Foundation
import OpenCoreData
import RunReports
import Synchronization
import WorkbenchText

/// A course in browsers of this machine: lessons to read, change, and run, each with a shell.
///
/// Only requests with the token in the URL are answered. What a browser sends runs in processes of
/// this program with limits, and can do no more than a scenario in a file.
package final class CourseServer: Sendable {
  private let server: LoopbackServer
  private let service: CourseService
  private let folder: URL
  /// The URL of the contents, with the token.
  package let url: String
  /// The number of lessons.
  package let lessons: Int
  private let state = Mutex(State())

  private struct State {
    var task: Task<Void, Never>?
    var isStopped = false
  }

  /// Listens on the loopback address; requests are answered once `run()` is called.
  ///
  /// - Parameters:
  ///   - course: The course.
  ///   - port: The port; 0 for any that's free.
  /// - Throws: `PortError` if the port can't be used; an `NSError` if there's no space.
  package init(_ course: CourseFolder, port: UInt16) throws {
    do {
      server = try LoopbackServer(port: port)
    } catch let error as SocketError {
      throw PortError(port: port, error)
    }
    let token = RandomName.make()
    folder = try ScratchFolders.make()
    service = CourseService(
      try LessonLibrary(course), token: token, port: server.port, folder: folder)
    lessons = course.pages.lessons.count
    url = "http://\(LoopbackServer.address):\(server.port)/\(token)/"
  }

  /// An error for a port that can't be used.
  package struct PortError: Error {
    /// The message.
    package let message: String

    init(port: UInt16, _ error: SocketError) {
      let reason =
        if case .failed(_, _, let message) = error { message } else { "\(error)" }
      message = "port \(port) of \(LoopbackServer.address) can't be used: \(reason)"
    }
  }

  /// Answers requests until `stop()` is called, then ends all processes and removes all files.
  ///
  /// This method blocks; call it on a thread of its own.
  package func run() {
    let ended = DispatchSemaphore(value: 0)
    state.withLock { state in
      let task = Task {
        // Without sockets to wait for, there's nothing left to answer.
        try? await server.run(service)
        ended.signal()
      }
      if state.isStopped { task.cancel() }
      state.task = task
    }
    ended.wait()
    CourseServer.endProcesses()
    ScratchFolders.remove(folder)
  }

  /// Ends all processes, including those of unanswered requests, and makes `run()` return.
  package func stop() {
    let task = state.withLock { state in
      state.isStopped = true
      return state.task
    }
    task?.cancel()
    CourseServer.endProcesses()
  }

  /// Ends all processes that servers have started.
  ///
  /// Call this method before the program ends, on any thread.
  package static func endProcesses() {
    ChildProcess.endAll()
  }
}
